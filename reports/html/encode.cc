#include "reports/html/encode.h"

#include <fmt/format.h>
#include <utf8proc.h>
#include <zlib.h>

#include <stdexcept>

#include "common/hash.h"

namespace fullband {
namespace {

// zlib's default, 6, takes twice as long for traces and prompts, and saves 6 % of the file.
constexpr int kPacking = 5;

constexpr char kReplacement[] = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  size_t bytes = 1;
  utf8proc_int32_t code = -1;  // -1: no UTF-8
};

Character At(std::string_view text, size_t at) {
  Character character;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  const utf8proc_ssize_t size =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &character.code);
  if (size > 0) character.bytes = static_cast<size_t>(size);
  return character;
}

// Changes the direction in which what follows is written, or marks it.
bool TurnsDirection(utf8proc_int32_t code) {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x200e ||
         code == 0x200f || code == 0x061c;
}

void AppendEscaped(std::string_view bytes, std::string* html) {
  switch (bytes[0]) {
    case '&':
      *html += "&amp;";
      break;
    case '<':
      *html += "&lt;";
      break;
    case '>':
      *html += "&gt;";
      break;
    case '"':
      *html += "&quot;";
      break;
    case '\'':
      *html += "&#39;";
      break;
    default:
      *html += bytes;
  }
}

void AppendCodePoint(uint32_t code, std::string* text) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  text->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

}  // namespace

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character character = At(text, at);
    if (character.code < 0)
      valid += kReplacement;
    else
      valid += text.substr(at, character.bytes);
    at += character.bytes;
  }
  return valid;
}

size_t Utf16Units::Of(size_t bytes) {
  while (at_ < bytes && at_ < text_.size()) {
    const Character character = At(text_, at_);
    at_ += character.bytes;
    units_ += character.code >= 0x10000 ? 2 : 1;
  }
  return units_;
}

std::string HtmlText(std::string_view text) {
  std::string html;
  html.reserve(text.size() + text.size() / 8);
  for (size_t at = 0; at < text.size();) {
    const Character character = At(text, at);
    const utf8proc_int32_t code = character.code;
    if (code < 0)
      html += kReplacement;
    else if (code < 0x20 && code != '\n' && code != '\t')
      AppendCodePoint(0x2400 + static_cast<uint32_t>(code), &html);  // the symbol that stands for it
    else if (code == 0x7f)
      AppendCodePoint(0x2421, &html);
    else if ((code >= 0x80 && code < 0xa0) || TurnsDirection(code))
      html += fmt::format("⟨U+{:04X}⟩", code);
    else
      AppendEscaped(text.substr(at, character.bytes), &html);
    at += character.bytes;
  }
  return html;
}

std::string InertJson(const nlohmann::json& value) {
  const std::string plain = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string inert;
  inert.reserve(plain.size() + plain.size() / 16);
  for (size_t at = 0; at < plain.size(); ++at) {
    const char c = plain[at];
    // U+2028 and U+2029 end lines in scripts.
    const bool ends_line = c == '\xE2' && at + 2 < plain.size() && plain[at + 1] == '\x80' &&
                           (plain[at + 2] == '\xA8' || plain[at + 2] == '\xA9');
    if (ends_line) {
      inert += plain[at + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      at += 2;
    } else if (c == '<' || c == '>' || c == '&') {
      inert += fmt::format("\\u{:04x}", static_cast<unsigned>(c));  // they stand in strings only
    } else {
      inert += c;
    }
  }
  return inert;
}

std::string Base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t left = std::min<size_t>(3, bytes.size() - at);
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < left ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (size_t i = 0; i < 4; ++i) text += i <= left ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::string Deflate(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                bytes.size(), kPacking) != Z_OK)
    throw std::runtime_error("zlib: no memory");
  packed.resize(size);
  return packed;
}

std::string CspHash(std::string_view content) {
  const std::string hex = Sha256Hex(content);
  std::string digest;
  for (size_t i = 0; i < hex.size(); i += 2)
    digest += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + Base64(digest) + "'";
}

}  // namespace fullband
