// Where a run comes from, read from its identity, and the command that makes it again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "reports/results.h"

namespace fullband {

// A part of a run's identity by its dotted name ("numerics.target"); empty where the identity lacks it. Texts
// as they are, other values as JSON.
std::string IdentityPart(const RunRecord& run, const std::string& name);

// A word of a command line as a POSIX shell's quotes keep it; control characters as bash and zsh have them
// ($'\n').
std::string ShellWord(std::string_view word);

// Whether a suite is one that --suite knows by this name; another is named by the path of a file, which the
// store does not hold.
using HasName = std::function<bool(const std::string& suite)>;

// The `fullband run` that asks the same of the same model again, with the same run key where nothing has
// changed, into another store. What the suite and the program do anyway is left out. Nothing for an imported
// run. Without `has_name` every suite has one.
std::optional<std::string> CommandOf(const RunResults& results, const HasName& has_name);

}  // namespace fullband
