// What every refusal of a checkpoint must look like.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/error.h"
#include "engine/checkpoint/model.h"

namespace fullband {

// Loading `folder` throws one line that contains every one of `parts`.
inline void ExpectRefused(const std::filesystem::path& folder, const std::vector<std::string>& parts) {
  try {
    LoadModel(folder);
  } catch (const Error& error) {
    const std::string message = error.what();
    for (const std::string& part : parts) EXPECT_THAT(message, testing::HasSubstr(part));
    EXPECT_THAT(message, testing::Not(testing::HasSubstr("\n")));
    EXPECT_LT(message.size(), 1000u);
    return;
  }
  ADD_FAILURE() << "the folder was accepted";
}

}  // namespace fullband
