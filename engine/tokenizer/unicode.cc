#include "engine/tokenizer/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "common/error.h"

namespace fullband {
namespace {

struct CodePointRange {
  char32_t first, last;
};
struct CategoryRange {
  char32_t first, last;
  utf8proc_category_t category;
};

// kCategories: categories in the library's expressions that PCRE2 10.42 or utf8proc 2.8 do not know.
// kOnlyDigits: numbers to the Digits pre-tokenizer only. kNotNormalized: left alone by the library's
// normalizers.
#include "engine/tokenizer/unicode_ranges.inc"

template <typename Range, size_t n>
const Range* Find(const Range (&ranges)[n], char32_t c) {
  const Range* range = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                        [](char32_t value, const Range& r) { return value < r.first; });
  if (range == std::begin(ranges)) return nullptr;
  --range;
  return c <= range->last ? range : nullptr;
}

utf8proc_category_t Category(char32_t c) {
  if (const CategoryRange* range = Find(kCategories, c)) return range->category;
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

// Length of the well-formed character at the front of `bytes`, or minus the length of the maximal part of one
// (Unicode 15, table 3-7); `*open` says that the part may still become a character.
int CharacterAt(std::string_view bytes, bool* open) {
  *open = false;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return -1;
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (size_t i = 1; i < length; ++i) {
    if (i == bytes.size()) {
      *open = true;
      return -static_cast<int>(i);
    }
    unsigned char low = 0x80, high = 0xBF;
    if (i == 1 && lead == 0xE0) low = 0xA0;   // no overlong forms
    if (i == 1 && lead == 0xED) high = 0x9F;  // no surrogates
    if (i == 1 && lead == 0xF0) low = 0x90;
    if (i == 1 && lead == 0xF4) high = 0x8F;  // nothing above U+10FFFF
    if (byte(i) < low || byte(i) > high) return -static_cast<int>(i);
  }
  return static_cast<int>(length);
}

// Appends the text of `bytes` to `out` and returns how many bytes that took: all, or all before an open
// character.
size_t AppendLossy(std::string_view bytes, bool keep_open, std::string* out) {
  size_t at = 0;
  while (at < bytes.size()) {
    bool open;
    const int length = CharacterAt(bytes.substr(at), &open);
    if (open && keep_open) break;
    if (length > 0) {
      out->append(bytes, at, length);
    } else {
      out->append("\xEF\xBF\xBD");
    }
    at += std::abs(length);
  }
  return at;
}

utf8proc_option_t Options(NormalForm form) {
  int options = UTF8PROC_STABLE;
  if (form == NormalForm::kNfc || form == NormalForm::kNfkc) options |= UTF8PROC_COMPOSE;
  if (form == NormalForm::kNfd || form == NormalForm::kNfkd) options |= UTF8PROC_DECOMPOSE;
  if (form == NormalForm::kNfkc || form == NormalForm::kNfkd) options |= UTF8PROC_COMPAT;
  return static_cast<utf8proc_option_t>(options);
}

void AppendNormalized(std::string_view text, NormalForm form, std::string* out) {
  if (text.empty()) return;
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &mapped, Options(form));
  if (size < 0) throw Error("text", std::string("cannot be normalized: ") + utf8proc_errmsg(size));
  std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  out->append(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
}

int CombiningClass(char32_t c) {
  if (c < 0x300 || Find(kNotNormalized, c)) return 0;
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

// Puts long runs of combining marks in canonical order: utf8proc's own sort takes quadratic time over them.
std::string OrderLongRuns(std::string_view text) {
  constexpr size_t kLong = 64;
  std::string out;
  out.reserve(text.size());
  std::vector<std::pair<int, char32_t>> run;
  const auto flush = [&] {
    if (run.size() > kLong)
      std::stable_sort(run.begin(), run.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [combining, c] : run) AppendCharacter(c, &out);
    run.clear();
  };
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    const char32_t c = NextCharacter(text, &at);
    if (const int combining = CombiningClass(c); combining != 0) {
      run.emplace_back(combining, c);
      continue;
    }
    flush();
    out.append(text, here, at - here);
  }
  flush();
  return out;
}

// A character of each category that differs, of three and of four bytes. Every Unicode version agrees on
// these.
char32_t StandIn(utf8proc_category_t category, size_t bytes) {
  struct Row {
    utf8proc_category_t category;
    char32_t three, four;
  };
  static constexpr Row kRows[] = {
      {UTF8PROC_CATEGORY_LU, 0x1E00, 0x10400}, {UTF8PROC_CATEGORY_LL, 0x1E01, 0x10428},
      {UTF8PROC_CATEGORY_LM, 0x3005, 0x16B40}, {UTF8PROC_CATEGORY_LO, 0x0E01, 0x20000},
      {UTF8PROC_CATEGORY_MN, 0x0E31, 0x1D167}, {UTF8PROC_CATEGORY_MC, 0x0903, 0x1D165},
      {UTF8PROC_CATEGORY_ND, 0x0E50, 0x1D7CE}, {UTF8PROC_CATEGORY_NO, 0x2460, 0x1F100},
      {UTF8PROC_CATEGORY_PO, 0x2020, 0x10100}, {UTF8PROC_CATEGORY_PD, 0x2010, 0x10EAD},
      {UTF8PROC_CATEGORY_SM, 0x2200, 0x1D6C1}, {UTF8PROC_CATEGORY_SO, 0x2600, 0x1F300},
      {UTF8PROC_CATEGORY_CF, 0x200B, 0xE0001},
  };
  for (const Row& row : kRows) {
    if (row.category == category) return bytes == 3 ? row.three : row.four;
  }
  return 0;
}

// What to show PCRE2 in place of `c`.
char32_t ForExpressions(char32_t c, size_t bytes) {
  if (c == 0x180E) return 0x200B;  // a format character that PCRE2's \s takes for white space
  const CategoryRange* range = Find(kCategories, c);
  const char32_t other = range ? StandIn(range->category, bytes) : 0;
  return other == 0 ? c : other;
}

}  // namespace

char32_t NextCharacter(std::string_view text, size_t* at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[*at + i]); };
  const unsigned char lead = byte(0);
  char32_t c = lead;
  size_t length = 1;
  if (lead >= 0xF0) {
    c = (lead & 7u) << 18 | (byte(1) & 63u) << 12 | (byte(2) & 63u) << 6 | (byte(3) & 63u);
    length = 4;
  } else if (lead >= 0xE0) {
    c = (lead & 15u) << 12 | (byte(1) & 63u) << 6 | (byte(2) & 63u);
    length = 3;
  } else if (lead >= 0xC0) {
    c = (lead & 31u) << 6 | (byte(1) & 63u);
    length = 2;
  }
  *at += length;
  return c;
}

