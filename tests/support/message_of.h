// What a call that must be refused says.
#pragma once

#include <string>

#include "common/error.h"

namespace fullband {

// The message of the Error that `call` throws; "(no error)" where it throws none.
template <typename Call>
std::string MessageOf(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace fullband
