// What reports are given to know of graders and models.
#pragma once

#include <string>

#include "reports/results.h"

namespace fullband {

ReadOptions ReportReaders();

// Whether --suite takes this name.
bool IsSuiteName(const std::string& suite);

}  // namespace fullband
