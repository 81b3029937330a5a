"""The strings on which tokenizers are compared: the data sets' texts and seeded ones. Standard library only.

groups(datasets) gives (name, strings). Seeded groups are the same on every machine and Python version; those of a data
set are left out where its files are absent.
"""

import csv
import gzip
import json
import os

MASK = (1 << 64) - 1

SPECIAL_LOOKS = [
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_start", "im_end|>", "<| im_end |>", "<|IM_END|>", "<|im_end|>>",
    "<<|im_start|>", "<|im_start|><|im_end|>", "<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>user<|end_header_id|>",
    "<|reserved_special_token_7|>", "<|reserved_special_token_247|>", "<|reserved_special_token_999|>", "<tool_call>",
    "</tool_call>", "<think>", "</think>", "<tool_response>", "<|fim_prefix|>", "<|vision_start|>", "<repo_name>",
    "<reponame>", "<file_sep>", "<empty_output>", "<gh_stars>", "<issue_start>", "<jupyter_code>", "<s>", "</s>", "<unk>",
    "[INST]", "<|python_tag|>", "<|eom_id|>", "<|box_start|>", "<|finetune_right_pad_id|>", "<|", "|>", "<", "<|im_",
]  # fmt: skip

PIECES = [
    "'s", "'S", "'t", "'re", "'VE", "'m", "'ll", "'LL", "'d", "\u2019s", "'\u017f", "'", "''", "it's", "WE'RE", "don't",
    " ", "  ", "   ", "\t", "\t\t", "\n", "\n\n", "\r\n", "\r", " \n", "\n ", " \r\n ", "\u00a0", "\u3000", "\u2009", "\u0085",
    "\u180e", "\u200b", "\u200d", "\u2028", "\ufeff", "\x00", "\x0b", "\x0c", "\x1c", "\x7f", "0", "1", "12", "123", "1234",
    "12345", "3.14", "1,000", "\u0663\u0664", "\u096a", "\u00b2", "\u00bd", "\u2167", "\u2460", "\u4e09", "\uff11", "\U0001d7d8",
    "a", "b", "the", "Hello", "world", "\u00e9", "e\u0301", "\u00df", "\u0130", "\u1e9b\u0323", "\ufb01", "\u212b", "\u03a9",
    "\u0418\u0306", "\u05d0\u05b7", "\u0645\u0631\u062d\u0628\u0627", "\u0928\u092e\u0938\u094d\u0924\u0947",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u4f60\u597d", "\u3053\u3093\u306b\u3061\u306f", "\u304b\u3099", "\ud55c\uad6d\uc5b4",
    "\u1112\u1161\u11ab", "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f",
    "\U0001f3fd", "\u20ac", "$", "%", "(", ")", "[", "]", "{", "}", "==", "!=", "->", "=>", "::", "//", "/*", "*/", "#", "_",
    "__init__", "-", "--", "\u2014", "...", "\u2026", ".", ",", ";", ":", "?", "!", "\\", "\\n", "\"", "`", "```python\n",
    "def f(x):\n    return x\n", "for (int i = 0; i < n; ++i) {\n", "\u221a", "\u2264", "\u222b", "\\frac{1}{2}", "\u0300", "\u0327",
    "\u0301\u0327", "\ue000", "\ufffd", "\ufdd0", "\uffff", "\U00020000", "\U000e0041", "\U0010ffff", "\u0378",
]  # fmt: skip

# First and last code point of stretches that random characters are drawn from.
SCRIPTS = [
    (0x20, 0x7E), (0xA0, 0x17F), (0x180, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x531, 0x587),
    (0x591, 0x5F4), (0x600, 0x6FF), (0x700, 0x74F), (0x900, 0x97F), (0x980, 0x9FF), (0xB80, 0xBFF), (0xE01, 0xE5B),
    (0xF00, 0xFDA), (0x10A0, 0x10FF), (0x1100, 0x11FF), (0x1200, 0x137F), (0x13A0, 0x13FF), (0x1780, 0x17F9),
    (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x209F), (0x2100, 0x218F), (0x2190, 0x23FF), (0x2460, 0x24FF),
    (0x2600, 0x27BF), (0x3000, 0x30FF), (0x3130, 0x318F), (0x3300, 0x33FF), (0x4E00, 0x9FFF), (0xA000, 0xA4CF),
    (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFB00, 0xFB4F), (0xFE20, 0xFE6F), (0xFF00, 0xFFEF), (0x10300, 0x1034A),
    (0x11930, 0x11946), (0x1D100, 0x1D1FF), (0x1D400, 0x1D7FF), (0x1F000, 0x1FAFF), (0x20000, 0x2A6DF), (0xE0000, 0xE007F),
]  # fmt: skip


class Random:
    """SplitMix64 (Steele et al. 2014)."""

    def __init__(self, seed):
        self.state = seed

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, limit):
        return self.bits() % limit

    def choice(self, options):
        return options[self.below(len(options))]


def mixed(random):
    """Pieces of every kind next to each other, with or without spaces between."""
    glue = random.choice(["", "", " ", "  ", "\n"])
    return glue.join(random.choice(PIECES) for _ in range(1 + random.below(24)))


