// A suite of a user's own, in a temporary folder: TOML file and data side by side.
#pragma once

#include <fstream>
#include <string>

#include "tasks/suite.h"
#include "tests/support/temp_folder.h"

namespace fullband {

inline constexpr char kOwnGenerate[] = R"(name = "own"
version = 3
title = "Own sums"
ask = "generate"
reader = "gsm8k_jsonl"
graders = ["number"]

[data]
path = "own.jsonl"

[shots]
default = 0
path = "own_shots.jsonl"

[completion]
question = "Q: {question}\nA:"
answer = " {answer}"
separator = "\n\n"
stop = ["Q:"]

[chat]
question = "{question} Think."
answer = "{answer}"

[generate]
max_new_tokens = 7
gold = "{final}"
)";

inline constexpr char kOwnChoose[] = R"(name = "own_choice"
version = 1
title = "Own choices"
ask = "choose"
reader = "multiple_choice_jsonl"
graders = ["acc", "acc_norm"]

[data]
path = "own_choice.jsonl"

[shots]
default = 1

[completion]
question = "Q: {query}\nA:"
answer = " {choice}"
separator = "\n\n"

[chat]
question = "{query}"
answer = "{choice}"
)";

inline constexpr char kOwnGraded[] = R"(name = "own_graded"
version = 1
title = "Own sums by difficulty"
ask = "generate"
reader = "graded_jsonl"
graders = ["exact"]

[data]
path = "own_graded.jsonl"

[shots]
default = 0

[completion]
question = "{question}"
answer = " {answer}."
separator = "\n\n"

[chat]
question = "{question}"
answer = "{answer}"

[generate]
max_new_tokens = 4
gold = "{answer}"

[answer]
pattern = 'is (\w+)'
ignore_case = true

[report]
by = ["kind", "difficulty"]
)";

inline constexpr char kOwnGradedItems[] =
    R"({"id": "a", "kind": "sums", "difficulty": 2, "question": "1+1 is", "answer": "two"}
{"id": "b", "kind": "odd \"ones\"", "difficulty": 1, "question": "1 is", "answer": "one"}
)";

inline constexpr char kOwnItems[] = R"({"question": "1+1?", "answer": "One and one.\n#### 2"}
{"question": "2+3?", "answer": "#### 5"}
)";

inline constexpr char kOwnShots[] = R"({"question": "4+4?", "answer": "Twice four.\n#### 8"}
{"question": "3+3?", "answer": "#### 6"}
{"question": "5+5?", "answer": "#### 10"}
)";

inline constexpr char kOwnChoices[] = R"({"query": "Sky?", "choices": ["blue", "green"], "gold": 0}
{"query": "Grass?", "choices": ["blue", "green", "a caf\u00e9"], "gold": 1}
{"query": "Snow?", "choices": ["white", "white hot"], "gold": 0}
)";

class OwnSuite {
 public:
  OwnSuite() {
    Write("own.toml", kOwnGenerate);
    Write("own_choice.toml", kOwnChoose);
    Write("own_graded.toml", kOwnGraded);
    Write("own_graded.jsonl", kOwnGradedItems);
    Write("own.jsonl", kOwnItems);
    Write("own_shots.jsonl", kOwnShots);
    Write("own_choice.jsonl", kOwnChoices);
  }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }
  Suite Load(const std::string& name = "own.toml") const { return LoadSuite(Path(name)); }

 private:
  TempFolder folder_;
};

// `text` with the first `from` replaced; `from` must be there.
inline std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace fullband
