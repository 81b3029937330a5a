#include "evals/graders/math_extract.h"

#include <algorithm>
#include <vector>

#include "evals/graders/numbers.h"

namespace fullband {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kMaxSentence = 4000;  // no answer is longer

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// For each opening brace the place of the one that closes it; kNone elsewhere and where there is none.
std::vector<size_t> MatchBraces(std::string_view text) {
  std::vector<size_t> match(text.size(), kNone), open;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;  // whatever it is, it is no brace
    } else if (text[i] == '{') {
      open.push_back(i);
    } else if (text[i] == '}' && !open.empty()) {
      match[open.back()] = i;
      open.pop_back();
    }
  }
  return match;
}

// A box without braces: up to a space, `$`, or a full stop or comma that ends a word.
std::string_view BareBox(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && !IsSpace(text[end]) && text[end] != '$') ++end;
  std::string_view bare = text.substr(at, end - at);
  while (!bare.empty() && std::string_view(".,;:)").find(bare.back()) != kNone) bare.remove_suffix(1);
  if (bare.ends_with('\\')) bare.remove_suffix(1);  // of a closing \)
  return bare;
}

struct Box {
  std::string_view content;
  bool unfinished = false;
};

std::optional<Box> LastBox(std::string_view text) {
  const std::vector<size_t> match = MatchBraces(text);
  std::optional<Box> last;
  bool unfinished = false;
  for (size_t at = text.find('\\'); at != kNone && at < text.size();) {
    size_t next = at + 1;
    const std::string_view rest = text.substr(at);
    const size_t name = rest.starts_with("\\boxed") ? 6 : rest.starts_with("\\fbox") ? 5 : 0;
    if (name > 0 && (rest.size() == name || !IsLetter(rest[name]))) {
      size_t open = at + name;
      while (open < text.size() && IsSpace(text[open])) ++open;
      if (open < text.size() && text[open] == '{') {
        const size_t close = match[open];
        unfinished = close == kNone;
        if (!unfinished) {
          const std::string_view content = Trimmed(text.substr(open + 1, close - open - 1));
          if (!content.empty()) last = Box{content};
          next = close + 1;
        }
      } else if (const std::string_view bare = BareBox(text, open); !bare.empty()) {
        last = Box{bare};
        unfinished = false;
        next = open + bare.size();  // what it holds is not looked at again
      }
    } else {
      next = at + 2;  // an escaped character is no beginning of a command
    }
    at = next < text.size() ? text.find('\\', next) : kNone;
  }
  if (last) last->unfinished = unfinished;
  return last;
}

// The inside of a box that holds nothing but another one.
std::string_view Unboxed(std::string_view text) {
  for (int i = 0; i < 10 && (text.starts_with("\\boxed{") || text.starts_with("\\fbox{")); ++i) {
    const size_t open = text.find('{');
    if (MatchBraces(text)[open] != text.size() - 1) break;
    text = Trimmed(text.substr(open + 1, text.size() - open - 2));
  }
  return text;
}