def scripts(random):
    """Words of a few scripts."""
    ranges = [random.choice(SCRIPTS) for _ in range(1 + random.below(3))]
    words = []
    for _ in range(1 + random.below(12)):
        first, last = random.choice(ranges)
        words.append("".join(chr(first + random.below(last - first + 1)) for _ in range(1 + random.below(8))))
    return random.choice([" ", "", ", ", "\n"]).join(words)


def any_characters(random):
    """Characters from anywhere in Unicode, assigned or not."""
    out = []
    while len(out) < 40:
        c = random.below(random.choice([0x250, 0x3000, 0x10000, 0x20000, 0x110000]))
        if not 0xD800 <= c < 0xE000:
            out.append(chr(c))
    return "".join(out[: 1 + random.below(40)])


def white_space(random):
    blank = [" ", " ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2003", "\u0085"]
    out = ""
    for _ in range(1 + random.below(6)):
        out += random.choice(blank) * random.choice([1, 2, 3, 7, 8, 16, 64, 200, 1000])
        out += random.choice(["", "x", "word", "9", ".", "}", "\u00e9"])
    return out


def combining(random):
    """Long and short runs of combining marks, in no order."""
    out = ""
    for _ in range(1 + random.below(8)):
        out += random.choice(["a", "e", "\u00e7", "\u0e01", "\uac00", "\u1100", "\u0915", " ", "1", "\U00011935"])
        out += "".join(chr(0x300 + random.below(0x70)) for _ in range(random.choice([0, 1, 2, 3, 5, 40, 150])))
    return out


def long_words(random):
    unit = random.choice(["a", "ab", "aaab", "0", "=", "-", "\u00e9", "\u4f60", "\U0001f600", " ", "\n", "the", "xyz "])
    return unit * (1 + random.below(1500))


def special_looks(random):
    glue = random.choice(["", "", " ", "  ", "\n", "x"])
    parts = [random.choice(SPECIAL_LOOKS if random.below(3) else PIECES) for _ in range(1 + random.below(10))]
    return glue.join(parts)


def code(random):
    """Lines that look like programs."""
    lines = []
    depth = 0
    for _ in range(1 + random.below(14)):
        name = random.choice(["x", "i", "count", "self.value", "fooBar", "MAX_SIZE", "std::vector<int>", "a[i]", "_tmp2"])
        other = random.choice(["0", "1", "42", "3.5e-7", "0xFF", "\"text\"", "'c'", "None", "nullptr", "f(x, y)", "n - 1"])
        line = random.choice(
            ["%s = %s", "if %s == %s:", "for %s in range(%s):", "return %s + %s", "while (%s < %s) {", "}  // %s %s",
             "# %s: %s", "print(f\"{%s} {%s}\")", "assert %s != %s;", "\t%s += %s", "@%s.%s", "%s->%s();"]
        )  # fmt: skip
        indent = random.choice(["    ", "  ", "\t"])
        lines.append(indent * depth + line % (name, other))
        depth = max(0, min(6, depth + random.below(3) - 1))
    return random.choice(["\n", "\r\n", "\n\n"]).join(lines)


SEEDED = {
    "mixed": (mixed, 1500), "scripts": (scripts, 700), "any": (any_characters, 700), "white": (white_space, 250),
    "combining": (combining, 250), "long": (long_words, 120), "special": (special_looks, 800), "code": (code, 400),
}  # fmt: skip


def seeded(name):
    make, count = SEEDED[name]
    return [make(Random(seed)) for seed in range(count)]


def every_character():
    """Each code point of the planes that have characters once after a letter and once after a space and a digit."""
    out = []
    code_points = [c for first, last in ((0, 0xD7FF), (0xE000, 0x323FF), (0xE0000, 0xE01FF)) for c in range(first, last + 1)]
    for start in range(0, len(code_points), 128):
        out.append("".join("a%s 1%s" % (chr(c), chr(c)) for c in code_points[start : start + 128]))
    return out


def lines(path):
    opening = gzip.open if path.endswith(".gz") else open
    with opening(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def of_fields(path, fields):
    return [row[field] for row in lines(path) for field in fields]


def mmlu(folder):
    rows = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
            rows += ["\n".join(row) for row in csv.reader(file)][1:]
    return rows


DATA_SETS = [
    ("gsm8k/test.jsonl", lambda path: of_fields(path, ["question", "answer"])),
    ("humaneval/HumanEval.jsonl.gz", lambda path: of_fields(path, ["prompt", "canonical_solution", "test"])),
    ("mbpp/mbpp.jsonl", lambda path: of_fields(path, ["text", "code"])),
    ("math500/test.jsonl", lambda path: of_fields(path, ["problem", "solution"])),
    ("hellaswag/hellaswag_val.derived.jsonl", lambda path: of_fields(path, ["query"])[:500]),
    ("mmlu/dev", mmlu),
]


def groups(datasets):
    """Yields (name, strings): the seeded groups, then one of each data set under the folder `datasets` (may be None)."""
    for name in SEEDED:
        yield name, seeded(name)
    yield "every_character", every_character()
    for path, read in DATA_SETS:
        if datasets and os.path.exists(os.path.join(datasets, path)):
            yield path, read(os.path.join(datasets, path))
