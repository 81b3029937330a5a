#include "evals/sandbox/markers.h"

namespace fullband {
namespace {

// Frames and what leads to them, native memory, the interpreter's own hooks. What a program does under names
// that it puts together while running is for the driver's audit hook to see.
constexpr const char* kMarkers[] = {
    "_getframe",
    "f_back",
    "f_globals",
    "f_locals",
    "f_builtins",
    "f_trace",
    "f_lineno",
    "tb_frame",
    "gi_frame",
    "cr_frame",
    "ag_frame",
    "__closure__",
    "cell_contents",
    "currentframe",
    "inspect.stack",
    "walk_stack",
    "walk_tb",
    "_current_frames",
    "ctypes",
    "_ctypes",
    "cffi",
    "/proc/",
    "get_objects",
    "get_referrers",
    "get_referents",
    "settrace",
    "setprofile",
    "sys.monitoring",
    "addaudithook",
    "__builtins__",
    "import builtins",
    "sys.modules",
    "meta_path",
    "path_hooks",
    "process_vm",
    "ptrace",
    "_testcapi",
    "_xxsubinterpreters",
    "_interpreters",
    "CodeType",
    "co_code",
    "_posixsubprocess",
};

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Whether `marker` stands in `source` as whole words.
bool Stands(std::string_view source, std::string_view marker) {
  for (size_t at = source.find(marker); at != std::string_view::npos; at = source.find(marker, at + 1)) {
    const size_t end = at + marker.size();
    const bool starts = at == 0 || !IsNameByte(marker.front()) || !IsNameByte(source[at - 1]);
    const bool ends = end == source.size() || !IsNameByte(marker.back()) || !IsNameByte(source[end]);
    if (starts && ends) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> MarkersOf(std::string_view source) {
  std::vector<std::string> reasons;
  for (const char* marker : kMarkers)
    if (Stands(source, marker)) reasons.push_back(std::string("source: ") + marker);
  return reasons;
}

}  // namespace fullband
