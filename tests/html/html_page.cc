// html_page STORE FOLDER: writes FOLDER/report.html with all items of the store, and a document made by hand:
// it has every kind of block, and texts that are markup to whoever takes them for it.
#include <cstdio>
#include <exception>

#include "reports/html/html.h"
#include "reports/html/items.h"

namespace fullband {
namespace {

constexpr char kHostile[] =
    "</script><img src=x onerror=alert(1)><!-- ' \" & \xE2\x80\xA8 \xE2\x80\xAE gnp.exe javascript:alert(2) "
    "\xFF";

Table Accuracy() {
  Table table{
      "accuracy",
      {{"setting", Align::kLeft}, {"items"}, {"accuracy"}, {"95 % interval"}, {"less standard"}, {"p"}},
      {},
      "Accuracy by setting, and the paired difference from standard decoding of the same weights"};
  table.rows = {
      {"standard", {"500", 500}, {"36.8 %", .368}, "32.7–41.1 %", "–", "–"},
      {"latent", {"500", 500}, {"53.8 %", .538}, "49.4–58.1 %", {"+17.0", .17}, {"2e-14", 2e-14}},
      {"latent@2", {"500", 500}, {"85.2 %", .852}, "81.8–88.0 %", {"+48.4", .484}, {"2e-55", 2e-55}},
      {"latent@exact", {"500", 500}, {"9.6 %", .096}, "7.3–12.5 %", {"−27.2", -.272}, {"0.25", .25}},
  };
  return table;
}

Table Long() {
  Table table{"subjects", {{"subject", Align::kLeft}, {"items"}, {"accuracy"}}, {}, "By subject"};
  for (int i = 0; i < 24; ++i)
    table.rows.push_back({"subject " + std::to_string(i),
                          {std::to_string(i * 37 % 100), i * 37 % 100},
                          {std::to_string(i * 53 % 97) + " %", (i * 53 % 97) / 100.0}});
  table.rows.push_back({kHostile, {"1,234", 1234}, "–"});
  return table;
}

std::string Svg() {
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"420\" height=\"140\" viewBox=\"0 0 420 140\">"
      "<script>document.title = 'run'</script>";
  for (int i = 0; i < 4; ++i)
    svg += "<rect x=\"" + std::to_string(20 + i * 100) + "\" y=\"" + std::to_string(110 - i * 28) +
           "\" width=\"60\" height=\"" + std::to_string(10 + i * 28) +
           "\" fill=\"var(--chart-ink, #1f4f8f)\"/>";
  return svg + "</svg>";
}

Document MadeDocument() {
  Document document;
  document.title = "Is latent feedback better than standard decoding? mini-fbt";
  document.head = {
      Paragraph{"On the same weights, item by item: how many answers are right under each setting, how long "
                "the traces are, and what they cost."},
      Accuracy(), Chart{"accuracy", "Accuracy by setting, in percent, with 95 % intervals", {}},
      Notes{{{"mini-fbt, latent@exact",
              "12 % of the traces were truncated: accuracy says as much about the limit "
              "as about the model.",
              true},
             {"", kHostile, false}}}};
  Section suite{kHostile, kHostile, {Paragraph{kHostile}, Long(), Chart{"undrawn", kHostile, {}}}, {}};
  suite.sections = {{"Trace length", "lengths", {Accuracy()}, {}}, {"Cost", "lengths", {Accuracy()}, {}}};
  document.sections = {suite, {"Provenance", "provenance", {Paragraph{"Weights, data, versions."}}, {}}};
  return document;
}

int Run(const char* store_path, const char* folder) {
  const auto store = OpenStore(store_path, StoreMode::kReadOnly);
  const HtmlItems items(*store);
  const Document document = MadeDocument();
  const ImagesByChart charts = {{ChartsOf(document).at(0), ImagesOf(Svg(), {{"--chart-ink", "#8fb7f5"}})}};
  std::puts(WriteHtmlFile(document, charts, &items, folder).c_str());
  return 0;
}

}  // namespace
}  // namespace fullband

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("html_page STORE FOLDER\n", stderr);
    return 2;
  }
  try {
    return fullband::Run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "html_page: %s\n", error.what());
    return 1;
  }
}
