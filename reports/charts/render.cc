#include "reports/charts/render.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <future>
#include <thread>

#include "common/error.h"
#include "common/paths.h"
#include "common/worker.h"
#include "reports/charts/labels.h"
#include "reports/document/tables.h"
#include "reports/output.h"

namespace fullband {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// A process takes a second to start and some 50 ms a chart.
constexpr size_t kChartsOfProcess = 16, kMostProcesses = 4;
// Generous: a slow disk, a busy machine.
constexpr std::chrono::seconds kStartLimit{120}, kChartLimit{20};

json Call(Worker& worker, const json& request, size_t charts) {
  try {
    return worker.Call(request, kStartLimit + charts * kChartLimit);
  } catch (const WorkerTimeout&) {
    throw Error("charts", "were not drawn in time",
                "report without charts, or on a machine that is less busy");
  } catch (const WorkerLimit& limit) {
    throw Error("charts", "could not be drawn: " + limit.text, "report on fewer runs at a time");
  }
}

Worker NewWorker() { return Worker(HomeFolder() / "scripts" / "worker.py"); }

// What the job gives for each chart, in their order.
std::vector<json> Draw(std::span<const Chart> charts, const json& themes, bool pdf) {
  const size_t processes =
      std::min({(charts.size() + kChartsOfProcess - 1) / kChartsOfProcess, kMostProcesses,
                static_cast<size_t>(std::max(1U, std::thread::hardware_concurrency()))});
  const auto draw = [&](size_t begin, size_t end) {
    json request = {{"job", "render_charts"}, {"themes", themes}, {"pdf", pdf}, {"charts", json::array()}};
    for (const Chart& chart : charts.subspan(begin, end - begin)) {
      request["charts"].push_back(
          {{"name", ChartName(chart.name)}, {"title", ChartText(chart.title, 400)}, {"spec", chart.spec}});
    }
    Worker worker = NewWorker();
    return Call(worker, request, end - begin);
  };
  std::vector<std::future<json>> parts;
  for (size_t i = 0; i < processes; ++i)
    parts.push_back(std::async(std::launch::async, draw, charts.size() * i / processes,
                               charts.size() * (i + 1) / processes));
  std::vector<json> drawn;
  for (std::future<json>& part : parts) {
    for (json& chart : part.get()) drawn.push_back(std::move(chart));
  }
  return drawn;
}

std::string Decoded(const std::string& base64) {
  std::string bytes(base64.size(), '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(base64.data()), static_cast<int>(base64.size()));
  const size_t padding = base64.ends_with("==") ? 2 : base64.ends_with("=") ? 1 : 0;
  if (size < 0) throw Error("charts", "the worker's PDF is not base64");
  bytes.resize(static_cast<size_t>(size) - padding);
  return bytes;
}

// The charts of blocks and sections, under the names of their files.
struct NamedCharts {
  std::vector<Chart> charts;
  std::vector<std::string> names;

  // `section` is empty for charts of the head.
  void Add(const std::vector<Block>& blocks, const std::string& section) {
    for (const Block& block : blocks) {
      const Chart* chart = std::get_if<Chart>(&block);
      if (chart == nullptr) continue;
      charts.push_back(*chart);
      const std::string own = ChartName(chart->name);
      names.push_back(section.empty() ? own : NameWithin(section, own));
    }
  }
  void Add(const Section& section) {
    Add(section.blocks, ChartName(section.name));
    for (const Section& inner : section.sections) Add(inner);
  }
};

NamedCharts ChartsOf(const Document& document) {
  NamedCharts all;
  all.Add(document.head, "");
  for (const Section& section : document.sections) all.Add(section);
  std::set<std::string> taken;
  for (std::string& name : all.names) name = TakeName(name, &taken);
  return all;
}

}  // namespace

std::vector<std::string> RenderCharts(std::span<const Chart> charts, ChartTheme theme) {
  const char* name = theme == ChartTheme::kLight ? "light" : theme == ChartTheme::kDark ? "dark" : "page";
  std::vector<std::string> drawings;
  for (const json& drawn : Draw(charts, {name}, false)) drawings.push_back(drawn.at(name).get<std::string>());
  return drawings;
}

std::map<std::string, std::string> ChartColours(ChartTheme theme) {
  Worker worker = NewWorker();
  const json colours = Call(worker, {{"job", "chart_colours"}}, 0);
  return colours.at(theme == ChartTheme::kDark ? "dark" : "light");
}

std::vector<fs::path> WriteChartFiles(const Document& document, ChartFormats formats,
                                      const fs::path& folder) {
  std::vector<fs::path> files;
  if (!formats.svg && !formats.pdf) return files;
  const NamedCharts all = ChartsOf(document);
  const json themes = formats.svg ? json{"light", "dark"} : json::array();
  const std::vector<json> drawn = Draw(all.charts, themes, formats.pdf);
  const auto write = [&](const std::string& name, const std::string& bytes) {
    files.push_back(folder / name);
    WriteWhole(files.back(), [&](std::ostream& out) { out << bytes; });
  };
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (formats.svg) {
      write(all.names[i] + ".svg", drawn[i].at("light"));
      write(all.names[i] + ".dark.svg", drawn[i].at("dark"));
    }
    if (formats.pdf) write(all.names[i] + ".pdf", Decoded(drawn[i].at("pdf")));
  }
  return files;
}

}  // namespace fullband
