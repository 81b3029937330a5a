// What reports are given to know of graders and models.
#pragma once

#include "reports/results.h"

namespace fullband {

ReadOptions ReportReaders();

}  // namespace fullband
