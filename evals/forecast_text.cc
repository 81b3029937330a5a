#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/memory.h"
#include "evals/aligned_table.h"
#include "evals/forecast.h"

namespace fullband {
namespace {

using Cells = std::vector<std::string>;

// 1234567 -> "1,234,567".
std::string Count(int64_t number) {
  std::string text = fmt::format("{}", number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string TimeOf(const RunForecast& run) {
  if (run.done == run.samples) return "-";
  if (run.rate.empty()) return "unknown";
  return (run.at_most ? "≤ " : "") + DurationText(std::ceil(run.seconds));
}

// What all runs come to.
struct Sum {
  int64_t runs = 0, runs_done = 0, samples = 0, done = 0, positions = 0, bytes = 0;
  double seconds = 0;
  bool at_most = false, unknown = false;
  std::set<std::string> rates;
};

Sum SumOf(const Forecast& forecast) {
  Sum sum;
  for (const ModelForecast& model : forecast.models) {
    for (const RunForecast& run : model.runs) {
      ++sum.runs;
      sum.runs_done += run.done == run.samples;
      sum.samples += run.samples;
      sum.done += run.done;
      sum.positions += run.positions;
      sum.bytes += run.bytes;
      sum.seconds += run.seconds;
      if (run.done == run.samples) continue;
      sum.at_most |= run.at_most;
      sum.unknown |= run.rate.empty();
      if (!run.rate.empty()) sum.rates.insert(run.rate);
    }
  }
  return sum;
}

std::string RunTable(const Forecast& forecast) {
  std::vector<Cells> table = {
      {"model", "suite", "setting", "format", "run", "shots", "samples", "to do", "positions", "time"}};
  constexpr size_t kLeftColumns = 5;
  for (const ModelForecast& model : forecast.models)
    for (const RunForecast& run : model.runs)
      table.push_back({model.name, run.suite, run.setting, run.format, run.key.substr(0, 8),
                       fmt::format("{}", run.shots), Count(run.samples), Count(run.samples - run.done),
                       Count(run.positions), TimeOf(run)});
  return AlignedTable(table, kLeftColumns);
}

std::string TimeLine(const Sum& sum) {
  std::string how;
  for (const std::string& rate : sum.rates) how += (how.empty() ? "" : ", ") + rate;
  std::string line = fmt::format("time       {}{}", sum.at_most ? "at most " : "about ",
                                 DurationText(std::ceil(sum.seconds)));
  if (!how.empty()) line += fmt::format(", beside loading; rates: {}", how);
  line += sum.at_most ? "; traces as long as they may become where no earlier one tells"
                      : "; traces as long as earlier ones";
  return line + (sum.unknown ? "; of some runs the time is unknown\n" : "\n");
}

std::string DiskLine(const Sum& sum, const std::filesystem::path& store) {
  std::filesystem::path folder = std::filesystem::absolute(store).parent_path();
  while (!std::filesystem::exists(folder) && folder.has_relative_path()) folder = folder.parent_path();
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  std::string line = fmt::format("disk       {} grows by {}{}", store.string(),
                                 sum.at_most ? "at most " : "about ", SizeText(sum.bytes));
  if (!error) {
    const auto free = static_cast<int64_t>(std::min<uintmax_t>(space.available, INT64_MAX));
    line += fmt::format("; {}{} free", free < sum.bytes ? "only " : "", SizeText(free));
  }
  return line + "\n";
}

std::string MemoryLines(const Forecast& forecast) {
  std::string lines;
  const int64_t free = AvailableBytes();
  for (const ModelForecast& model : forecast.models) {
    if (model.memory.empty()) continue;
    const RunMemory& least = model.memory.front();
    const RunMemory& most = model.memory.back();
    lines += fmt::format("memory     {}: at most {} with batch {}", model.name, SizeText(least.total()),
                         least.batch);
    if (most.batch != least.batch) lines += fmt::format(", {} with {}", SizeText(most.total()), most.batch);
    if (free > 0) lines += fmt::format("; {}{} free", free < least.total() ? "only " : "", SizeText(free));
    lines += "\n";
  }
  return lines;
}

}  // namespace

std::string ForecastText(const Forecast& forecast, const std::filesystem::path& store) {
  const Sum sum = SumOf(forecast);
  std::string text = RunTable(forecast);
  text += fmt::format("\nto do      {} of {} samples, {} of {} runs; {} position-forwards\n",
                      Count(sum.samples - sum.done), Count(sum.samples), Count(sum.runs - sum.runs_done),
                      Count(sum.runs), Count(sum.positions));
  if (sum.done == sum.samples) return text;
  return text + TimeLine(sum) + DiskLine(sum, store) + MemoryLines(forecast);
}

}  // namespace fullband
