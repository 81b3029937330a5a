// UTF-8, Unicode properties and normal forms, as Hugging Face's tokenizers have them.
//
// That library's Unicode tables are of several ages (its normalizers', its expressions'), and none is PCRE2's
// or utf8proc's. unicode_ranges.inc lists where they differ; the functions here answer as that library does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fullband {

// Reads the character at `at`, which must be the start of one in valid UTF-8, and moves past it.
char32_t NextCharacter(std::string_view text, size_t* at);
// Reads the last character of valid, non-empty UTF-8.
char32_t LastCharacter(std::string_view text);
void AppendCharacter(char32_t character, std::string* out);
// The offset of the first byte that is not part of valid UTF-8; npos where there is none.
size_t FirstInvalidByte(std::string_view text);

// Each maximal part of an ill-formed sequence becomes one U+FFFD (Unicode 15, section 3.9; Rust's
// from_utf8_lossy).
std::string LossyText(std::string_view bytes);
// Takes from the front of `bytes` what no later byte can change, in the same way; a started character stays.
std::string TakeLossyText(std::string* bytes);

// The properties that Rust's char::is_numeric, and \w and \s of its regex crate, test.
bool IsNumeric(char32_t character);
bool IsWord(char32_t character);
bool IsWhite(char32_t character);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
std::string Normalize(std::string_view text, NormalForm form);

// `text` with each character that PCRE2 puts in another category than the library's expressions do replaced
// by one of the right category and of as many bytes. Matches in it are matches in `text`; equal to `text`
// nearly always.
std::string ForExpressions(std::string_view text);

// GPT-2's printable stand-ins for bytes (Radford et al. 2019): byte -> character, and back (-1: none).
const std::array<char32_t, 256>& ByteLevelCharacters();
int ByteOfCharacter(char32_t character);
// The bytes that a byte-level token stands for; false where a character of it stands for none.
bool BytesOfToken(std::string_view token, std::string* bytes);

}  // namespace fullband
