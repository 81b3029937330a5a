#include "reports/html/encode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace fullband {
namespace {

TEST(Encode, Utf8StaysAndOtherBytesAreReplaced) {
  EXPECT_EQ(ValidUtf8("a\xC3\xA9\xF0\x9F\x99\x82"), "a\xC3\xA9\xF0\x9F\x99\x82");
  EXPECT_EQ(ValidUtf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a lone surrogate
  EXPECT_EQ(ValidUtf8("z\xC3"), "z\xEF\xBF\xBD");
  EXPECT_EQ(ValidUtf8(std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

TEST(Encode, UnitsAreThoseOfScripts) {
  const std::string_view text = "a\xC3\xA9\xF0\x9F\x99\x82\xFFz";  // 1, 1, 2, 1, 1
  Utf16Units units(text);
  EXPECT_EQ(units.Of(0), 0u);
  EXPECT_EQ(units.Of(1), 1u);
  EXPECT_EQ(units.Of(2), 2u);  // within the é, which starts before
  EXPECT_EQ(units.Of(3), 2u);
  EXPECT_EQ(units.Of(7), 4u);
  EXPECT_EQ(units.Of(8), 5u);
  EXPECT_EQ(units.Of(100), 6u);
}

TEST(Encode, HtmlTextIsText) {
  EXPECT_EQ(HtmlText("<a href='x' title=\"y\">&amp;"),
            "&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;amp;");
  EXPECT_EQ(HtmlText(std::string_view("\0\x1b\r\x7f", 4)), "␀␛␍␡");
  EXPECT_EQ(HtmlText("a\n\tb"), "a\n\tb");
  EXPECT_EQ(HtmlText("\xE2\x80\xAE"), "⟨U+202E⟩");
  EXPECT_EQ(HtmlText("\xC2\x85"), "⟨U+0085⟩");
  EXPECT_EQ(HtmlText("\xFF"), "\xEF\xBF\xBD");
}

TEST(Encode, JsonEndsNoElement) {
  const nlohmann::json value = {{"</script>", "<!-- & \xE2\x80\xA8\xE2\x80\xA9 \xE2\x80\xAA"}};
  const std::string inert = InertJson(value);
  EXPECT_EQ(inert, "{\"\\u003c/script\\u003e\":\"\\u003c!-- \\u0026 \\u2028\\u2029 \xE2\x80\xAA\"}");
  EXPECT_EQ(nlohmann::json::parse(inert), value);
}

// The vectors of RFC 4648, section 10.
TEST(Encode, Base64) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foob"), "Zm9vYg==");
  EXPECT_EQ(Base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64("\xFB\xFF\xBF"), "+/+/");
}

TEST(Encode, DeflatedTextComesBack) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i * i) + "\n";
  const std::string packed = Deflate(text);
  EXPECT_LT(packed.size(), text.size() / 2);
  std::string unpacked(text.size(), '\0');
  uLongf size = unpacked.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(unpacked.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  EXPECT_EQ(unpacked, text);
}

// echo -n "alert('Hello, world.');" | openssl sha256 -binary | base64
TEST(Encode, HashesAsPoliciesHaveThem) {
  EXPECT_EQ(CspHash("alert('Hello, world.');"), "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
}

}  // namespace
}  // namespace fullband
