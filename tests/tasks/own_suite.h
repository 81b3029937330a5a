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

inline constexpr char kOwnSchema[] = R"(name = "own_schema"
version = 1
title = "Own schemas"
ask = "choose"
reader = "schema_jsonl"
graders = ["acc"]

[data]
path = "own_schema.jsonl"

[shots]
default = 1

[completion]
question = "{choice}"
answer = " {continuation}"
separator = "\n\n"

[chat]
question = "{choice}"
answer = "{continuation}"
)";

inline constexpr char kOwnContinuation[] = R"(name = "own_continuation"
version = 1
title = "Own last words"
ask = "choose"
reader = "continuation_jsonl"
graders = ["greedy"]

[data]
path = "own_continuation.jsonl"

[shots]
default = 0

[completion]
question = "{context}"
answer = " {choice}"
separator = "\n\n"

[chat]
question = "{context}"
answer = "{choice}"
)";

inline constexpr char kOwnParts[] = R"(name = "own_parts"
version = 1
title = "Own subjects"
ask = "choose"
reader = "mmlu_csv"
graders = ["acc"]

[data]
path = "{part}_test.csv"

[shots]
default = 2
first = true
path = "{part}_dev.csv"

[completion]
preamble = "About {subject}.\n\n"
question = "{question}\nA. {a}\nB. {b}\nC. {c}\nD. {d}\nAnswer:"
answer = " {choice}"
separator = "\n\n"

[chat]
preamble = "About {subject}."
question = "{question}\nA. {a}\nB. {b}\nC. {c}\nD. {d}"
answer = "{choice}"

[report]
by = ["category", "subject"]

[parts.tiny_sums]
category = "numbers"
subject = "tiny sums"

[parts.colours]
category = "things"
subject = "colours"
)";

inline constexpr char kOwnMath[] = R"(name = "own_math"
version = 1
title = "Own problems"
ask = "generate"
reader = "math_jsonl"
graders = ["exact"]

[data]
path = "own_math.jsonl"

[shots]
default = 0

[completion]
question = "Problem:\n{problem}\n\nSolution:"
answer = " {solution}"
separator = "\n\n"

[chat]
question = "{problem}"
answer = "{solution}"

[generate]
max_new_tokens = 9
gold = "{answer}"

[report]
by = ["subject", "level"]
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

inline constexpr char kOwnSchemas[] =
    R"({"context_options": ["The cup fell on the plate, so the cup", "The cup fell on the plate, so the plate"], "continuation": "broke it.", "gold": 0}
{"context_options": ["Ann thanked Bea because Ann", "Ann thanked Bea because Bea"], "continuation": "had helped.", "gold": 1}
{"context_options": ["Ann thanked Bea because Ann", "Ann thanked Bea because Bea"], "continuation": "got help.", "gold": 0}
)";

inline constexpr char kOwnContinuations[] = R"({"context": "One, two,", "continuation": "three"}
{"context": "Red and", "continuation": "\n\nblue"}
)";

inline constexpr char kOwnCsvHeader[] = "question,choice0,choice1,choice2,choice3,answer\n";
inline constexpr char kOwnSumsTest[] = "1+1?,1,2,3,4,1\n\" 2+2, \"\"now\"\"? \",1,2,3,4,3\n3+1?,1,2,3,4,3\n";
inline constexpr char kOwnSumsDev[] = "0+1?,1,2,3,4,0\n1+1?,1,2,3,4,1\n1+2?,1,2,3,4,2\n0+2?,1,2,3,4,1\n";
inline constexpr char kOwnColoursTest[] = "Sky?,red,green,blue,grey,2\r\n";
inline constexpr char kOwnColoursDev[] =
    "Grass?,red,green,blue,grey,1\r\n\"Snow\nat night?\",red,green,blue,grey,3";

inline constexpr char kOwnMaths[] =
    R"({"problem": "1+1?", "solution": "It is $\\boxed{2}$.", "answer": "2", "subject": "Sums", "level": 1, "unique_id": "test/sums/1.json"}
{"problem": "2+1?", "solution": "It is $\\boxed{3}$.", "answer": "3", "subject": "Sums", "level": 2, "unique_id": "test/sums/2.json"}
)";

class OwnSuite {
 public:
  OwnSuite() {
    Write("own.toml", kOwnGenerate);
    Write("own_choice.toml", kOwnChoose);
    Write("own_graded.toml", kOwnGraded);
    Write("own_graded.jsonl", kOwnGradedItems);
    Write("own_schema.toml", kOwnSchema);
    Write("own_schema.jsonl", kOwnSchemas);
    Write("own_continuation.toml", kOwnContinuation);
    Write("own_continuation.jsonl", kOwnContinuations);
    Write("own_parts.toml", kOwnParts);
    Write("tiny_sums_test.csv", std::string(kOwnCsvHeader) + kOwnSumsTest);
    Write("tiny_sums_dev.csv", std::string(kOwnCsvHeader) + kOwnSumsDev);
    Write("colours_test.csv", std::string(kOwnCsvHeader) + kOwnColoursTest);
    Write("colours_dev.csv", std::string(kOwnCsvHeader) + kOwnColoursDev);
    Write("own_math.toml", kOwnMath);
    Write("own_math.jsonl", kOwnMaths);
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
