"""Writes engine/tokenizer/unicode_ranges.inc: where the Unicode tables of Hugging Face's tokenizers are not those of
PCRE2 and utf8proc.

usage: unicode_ranges.py > engine/tokenizer/unicode_ranges.inc   (Python 3.11: its unicodedata is Unicode 14, as PCRE2's)

The library has three tables of different ages: its regular expressions', its Digits pre-tokenizer's and its
normalizers'. All are found by asking the library about every code point.
"""

import sys
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cn Co".split()
# Newer than any table here, but certain: code points of Unicode 15.1 to 17 with a decomposition or a combining class.
NEWER_NORMALIZED = [
    (0x0897, 0x0897), (0xA7F1, 0xA7F1), (0x105C0, 0x105FF), (0x10D40, 0x10D8F), (0x10EC5, 0x10EFF), (0x11380, 0x113FF),
    (0x16100, 0x1613F), (0x16D40, 0x16D7F), (0x1CC00, 0x1CEBF), (0x1E5D0, 0x1E5FF), (0x1E6C0, 0x1E6FF),
]  # fmt: skip


def matching(pattern):
    splitter = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    found = set()
    for start in range(0, len(CODE_POINTS), 4096):
        text = "".join(map(chr, CODE_POINTS[start : start + 4096]))
        for piece, _ in splitter.pre_tokenize_str(text):
            found.update(map(ord, piece))
    return found


def ranges(code_points, value=lambda c: None):
    out = []
    for c in sorted(code_points):
        if out and out[-1][1] == c - 1 and out[-1][2] == value(c):
            out[-1][1] = c
        else:
            out.append([c, c, value(c)])
    return out


def reorders(normalize, c):
    """Whether the normalizer gives c a combining class other than 0."""
    low, high = "a\u0301" + chr(c), "a" + chr(c) + "\u0334"  # classes 230 and 1
    return normalize(low) != low or normalize(high) != high


def inert_in_normalizers():
    nfd, nfkd = normalizers.NFD().normalize_str, normalizers.NFKD().normalize_str
    out = {c for first, last in NEWER_NORMALIZED for c in range(first, last + 1)}
    for c in CODE_POINTS:
        known = bool(unicodedata.combining(chr(c))) or bool(unicodedata.decomposition(chr(c)))
        new = unicodedata.category(chr(c)) == "Cn"
        if (known and nfkd(chr(c)) == chr(c) and not reorders(nfd, c)) or (new and (c in ADDED_15)):
            out.add(c)
            parts = unicodedata.decomposition(chr(c)).split()
            if parts and not parts[0].startswith("<"):  # nor may the parts compose
                out.update(int(part, 16) for part in parts)
    return out


# Unicode 15.0's characters with a combining class or a decomposition (utf8proc has them, Python 3.11 does not).
ADDED_15 = {0x10EFD, 0x10EFE, 0x10EFF, 0x11F41, 0x11F42, 0x1E08F, *range(0x1E030, 0x1E06E), *range(0x1E4EC, 0x1E4F0)}


def main():
    if unicodedata.unidata_version != "14.0.0":
        sys.exit("needs a Python whose unicodedata is Unicode 14.0.0 (3.11), has " + unicodedata.unidata_version)
    category = {}
    for name in CATEGORIES:
        for c in matching(r"\p{%s}" % name):
            category[c] = name
    differing = [c for c in CODE_POINTS if category[c] != unicodedata.category(chr(c))]
    digits = pre_tokenizers.Digits(individual_digits=True)
    numeric = [
        c for c in CODE_POINTS if len(digits.pre_tokenize_str("a" + chr(c))) == 2 and not category[c].startswith("N")
    ]
    print("// Made by scripts/peers/unicode_ranges.py.")
    print("constexpr CategoryRange kCategories[] = {")
    for first, last, name in ranges(differing, category.get):
        print("    {0x%X, 0x%X, UTF8PROC_CATEGORY_%s}," % (first, last, name.upper()))
    print("};\nconstexpr CodePointRange kOnlyDigits[] = {")
    for first, last, _ in ranges(numeric):
        print("    {0x%X, 0x%X}," % (first, last))
    print("};\nconstexpr CodePointRange kNotNormalized[] = {")
    for first, last, _ in ranges(inert_in_normalizers()):
        print("    {0x%X, 0x%X}," % (first, last))
    print("};")


main()
