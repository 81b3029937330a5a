// One line of a samples file of lm-evaluation-harness: `doc_id`, `doc`, `arguments`, `resps`, `filter` and
// the metrics' values.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "evals/import/line_file.h"
#include "evals/import/sample_file.h"
#include "tasks/task_data.h"

namespace fullband {

bool IsLmEvalLine(const nlohmann::json& line);

// The samples of the line that `file` is at, one a repeat. Rows count as the harness counts them, so the
// line's `doc` must show that it is the same item: a text of it is one of the item's. A metric's value is a
// verdict where it is 0 or 1, named after metric and filter; of repeats none is known. Throws Error where the
// line is not as the harness writes it, or does not fit the suite.
std::vector<ImportedLine> ReadLmEvalLine(const LineFile& file, const TaskData& data);

}  // namespace fullband
