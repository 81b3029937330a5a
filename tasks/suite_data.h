// The tables of a suite file that say what it reads: [data], [shots], [replaced], [parts] and [fields].
#pragma once

#include "common/toml_table.h"
#include "tasks/readers.h"
#include "tasks/suite.h"

namespace fullband {

// Throws Error naming file, line and key.
void ReadSuiteData(TomlTable& file, const Reader& reader, Suite* suite);

// The text fields that the suite's templates may use: the reader's, the parts' and the derived ones.
std::vector<std::string> TemplateFields(const Suite& suite, const Reader& reader);

}  // namespace fullband
