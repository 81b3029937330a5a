// Writes a store's runs in lm-evaluation-harness's layout: lm_eval_export STORE FOLDER. For the tests in
// Python.
#include <cstdio>
#include <exception>

#include "reports/lm_eval/lm_eval.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: lm_eval_export STORE FOLDER\n");
    return 2;
  }
  try {
    const auto store = fullband::OpenStore(argv[1], fullband::StoreMode::kReadOnly);
    const auto results = fullband::ReadResults(*store);
    for (const auto& path : fullband::WriteLmEval(results, *store, argv[2]))
      std::printf("%s\n", path.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
