// Suites of programs in a temporary folder, small enough to see through.
#pragma once

#include <string>

#include "tests/tasks/own_suite.h"

namespace fullband {

inline constexpr char kOwnHumanEval[] = R"(name = "own_humaneval"
version = 1
title = "Own functions"
ask = "generate"
reader = "humaneval_jsonl"
graders = ["execute"]

[data]
path = "own_humaneval.jsonl"

[shots]
default = 0

[completion]
question = "{prompt}"
answer = "{canonical_solution}"
separator = "\n\n"
stop = ["\ndef", "\n#"]

[chat]
question = "{prompt}"
answer = "{canonical_solution}"

[generate]
max_new_tokens = 9
gold = "{program}"

[execute]
wall_seconds = 20
)";

inline constexpr char kOwnMbpp[] = R"(name = "own_mbpp"
version = 1
title = "Own programs"
ask = "generate"
reader = "mbpp_jsonl"
graders = ["execute"]

[data]
path = "own_mbpp.jsonl"
first_id = 2
last_id = 4

[shots]
default = 1
first = true
path = "own_mbpp.jsonl"
first_id = 1
last_id = 1

[completion]
question = "{text}\n{shown_tests}\n[BEGIN]\n"
answer = "{code}\n[DONE]"
separator = "\n\n"
stop = ["[DONE]"]

[chat]
question = "{text}"
answer = "{code}"

[generate]
max_new_tokens = 9
gold = "{program}"
)";

inline constexpr char kOwnFunctions[] =
    R"j({"task_id": "Own/0", "prompt": "def half(x):\n    \"\"\"Half of it.\"\"\"\n", "canonical_solution": "    return x // 2\n", "test": "def check(c):\n    assert c(4) == 2\n    assert c(7) == 3\n", "entry_point": "half"}
{"task_id": "Own/1", "prompt": "import math\n\ndef inc(v):\n    return v + 1\n\ndef f(x):\n    \"\"\"Root and one.\"\"\"\n", "canonical_solution": "    return inc(math.isqrt(x))\n", "test": "def check(c):\n    assert c(16) == 5\n", "entry_point": "f"}
)j";

inline constexpr char kOwnPrograms[] =
    R"j({"task_id": 1, "text": "Add.", "code": "def add(a, b):\r\n    return a + b", "test_setup_code": "", "test_list": ["assert add(1, 2) == 3"], "challenge_test_list": []}
{"task_id": 2, "text": "Take the smallest.", "code": "def least(a):\n    return min(a)", "test_setup_code": "", "test_list": ["assert least([2, 1]) == 1", "assert least([3]) == 3", "assert least([0, 0]) == 0", "assert least([9, 8]) == 8"]}
{"task_id": 3, "text": "Count a tree.", "code": "class Node:\n    kids = ()\ndef count(n):\n    return 1 + sum(map(count, n.kids))", "test_setup_code": "root = Node()\nroot.kids = (Node(),)", "test_list": ["assert count(root) == 2"]}
{"task_id": 4, "text": "Sum up to n.", "code": "def sum(n):\n    return n * (n + 1) // 2", "test_setup_code": "", "test_list": ["assert sum(4) == 10"]}
{"task_id": 50, "text": "Not asked.", "code": "def g(): pass", "test_setup_code": "", "test_list": ["assert g() is None"]}
)j";

inline constexpr char kOwnPlusPrograms[] =
    R"j({"task_id": 7, "prompt": "Do.", "code": "def f(a):\n  return a", "source_file": "x", "test_imports": ["import math", "import re"], "test_list": ["assert set(f(1)) == 1"], "test": "import numpy\nassert f(2) == 2"})j";

class CodeSuites : public OwnSuite {
 public:
  CodeSuites() {
    Write("own_humaneval.toml", kOwnHumanEval);
    Write("own_humaneval.jsonl", kOwnFunctions);
    Write("own_mbpp.toml", kOwnMbpp);
    Write("own_mbpp.jsonl", kOwnPrograms);
  }
};

}  // namespace fullband
