// Tests of the sandbox are skipped, with the reason, on a machine that has none.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/error.h"
#include "evals/sandbox/sandbox.h"

namespace fullband {

// The one sandbox of this process, and why there is none.
struct SharedSandbox {
  std::unique_ptr<Sandbox> sandbox;
  std::string why;
};

inline const SharedSandbox& TheSandbox() {
  static const SharedSandbox shared = [] {
    SharedSandbox made;
    try {
      made.sandbox = std::make_unique<Sandbox>();
    } catch (const Error& error) {
      made.why = error.what();
    }
    return made;
  }();
  return shared;
}

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!TheSandbox().sandbox) GTEST_SKIP() << TheSandbox().why;
  }
  static ProgramResult Run(const Program& program, const Limits& limits = {}) {
    return TheSandbox().sandbox->Run(program, limits);
  }
};

}  // namespace fullband
