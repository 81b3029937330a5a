// The report's section about several samples of an item.
#pragma once

#include <string>
#include <vector>

#include "reports/samples.h"

namespace fullband {

struct SampleRow {
  std::vector<std::string> run;  // model, setting, asked as
  std::string key;
  SampleFigures figures;
};

// Nothing where no run has several samples of an item.
std::string SampleSection(const std::vector<SampleRow>& rows);

}  // namespace fullband
