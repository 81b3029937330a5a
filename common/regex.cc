#define PCRE2_CODE_UNIT_WIDTH 8
#include "common/regex.h"

#include <fmt/format.h>
#include <pcre2.h>

#include "common/error.h"

namespace fullband {
namespace {

// Far above what ordinary expressions need, even for megabytes without a space, yet reached within seconds by
// one that backtracks exponentially.
constexpr uint32_t kMatchLimit = 50'000'000;
constexpr size_t kJitStack = 64 << 10, kJitStackLimit = 64 << 20;
constexpr uint32_t kHeapLimitKib = 256 << 10;

// What a thread needs to match; made once a thread, since a stack for compiled code is costly to make.
struct Matcher {
  Matcher()
      : stack(pcre2_jit_stack_create(kJitStack, kJitStackLimit, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        data(pcre2_match_data_create(2, nullptr)) {
    if (!stack || !context || !data) throw std::bad_alloc();
    pcre2_set_match_limit(context, kMatchLimit);
    pcre2_set_heap_limit(context, kHeapLimitKib);
    pcre2_jit_stack_assign(context, nullptr, stack);
  }
  ~Matcher() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  pcre2_jit_stack* stack;
  pcre2_match_context* context;
  pcre2_match_data* data;
};

Matcher& ThreadMatcher() {
  thread_local Matcher matcher;
  return matcher;
}

std::string Message(int code) {
  PCRE2_UCHAR buffer[256];
  pcre2_get_error_message(code, buffer, sizeof(buffer));
  return reinterpret_cast<const char*>(buffer);
}

}  // namespace

struct Regex::Code {
  explicit Code(pcre2_code* code) : value(code) {}
  ~Code() { pcre2_code_free(value); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  pcre2_code* value;
};

Regex::Regex(const std::string& pattern, std::string place) : place_(std::move(place)) {
  std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), &pcre2_compile_context_free);
  if (!context) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   PCRE2_UTF | PCRE2_UCP, &error, &offset, context.get());
  if (!code)
    throw Error(place_, fmt::format("is not a regular expression: {} (at byte {})", Message(error), offset));
  code_ = std::make_unique<Code>(code);
  // Without it, the interpreter does the same slower.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
  uint32_t look_back = 0;
  pcre2_pattern_info(code, PCRE2_INFO_MAXLOOKBEHIND, &look_back);
  looks_back_ = look_back > 0;
}

Regex::~Regex() = default;

int Regex::Match(std::string_view text, size_t from, uint32_t options) const {
  Matcher& matcher = ThreadMatcher();
  // The text has been checked once: checking it again at each match would take quadratic time.
  const int found = pcre2_match(code_->value, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                PCRE2_NO_UTF_CHECK | options, matcher.data, matcher.context);
  if (found < 0 && found != PCRE2_ERROR_NOMATCH && found != PCRE2_ERROR_PARTIAL)
    throw Error(place_,
                fmt::format("cannot be applied to a text of {} bytes: {}", text.size(), Message(found)),
                "the expression backtracks too much on this text");
  return found;
}

size_t Regex::Settled(std::string_view text) const {
  size_t settled = 0;
  if (looks_back_) return settled;
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(ThreadMatcher().data);
  // A match that comes before any attempt has met the end of the text does not depend on what follows.
  while (settled < text.size() && Match(text, settled, PCRE2_PARTIAL_HARD) >= 0 && offsets[0] < offsets[1])
    settled = offsets[1];
  return settled;
}

std::vector<RegexMatch> Regex::FindAll(std::string_view text) const {
  std::vector<RegexMatch> matches;
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(ThreadMatcher().data);
  size_t from = 0;  // the search goes on here
  while (from <= text.size()) {
    const int found = Match(text, from, 0);
    if (found == PCRE2_ERROR_NOMATCH) break;
    const size_t begin = offsets[0], end = offsets[1];
    if (begin == end && !matches.empty() && end == matches.back().end) {
      if (from == text.size()) break;
      do {
        ++from;
      } while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80);
      continue;
    }
    // 0: more groups captured than there is room for, the first of them included.
    const bool captured = found != 1 && offsets[2] != PCRE2_UNSET;
    matches.push_back({begin, end, captured ? offsets[2] : begin, captured ? offsets[3] : end});
    from = end;
  }
  return matches;
}

}  // namespace fullband