// The mathematics that begins at `at`, if a delimiter does: `$`, `$$`, `\(`, `\[`.
std::optional<std::string_view> MathAt(std::string_view text, size_t at, size_t* end) {
  for (const auto& [open, close] : {std::pair<std::string_view, std::string_view>{"$$", "$$"},
                                    {"$", "$"},
                                    {"\\(", "\\)"},
                                    {"\\[", "\\]"}}) {
    if (!text.substr(at).starts_with(open)) continue;
    size_t stop = text.find(close, at + open.size());
    while (stop != kNone && stop > 0 && close[0] == '$' && text[stop - 1] == '\\')
      stop = text.find(close, stop + 1);
    if (stop == kNone) return std::nullopt;
    *end = stop + close.size();
    return Trimmed(text.substr(at + open.size(), stop - at - open.size()));
  }
  return std::nullopt;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Behind the last words that announce an answer: where it begins.
std::optional<size_t> AfterWords(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  for (size_t at = lower.rfind("answer"); at != kNone; at = at > 0 ? lower.rfind("answer", at - 1) : kNone) {
    size_t next = at + 6;
    while (next < text.size() && (text[next] == ' ' || text[next] == '*' || text[next] == '_')) ++next;
    if (next < text.size() && (text[next] == ':' || text[next] == '=')) return next + 1;
    if (lower.compare(next, 3, "is ") == 0) return next + 3;
    if (lower.compare(next, 3, "is:") == 0 || lower.compare(next, 3, "is\n") == 0) return next + 3;
    if (lower.compare(next, 3, "is$") == 0 || lower.compare(next, 3, "is\\") == 0) return next + 2;
  }
  const size_t hashes = text.rfind("####");
  return hashes == kNone ? std::nullopt : std::optional(hashes + 4);
}

// Up to the end of the line or the sentence; a point with a digit behind it is decimal.
std::string_view Sentence(std::string_view text) {
  size_t most = std::min(text.size(), kMaxSentence);
  while (most > 0 && most < text.size() && (text[most] & 0xC0) == 0x80) --most;  // no half characters
  text = text.substr(0, most);
  size_t end = 0;
  for (; end < text.size() && text[end] != '\n'; ++end) {
    const bool stop = text[end] == '.' && (end + 1 == text.size() || IsSpace(text[end + 1]));
    if (stop) break;
  }
  return Trimmed(text.substr(0, end));
}

std::optional<std::string_view> AnnouncedAnswer(std::string_view text) {
  const auto begin = AfterWords(text);
  if (!begin) return std::nullopt;
  constexpr std::string_view kDecoration = " \t\r\n*_:`";
  size_t at = *begin;
  while (at < text.size() && kDecoration.find(text[at]) != kNone) ++at;
  size_t end = 0;
  if (const auto math = MathAt(text, at, &end); math && !math->empty()) return math;
  std::string_view sentence = Sentence(text.substr(at));
  while (!sentence.empty() && kDecoration.find(sentence.back()) != kNone) sentence.remove_suffix(1);
  if (sentence.empty()) return std::nullopt;
  // "the answer is then $5$": the mathematics of the sentence, if it begins with words.
  if (IsLetter(sentence[0])) {
    for (size_t i = 0; i < sentence.size(); ++i) {
      if (sentence[i] != '$' && sentence[i] != '\\') continue;
      if (const auto math = MathAt(sentence, i, &end); math && !math->empty()) return math;
    }
  }
  return sentence;
}

// Words of prose: runs of letters that are no commands.
int ProseWords(std::string_view text) {
  int words = 0;
  for (size_t i = 0; i < text.size();) {
    if (!IsLetter(text[i])) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < text.size() && IsLetter(text[i])) ++i;
    const bool command = begin > 0 && (text[begin - 1] == '\\' || text[begin - 1] == '{');
    words += !command && i - begin >= 2;
  }
  return words;
}

std::optional<std::string_view> BareAnswer(std::string_view text) {
  const std::string_view line = Trimmed(text);
  const bool one_line = line.find('\n') == kNone || line.starts_with("\\begin");
  const bool says_value = std::any_of(line.begin(), line.end(), IsDigit) || line.find('\\') != kNone;
  const int words = ProseWords(line);
  if (line.empty() || line.size() > kMaxSentence || !one_line || words > (says_value ? 2 : 1))
    return std::nullopt;
  return line;
}

std::optional<std::string_view> LastMath(std::string_view text) {
  std::optional<std::string_view> last;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '$' && text[at] != '\\') {
      ++at;
      continue;
    }
    size_t end = 0;
    const auto math = MathAt(text, at, &end);
    if (math && !math->empty()) last = math;
    if (math) {
      at = end;
    } else if (text[at] == '$' || text.substr(at).starts_with("\\(") || text.substr(at).starts_with("\\[")) {
      break;  // opened and never closed: looking again would be quadratic
    } else {
      at += 2;
    }
  }
  return last;
}

}  // namespace

std::optional<MathAnswer> FindMathAnswer(std::string_view text) {
  if (const auto box = LastBox(text))
    return MathAnswer{std::string(Unboxed(box->content)), true, box->unfinished};
  if (const auto answer = AnnouncedAnswer(text)) return MathAnswer{std::string(*answer), true};
  if (const auto answer = BareAnswer(text)) return MathAnswer{std::string(*answer), false};
  if (const auto answer = LastMath(text)) return MathAnswer{std::string(*answer), false};
  const std::vector<NumberToken> numbers = ScanNumbers(text);
  if (numbers.empty()) return std::nullopt;
  return MathAnswer{numbers.back().text, false};
}

std::string MathGold(std::string_view gold) {
  if (const auto box = LastBox(gold)) return std::string(Unboxed(box->content));
  return std::string(Trimmed(gold));
}

}  // namespace fullband
