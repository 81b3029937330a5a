#include "evals/import/kept_text.h"

#include <algorithm>

#include "evals/execute.h"
#include "tasks/readers.h"

namespace fullband {

std::vector<std::string> StopStrings(const Suite& suite, Format format,
                                     const std::vector<std::string>& more) {
  std::vector<std::string> stops = suite.wording(format).stop_strings;
  stops.insert(stops.end(), more.begin(), more.end());
  return stops;
}

std::string TextUpTo(const std::vector<std::string>& stop_strings, std::string text) {
  size_t cut = text.size();
  for (const std::string& stop : stop_strings) cut = std::min(cut, text.find(stop));
  text.resize(cut);
  return text;
}

std::string KeptCompletion(const Suite& suite, const std::vector<std::string>& stop_strings,
                           const std::string& completion, const std::string& gold) {
  return FindReader(suite.reader)->programs ? KeptProgram(completion, stop_strings, gold)
                                            : TextUpTo(stop_strings, completion);
}

}  // namespace fullband
