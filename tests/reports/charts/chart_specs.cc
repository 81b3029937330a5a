// Prints the charts of made-up runs as a JSON list of {"name", "title", "spec"}: what charts_test.py draws.
//   chart_specs MODELS SETTINGS ITEMS [hostile]
#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/reports/charts/made_runs.h"

int main(int argc, char** argv) {
  using fullband::Chart;
  if (argc < 4) return 2;
  static const char* kSettings[] = {"standard",    "latent",       "latent@2",        "latent@3",
                                    "latent@4",    "latent@8",     "latent@exact",    "standard@2",
                                    "latent:zero", "latent:stale", "latent:reversed", "latent:constant_gate"};
  // What would be markup, script, an expression, a path or another line if it were anything but text.
  static const char* kHostile[] = {"</text><script>alert(1)</script>",
                                   "\"><img src=x onerror=alert(1)>",
                                   "javascript:alert(1)",
                                   "a\nb\tc\x01\x7f",
                                   "datum['x'].y",
                                   "\xff\xfe not UTF-8",
                                   "]]></svg><!--",
                                   "&lt;b&gt;&amp;",
                                   "\xE2\x80\xAE"
                                   "right to left",
                                   "url(https://example.org/x)",
                                   "",
                                   "\xF0\x9F\x98\x80\xE4\xB8\xAD\xE6\x96\x87"};
  const bool hostile = argc > 4;
  fullband::MadeSweep sweep;
  sweep.models.clear();
  sweep.settings.clear();
  for (int i = 0; i < std::atoi(argv[1]); ++i)
    sweep.models.push_back(hostile ? kHostile[i] + std::string(static_cast<size_t>(i) * 80, 'w')
                                   : fmt::format("toy-{}m", i + 1));
  for (int i = 0; i < std::atoi(argv[2]); ++i) sweep.settings.push_back(hostile ? kHostile[i] : kSettings[i]);
  sweep.items = std::atoi(argv[3]);
  nlohmann::json list = nlohmann::json::array();
  for (const Chart& chart : fullband::ChartsOf(fullband::MakeSweep(sweep)))
    list.push_back({{"name", chart.name}, {"title", chart.title}, {"spec", chart.spec}});
  fmt::print("{}\n", list.dump());
}
