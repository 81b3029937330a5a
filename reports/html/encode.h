// Texts on their way into an HTML page. They may hold anything, bytes that are no UTF-8 included.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fullband {

// Each byte that is no part of a UTF-8 character becomes U+FFFD; so do encoded surrogates.
std::string ValidUtf8(std::string_view text);

// UTF-16 units of each beginning of ValidUtf8(text): of the characters that start in the first `i` bytes of
// `text`. Ask with ascending `i`.
class Utf16Units {
 public:
  explicit Utf16Units(std::string_view text) : text_(text) {}
  size_t Of(size_t bytes);

 private:
  std::string_view text_;
  size_t at_ = 0, units_ = 0;
};

// Text of an element or of a quoted attribute. Characters that are not seen, or that turn the direction of
// writing, are written out: ␀ for NUL, ⟨U+202E⟩ for a right-to-left override.
std::string HtmlText(std::string_view text);

// JSON that may stand inside <script type="application/json">: nothing in it ends the element or opens a
// comment.
std::string InertJson(const nlohmann::json& value);

std::string Base64(std::string_view bytes);

// In zlib's format (RFC 1950), which browsers call "deflate".
std::string Deflate(std::string_view bytes);

// "'sha256-…'", as a Content-Security-Policy names a script or style that may be used.
std::string CspHash(std::string_view content);

}  // namespace fullband
