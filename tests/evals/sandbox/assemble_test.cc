// From a completion to a program.
#include "evals/sandbox/assemble.h"

#include <gtest/gtest.h>

#include "tests/evals/sandbox/usable.h"

namespace fullband {
namespace {

TEST(ExtractCode, ReadsFences) {
  const struct {
    const char *completion, *code;
  } cases[] = {
      {"def f(x):\n    return x+1\n```", "def f(x):\n    return x+1\n"},
      {"```python\ndef f(x):\n    return x+1", "def f(x):\n    return x+1"},
      {"Text\n```\ndef f(x):\n    return x+1\n```\nand a test:\n```python\nassert f(1)==2\n```",
       "def f(x):\n    return x+1\n"},
      {"~~~python\ndef f(x):\n    return x+1\n~~~", "def f(x):\n    return x+1\n"},
      {"````\ns = '''\n```\n'''\ndef f(x): pass\n````\n", "s = '''\n```\n'''\ndef f(x): pass\n"},
      {"    return x + 1\n", "    return x + 1\n"},
      {"    return x + 1\n```\nThis adds one.\n", "    return x + 1\n"},
      {"Use `f` here:\n\n```py\nf = lambda x: x + 1\n```\n", "f = lambda x: x + 1\n"},
      {"Sure, from the text:\nimport math\ndef f(x): return 1\n", "import math\ndef f(x): return 1\n"},
      {"```\nhelper = 1\n```\n```\nasync def f(x): pass\n```", "async def f(x): pass\n"},
      {"", ""},
      {"```\n```", ""},
  };
  for (const auto& each : cases) EXPECT_EQ(ExtractCode(each.completion, "f"), each.code) << each.completion;
}

TEST(ExtractCode, WithoutAnEntryPointTheFirstBlock) {
  EXPECT_EQ(ExtractCode("A:\n```python\ndef g(): pass\n```\n```\ng()\n```", ""), "def g(): pass\n");
}

TEST(DefinesAtTop, IsOfTheTopLevelAndTheWholeName) {
  EXPECT_TRUE(DefinesAtTop("import a\ndef f(x):\n  pass\n", "f"));
  EXPECT_TRUE(DefinesAtTop("f = lambda x: x", "f"));
  EXPECT_FALSE(DefinesAtTop("f == 1", "f"));
  EXPECT_FALSE(DefinesAtTop("  def f(x): pass", "f"));
  EXPECT_FALSE(DefinesAtTop("def ff(x): pass", "f"));
}

TEST(ExtractCode, DropsProseBeforeTheCodeAndNoCode) {
  const std::string function = "def f(x):\n    return MAX\n";
  for (const std::string before :
       {"MAX = 3000\n", "MAX: int = 3000\n", "sizes: dict[str, int] = {}\nMAX = 1\n",
        "sys.setrecursionlimit(10**6)\n", "import math\nMAX = 1\n", "@cache\n", "class A:\n    pass\n",
        "# the most\nMAX = 1\n"}) {
    EXPECT_EQ(ExtractCode(before + function, "f"), before + function);
    EXPECT_EQ(ExtractCode("```python\n" + before + function + "```\n", "f"), before + function);
    if (before[0] != '#') {
      EXPECT_EQ(ExtractCode("Here it is:\n" + before + function, "f"), before + function);
    }
  }
  for (const std::string prose :
       {"Here it is.\n", "x is the number:\n", "Note: it counts.\n", "e.g. f(1)\n", "A == B holds here:\n"})
    EXPECT_EQ(ExtractCode(prose + function, "f"), function) << prose;
}

TEST(MbppProgram, OfSeveralBlocksTheOneThatDefinesTheEntryPoint) {
  const std::vector<std::string> tests = {"assert set(common((1, 2), (2, 3))) == {2}"};
  const auto source = [&](const std::string& completion) {
    return MbppProgram(completion, "", tests, "common").source;
  };
  const std::string code = "def common(a, b):\n    return set(a) & set(b)\n";
  const std::string usage = "```python\nprint(common((1,), (1,)))\n```\n";
  EXPECT_EQ(source("Use it so:\n" + usage + "with\n```python\n" + code + "```\n"), code);
  EXPECT_EQ(source("```python\n" + code + "```\n" + usage), code);
  EXPECT_EQ(source("Here it is.\n" + code), code);
  // Where nothing defines it, the first block; what is called is then missing.
  EXPECT_EQ(source(usage + "```\nx = 1\n```"), "print(common((1,), (1,)))\n");
}

class Assembled : public SandboxTest {};

TEST_F(Assembled, CompletionsOfEveryShapePass) {
  const struct {
    const char *prompt, *completion, *test;
  } cases[] = {
      {"def f(x):\n", "    return x*x\n", "def check(c):\n    assert c(3) == 9\n"},
      {"def inc(v):\n    return v+1\n\ndef f(x):\n    \"\"\"Use inc.\"\"\"\n",
       "```python\ndef f(x):\n    return inc(x)*2\n```", "def check(c):\n    assert c(1) == inc(1)*2\n"},
      {"from typing import List\n\ndef f(a: List[int]) -> int:\n    \"\"\"Sum.\"\"\"\n",
       "from typing import List\n\ndef f(a: List[int]) -> int:\n    return sum(a)\n\nif __name__ == "
       "\"__main__\":\n"
       "    print(f([1]))\n    raise SystemExit\n",
       "def check(c):\n    assert c([1,2]) == 3\n"},
      {"def f(x):\n    \"\"\"Add one.\"\"\"\n", "```python\ndef f(x):\n  return x + 1\n```",
       "def check(c):\n    assert c(1) == 2\n"},
      {"def f(x):\n    \"\"\"Add one.\"\"\"\n", "```python\ndef f(x):\n\treturn x + 1\n```",
       "def check(c):\n    assert c(1) == 2\n"},
      {"def f(x):\n  \"\"\"Two spaces.\"\"\"\n", "def f(x):\n    return x\n",
       "def check(c):\n    assert c(1) == 1\n"},
  };
  for (const auto& each : cases) {
    const ProgramResult result = Run(HumanEvalProgram(each.prompt, each.completion, each.test, "f"));
    EXPECT_EQ(result.detail_text(), "passed") << each.completion << result.message;
    EXPECT_TRUE(result.suspicious.empty());
  }
}

TEST_F(Assembled, HelpersOfThePromptCannotBeRedefinedForTheTests) {
  const ProgramResult result =
      Run(HumanEvalProgram("def poly(x):\n    return x - 5\n\ndef f():\n    \"\"\"A root.\"\"\"\n",
                           "    return 1\ndef poly(x):\n    return 0\n",
                           "def check(c):\n    assert abs(poly(c())) < 1e-6\n", "f"));
  EXPECT_EQ(result.detail_text(), "assertion");
}

TEST_F(Assembled, EveryTestOfTheRecordRuns) {
  const std::vector<std::string> tests = {"assert add(2,3)==5", "assert add(-1,1)==0",
                                          "assert add(10,5)==15"};
  const ProgramResult constant = Run(MbppProgram("def add(a,b):\n    return 5\n", "", tests));
  EXPECT_EQ(constant.detail_text(), "assertion");
  EXPECT_EQ(constant.tests_run, 1);
  const ProgramResult right = Run(MbppProgram("def add(a,b):\n    return a + b\n", "", tests));
  EXPECT_EQ(right.detail_text(), "passed");
  EXPECT_EQ(right.tests_run, 3);
}

}  // namespace
}  // namespace fullband