char32_t LastCharacter(std::string_view text) {
  size_t at = text.size() - 1;
  while ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return NextCharacter(text, &at);
}

void AppendCharacter(char32_t character, std::string* out) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes);
  out->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

size_t FirstInvalidByte(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    bool open;
    const int length = CharacterAt(text.substr(at), &open);
    if (length < 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string LossyText(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  AppendLossy(bytes, false, &out);
  return out;
}

std::string TakeLossyText(std::string* bytes) {
  std::string out;
  bytes->erase(0, AppendLossy(*bytes, true, &out));
  return out;
}

bool IsNumeric(char32_t character) {
  if (character < 0x80) return character >= '0' && character <= '9';
  const utf8proc_category_t category = Category(character);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_NO || Find(kOnlyDigits, character) != nullptr;
}

bool IsWord(char32_t character) {
  switch (Category(character)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      break;
  }
  // Join controls and the alphabetic symbols: circled, negative circled and negative squared letters.
  return character == 0x200C || character == 0x200D || (character >= 0x24B6 && character <= 0x24E9) ||
         (character >= 0x1F130 && character <= 0x1F149) || (character >= 0x1F150 && character <= 0x1F169) ||
         (character >= 0x1F170 && character <= 0x1F189);
}

bool IsWhite(char32_t character) {
  if (character < 0x80) return character == ' ' || (character >= 9 && character <= 13);
  if (character == 0x85) return true;
  const utf8proc_category_t category = Category(character);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

std::string Normalize(std::string_view text, NormalForm form) {
  std::string out;
  out.reserve(text.size());
  const std::string ordered = OrderLongRuns(text);
  text = ordered;
  // A character that the library does not normalize neither moves nor composes, so the text falls apart
  // there.
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    const char32_t c = NextCharacter(text, &at);
    if (c < 0x7FD || !Find(kNotNormalized, c)) continue;
    AppendNormalized(text.substr(start, here - start), form, &out);
    out.append(text, here, at - here);
    start = at;
  }
  AppendNormalized(text.substr(start), form, &out);
  return out;
}

std::string ForExpressions(std::string_view text) {
  std::string out(text);
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    const char32_t c = NextCharacter(text, &at);
    if (c < 0x897) continue;  // the first character in either list
    const char32_t other = ForExpressions(c, at - here);
    if (other == c) continue;
    std::string bytes;
    AppendCharacter(other, &bytes);
    out.replace(here, at - here, bytes);
  }
  return out;
}

const std::array<char32_t, 256>& ByteLevelCharacters() {
  static const std::array<char32_t, 256> characters = [] {
    std::array<char32_t, 256> out;
    char32_t next = 256;
    for (char32_t b = 0; b < 256; ++b) {
      const bool printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      out[b] = printable ? b : next++;
    }
    return out;
  }();
  return characters;
}

int ByteOfCharacter(char32_t character) {
  static const std::array<int16_t, 324> bytes = [] {
    std::array<int16_t, 324> out;
    out.fill(-1);
    for (int b = 0; b < 256; ++b) out[ByteLevelCharacters()[b]] = static_cast<int16_t>(b);
    return out;
  }();
  return character < bytes.size() ? bytes[character] : -1;
}

bool BytesOfToken(std::string_view token, std::string* bytes) {
  bytes->clear();
  for (size_t at = 0; at < token.size();) {
    const int byte = ByteOfCharacter(NextCharacter(token, &at));
    if (byte < 0) return false;
    bytes->push_back(static_cast<char>(byte));
  }
  return true;
}

}  // namespace fullband
