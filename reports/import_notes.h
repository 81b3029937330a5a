// What a report says of a run that another engine made.
#pragma once

#include <string>
#include <vector>

#include "reports/results.h"

namespace fullband {

// Where it comes from, what is not known of it, and where its own verdicts are not those of the headline
// grader. One sentence each; none for a run of ours.
std::vector<std::string> ImportNotes(const RunResults& results);

}  // namespace fullband
