// What counts as the same answer, and what does not; each row in both directions, and without Python.
#include <gtest/gtest.h>

#include "evals/graders/math_answer.h"
#include "evals/graders/math_extract.h"
#include "evals/graders/text_graders.h"

namespace fullband {
namespace {

struct Row {
  const char *a, *b;
  bool same;
};

void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const auto ask = [&](const MathNode&, const MathNode&) {
      ADD_FAILURE() << "asked the worker about " << row.a << " and " << row.b;
      return false;
    };
    EXPECT_EQ(SameAnswer(row.a, row.b, ask).same, row.same) << row.a << " and " << row.b;
    EXPECT_EQ(SameAnswer(row.b, row.a, ask).same, row.same) << row.b << " and " << row.a;
    EXPECT_TRUE(SameAnswer(row.a, row.a, ask).same) << row.a;
    EXPECT_TRUE(SameAnswer(row.b, row.b, ask).same) << row.b;
  }
}

TEST(MathAnswer, Numbers) {
  Check({{"5", "5.0", true},
         {"5", "05", true},
         {"-5",
          "\xE2\x88\x92"
          "5",
          true},
         {"5", "-5", false},
         {"+5", "5", true},
         {"0.5", ".5", true},
         {".5", "\\frac12", true},
         {"0.\\overline{3}", "\\frac13", true},
         {"0.1\\overline{6}", "\\frac16", true},
         {"0.\\overline{3}", "0.33333", false},
         {"0.67", "\\frac23", false},
         {"3.14", "\\pi", false},
         {"12345678901234567890", "12345678901234567891", false},
         {"12345678901234567890", "12345678901234567890.0", true},
         {"0.1", "0.10000000000000000001", false},
         {"10,\\!080", "10080", true},
         {"11,\\! 111,\\! 111,\\! 100", "11111111100", true},
         {"58,500", "58500", true},
         {"58{,}500", "58500", true},
         {"58\\,500", "58,500", true},
         {"58 500", "58500", true},
         {"1,234,567", "1234567", true},
         {"12,34", "1234", false},
         {"1,2345", "12345", false},
         {"1,000", "1", false},
         {"0,123", "123", false},
         {"1.000", "1000", false},
         {"2^{10}", "1024", true},
         {"2^{-1}", "0.5", true},
         {"10^{100}", "1", false},
         {"6.02 \\times 10^{23}", "602000000000000000000000", true},
         {"1.5e3", "1500", true},
         {"1.5e-3", "0.0015", true},
         {"1.5e3", "1.5", false},
         {"2e", "2 \\cdot e", true},
         {"\\lfloor\\pi\\rfloor", "3", true},
         {"\\lceil\\pi\\rceil", "3", false},
         {"5!", "120", true},
         {"\\binom{5}{2}", "10", true},
         {"|-3|", "3", true},
         {"\\lfloor 2.5 \\rfloor", "2", true},
         {"\\lceil 2.5 \\rceil", "2", false},
         {"\\gcd(12, 18)", "6", true},
         {"-\\infty", "\\infty", false},
         {"+\\infty", "\\infty", true},
         {"\\infty", "7", false}});
}

TEST(MathAnswer, Fractions) {
  Check({{"\\frac{2}{4}", "\\frac12", true},
         {"\\frac 59", "\\dfrac{5}{9}", true},
         {"\\frac9{19}", "9/19", true},
         {"\\frac{270}7", "\\frac{270}{7}", true},
         {"-\\frac{1}{2}", "\\frac{-1}{2}", true},
         {"\\frac{1}{-2}", "-0.5", true},
         {"\\frac{1}{2}", "\\frac{2}{1}", false},
         {"3/4", "3", false},
         {"3/4", "4", false},
         {"1\\frac45", "\\frac95", true},
         {"1\\frac{1}{2}\\text{ cups}", "1.5", true},
         {"1\\frac{1}{2}\\text{ cups}", "0.5", false},
         {"12\\frac12\\%", "12.5", true},
         {"137 \\frac{1}{2}", "137.5", true},
         {"137 1/2", "137.5", true},
         {"-1\\frac12", "-\\frac32", true},
         {"-1\\frac12", "-\\frac12", false},
         {"1\\frac12", "\\frac12", false},
         {"2\\cdot\\frac12", "1", true},
         {"\\frac{\\frac12}{3}", "\\frac16", true},
         {"\xC2\xBD", "0.5", true},
         {"3\xC2\xBD", "3.5", true},
         {"\\frac{1}{0}", "7", false},
         {"\\frac{x}{2}", "\\frac12 x", true},
         {"\\frac{x^2-1}{x-1}", "x+1", true},
         {"\\frac{1}{x}", "x^{-1}", true},
         {"\\frac{1}{x}", "x", false}});
}

TEST(MathAnswer, RootsAndConstants) {
  Check({{"\\sqrt{12}", "2\\sqrt3", true},
         {"\\sqrt{12}", "3\\sqrt2", false},
         {"\\frac{\\sqrt3}{3}", "\\frac1{\\sqrt3}", true},
         {"\\frac{1}{1+\\sqrt2}", "\\sqrt2-1", true},
         {"\\sqrt{2}\\sqrt{3}", "\\sqrt6", true},
         {"\\sqrt2+\\sqrt3", "\\sqrt5", false},
         {"\\sqrt{3+2\\sqrt2}", "1+\\sqrt2", true},
         {"\\sqrt{3+2\\sqrt2}", "1+\\sqrt3", false},
         {"\\sqrt[3]{54}", "3\\sqrt[3]{2}", true},
         {"\\sqrt[3]{-8}", "-2", true},
         {"\\sqrt{-4}", "2i", true},
         {"8^{2/3}", "4", true},
         {"\xE2\x88\x9A"
          "12",
          "2\\sqrt{3}", true},
         {"sqrt(12)", "2\\sqrt3", true},
         {"\\sqrt{1000000000000000000000000000057}", "1000000000000000", false},
         {"\\sqrt{10000000000000000000000000000000000000000}", "100000000000000000000", true},
         {"6-5i", "-5i+6", true},
         {"6-5i", "6+5i", false},
         {"(1+i)^2", "2i", true},
         {"i^2", "-1", true},
         {"288\\pi", "\\pi \\cdot 288", true},
         {"\\pi", "3.14159265358979", false},
         {"\\frac{20000}{\\pi}", "20000\\pi^{-1}", true},
         {"18+2\\pi", "2(9+\\pi)", true},
         {"e^2", "e\\cdot e", true},
         {"\\log_2 8", "3", true},
         {"\\log_2 9", "3", false},
         {"\\ln e^3", "3", true},
         {"\\cos\\frac{\\pi}{3}", "\\frac12", true},
         {"\\sin 30^\\circ", "2", false},
         {"\\arctan 1", "\\frac{\\pi}{4}", true},
         {"\\frac{\\sqrt{6}+\\sqrt{2}}{4}", "\\sin\\frac{5\\pi}{12}", true}});
}

TEST(MathAnswer, PercentUnitsCurrency) {
  Check({{"10\\%", "10", true},
         {"10\\%", "0.1", true},
         {"10%", "\\frac{1}{10}", true},
         {"-10\\%", "-10", true},
         {"-10\\%", "-0.1", true},
         {"-10\\%", "10", false},
         {"-5\\text{ cm}", "-5\\text{ m}", false},
         {"2\\sqrt3\\text{ cm}", "2\\sqrt{3}", true},
         {"10\\%", "1\\%", false},
         {"10\\%", "1", false},
         {"\\$32,\\!348", "32348", true},
         {"\\$18.90", "18.9", true},
         {"\xE2\x82\xAC"
          "5",
          "5", true},
         {"\\text{\\$5}", "5", true},
         {"90^\\circ", "90^{\\circ}", true},
         {"90\xC2\xB0", "90", true},
         {"90\\text{ degrees}", "90^\\circ", true},
         {"90^\\circ", "91", false},
         {"5\\text{ cm}", "5\\text{ m}", false},
         {"5\\text{ cm}", "5\\text{ centimeters}", true},
         {"5\\text{ cm}", "5 cm", true},
         {"5\\mbox{ cm}^2", "5 \\text{ cm}^{2}", true},
         {"5\\text{ cm}^2", "25", false},
         {"5\\,\\mathrm{m}/\\mathrm{s}", "5", true},
         {"60 \\text{ miles per hour}", "60", true},
         {"18 apples", "18", true},
         {"18 apples", "17", false},
         {"5.4 \\text{ cents}", "5.4", true},
         {"864 \\mbox{ inches}^2", "864", true},
         {"x=5\\text{ cm}", "5", true}});
}

TEST(MathAnswer, Collections) {
  Check({{"1,-2", "-2,1", true},
         {"1,-2", "1,2", false},
         {"3, 5, 7", "3, 5 \\text{ and } 7", true},
         {"3, 5, 7", "3 and 5, and 7", true},
         {"3, 5, 7", "3,5", false},
         {"\\{1,2\\}", "\\{2,1\\}", true},
         {"\\{1,2,2\\}", "\\{2,1\\}", true},
         {"\\{1,2\\}", "1,2", true},
         {"\\{5\\}", "5", true},
         {"\\emptyset", "\\{\\}", true},
         {"\\emptyset", "\\{0\\}", false},
         {"1 \\pm \\sqrt{19}", "1+\\sqrt{19}, 1-\\sqrt{19}", true},
         {"1 \\pm \\sqrt{19}", "1 \\mp \\sqrt{19}", true},
         {"1 \\pm \\sqrt{19}", "1+\\sqrt{19}", false},
         {"\\{1\\pm\\sqrt{5},-2\\}", "-2, 1-\\sqrt5, 1+\\sqrt5", true},
         {"\\pm 7", "7,-7", true},
         {"x=\\pm 7", "\\pm 7", true},
         {"x=2, x=3", "2,3", true},
         {"x=2 \\text{ or } x=3", "3,2", true},
         {"100,200,300", "300,200,100", true},
         {"100, 200", "200, 100", true},
         {"(1,2)", "(2,1)", false},
         {"(1,2)", "1,2", false},
         {"(1,2)", "[1,2]", false},
         {"(1,2)", "\\{1,2\\}", false},
         {"(12,102)", "(12, 102)", true},
         {"(2,12) \\cup (12,102)", "(12, 102) \\cup (2, 12)", true},
         {"(2,12) \\cup (12,102)", "(2,12)", false},
         {"(\\frac12, 0.5)", "\\left( 0.5, \\tfrac12 \\right)", true},
         {"(x,y) = (1,2)", "(1,2)", true},
         {"(1,2,3)", "(1,2)", false},
         {"\\langle 1,2 \\rangle", "(1,2)", true},
         {"3:4", "3 : 4", true},
         {"3:4", "4:3", false}});
}

TEST(MathAnswer, IntervalsAndInequalities) {
  Check({{"(3,4]", "\\left(3, 4\\right]", true},
         {"(3,4]", "(3,4)", false},
         {"(3,4]", "[3,4]", false},
         {"(-\\infty, 0]", "x \\le 0", true},
         {"(-\\infty, 0)", "x \\le 0", false},
         {"x \\in [-2,7]", "[-2,7]", true},
         {"x \\in [-2,7]", "-2 \\le x \\le 7", true},
         {"x \\in [-2,7]", "7 \\ge x \\ge -2", true},
         {"x \\in [-2,7]", "-2 < x \\le 7", false},
         {"x > 3", "3 < x", true},
         {"x > 3", "x >= 3", false},
         {"x > 3", "x < 3", false},
         {"x > 3", "y > 3", false},
         {"2x > 6", "x > 3", true},
         {"-2x > 6", "x > -3", false},
         {"-2x > 6", "x < -3", true},
         {"(-\\infty,2)\\cup(3,\\infty)", "x<2 \\text{ or } x>3", true},
         {"(-\\infty,2)\\cup(2,\\infty)", "x \\ne 2", true},
         {"x \\le y", "y \\ge x", true},
         {"x \\le y", "x \\ge y", false}});
}

TEST(MathAnswer, EquationsAndLabels) {
  Check({{"x=5", "5", true},
         {"x=5", "x = 5", true},
         {"x=5", "y=5", false},
         {"x=5", "6", false},
         {"f(x)=2x+1", "2x+1", true},
         {"y = 2x + 3", "2x - y + 3 = 0", true},
         {"y = 2x + 3", "y - 2x = 3", true},
         {"y = 2x + 3", "y - 2x = 4", false},
         {"5x - 7y + 11z + 4 = 0", "-5x + 7y - 11z - 4 = 0", true},
         {"5x - 7y + 11z + 4 = 0", "10x - 14y + 22z + 8 = 0", true},
         {"5x - 7y + 11z + 4 = 0", "5x - 7y + 11z - 4 = 0", false},
         {"\\sqrt2 x = 2", "x = \\sqrt2", true},
         {"A = \\frac12 \\cdot 6 = 3", "3", true},
         {"\\text{Area} = 12", "12", true},
         {"\\frac{22}{7} \\approx 3.14", "\\frac{22}{7}", true},
         {"x \\approx 3.14", "3.14", true},
         {"x^2+y^2=1", "y^2+x^2=1", true},
         {"x^2+y^2=1", "x^2-y^2=1", false}});
}

TEST(MathAnswer, Polynomials) {
  Check({{"x^2+2x+1", "(x+1)^2", true},
         {"(a+5)(b+2)", "ab+2a+5b+10", true},
         {"p - q", "-q + p", true},
         {"p - q", "q - p", false},
         {"\\frac{11+9a}{20}", "\\frac{9a+11}{20}", true},
         {"\\frac{11+9a}{20}", "0.45a+0.55", true},
         {"6r^2-4r-24", "2(3r^2-2r-12)", true},
         {"6r^2-4r-24", "6r^2-4r+24", false},
         {"2k+2", "2(k+1)", true},
         {"3R^2", "3r^2", false},
         {"x_1+x_2", "x_2+x_{1}", true},
         {"x_1", "x_2", false},
         {"x'", "x", false},
         {"\\alpha+\\beta", "\\beta+\\alpha", true},
         {"2x", "x^2", false},
         {"5r^5", "5r^{5}", true},
         {"xy", "yx", true},
         {"2abcd", "2dcba", true},
         {"2abcd", "2", false},
         {"x(y+1)", "xy+x", true}});
}

TEST(MathAnswer, WordsAndLetters) {
  Check({{"\\text{Evelyn}", "Evelyn", true},
         {"\\text{ellipse}", "\\text{Ellipse.}", true},
         {"\\text{east}", "\\text{west}", false},
         {"\\text{(C)}", "(C)", true},
         {"\\textbf{(C)}", "\\text{C}", true},
         {"\\text{(C)}", "D", false},
         {"\\text{(C)}", "\\textbf{(C)}\\ 7", true},
         {"\\text{(C)}", "\\textbf{(B)}\\ 7", false},
         {"\\text{(C)}", "\\textbf{(C) }\\frac12", true},
         {"\\mathrm{even}", "\\text{even}", true},
         {"\\text{no solution}", "\\text{No  solution}", true},
         {"\\text{no solution}", "\\text{one solution}", false},
         {"AB", "ab", false},
         {"\\text{13}", "13", true},
         {"\\text{13}", "31", false}});
}

TEST(MathAnswer, Bases) {
  Check({{"2516_8", "2516_{8}", true},
         {"2516_8", "2516_{\\text{eight}}", true},
         {"2516_8", "2516", true},
         {"x = 2516_8", "2516_8.", true},
         {"x = 2516_8", "2516_9", false},
         {"2516_8", "2516_9", false},
         {"2516_8", "2517_8", false},
         {"2516_8", "1358", false},
         {"\\text{A3}_{16}", "A3_{16}", true},
         {"4210_{5}", "4210_5", true}});
}

TEST(MathAnswer, Matrices) {
  Check({{"\\begin{pmatrix} -1/3 \\\\ 2/3 \\\\ 5/3 \\end{pmatrix}",
          "\\begin{bmatrix}-\\frac13\\\\\\frac23\\\\\\frac53\\end{bmatrix}", true},
         {"\\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\end{pmatrix}",
          "\\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\\\ \\end{pmatrix}", true},
         {"\\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\end{pmatrix}",
          "\\begin{pmatrix} 0 & 1 \\\\ 1 & 0 \\end{pmatrix}", false},
         {"\\begin{pmatrix} 1 & 2 \\end{pmatrix}", "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", false},
         {"\\frac15\\begin{pmatrix} 1 \\\\ -18 \\end{pmatrix}",
          "\\begin{pmatrix} 1/5 \\\\ -18/5 \\end{pmatrix}", true},
         {"-\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "\\begin{pmatrix} -1 \\\\ -2 \\end{pmatrix}", true}});
}

TEST(MathAnswer, WhatIsNotUnderstoodEqualsOnlyItself) {
  Check({{"\\left\\{ x \\mid x>0 \\right\\}", "\\{x\\mid x>0\\}", true},
         {"\\left\\{ x \\mid x>0 \\right\\}", "\\{x\\mid x<0\\}", false},
         {"\\int_0^1 x\\,dx", "\\int_0^1xdx", true},
         {"\\frac{1}{", "1", false},
         {"((", ")", false},
         {"1\\int", "1", false}});
  EXPECT_FALSE(SameAnswer("", "", {}).same);
}

// A chain is a tree as tall as it is long, which walking it must not overflow the stack for.
TEST(MathAnswer, OfChainsThoseOfSomeHundredAreUnderstood) {
  const auto chain = [](const std::string& link, int count) {
    std::string text = "1";
    for (int i = 0; i < count; ++i) text += link;
    return text;
  };
  for (const char* link : {"/1", "\\cdot 1", "x", "\\div 1", "!"}) {
    const std::string one = chain(link, 300), more = chain(link, 301), tall = chain(link, 1900);
    const bool grows = link == std::string("x");
    Check({{one.c_str(), more.c_str(), !grows}, {one.c_str(), tall.c_str(), false}});
  }
}

TEST(MathExtract, Finds) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"So $\\boxed{4}$ and then \\boxed{5}.", "5"},
      {"\\boxed{\\boxed{3}}", "3"},
      {"\\boxed{\\text{one } \\boxed{3}}", "\\text{one } \\boxed{3}"},
      {"\\boxed{} after \\boxed{2}, \\boxed{ }", "2"},
      {"$\\boxed 12$ is it", "12"},
      {"\\boxed\\frac12", "\\frac12"},
      {"\\(\\boxed x\\)", "x"},
      {"\\boxed{1} \\boxed{2", "1"},
      {"{ open \\boxed{1}", "1"},
      {"} closed \\boxed{1}", "1"},
      {"\\\\boxed{9} The answer is 4.", "4"},
      {"\\boxedx{9} The answer is 4.", "4"},
      {"\\boxed{7}\nFinal Answer: The final answer is $8$. I hope it is correct.", "7"},
      {"Final Answer: The final answer is $\\frac{1}{2}$. I hope it is correct.", "\\frac{1}{2}"},
      {"The answer is 2.5 apples. Good.", "2.5 apples"},
      {"**Answer:** \\(x^2\\)", "x^2"},
      {"The answer is 3.\nNo: the answer is 4.", "4"},
      {"The answer is then $5$", "5"},
      {"The answer is \\$5", "\\$5"},
      {"#### 12", "12"},
      {"x = 7", "x = 7"},
      {"\\frac{3}{4}", "\\frac{3}{4}"},
      {"We get $x=3$, so $y=4$ follows from that", "y=4"},
      {"We get then in the end 3 and so on for 12 of them", "12"},
  };
  for (const auto& [text, expected] : rows) {
    const auto answer = FindMathAnswer(text);
    ASSERT_TRUE(answer) << text;
    EXPECT_EQ(answer->text, expected) << text;
  }
  for (const char* text : {"", " \n", "nothing at all is here to be found", "\\boxed{}"})
    EXPECT_FALSE(FindMathAnswer(text) && FindMathAnswer(text)->marked) << text;
  EXPECT_FALSE(FindMathAnswer("nothing at all is here to be found"));
}

TEST(Math, Outcomes) {
  EXPECT_EQ(GradeMath({"\\boxed{3}", "3"}).outcome, Outcome::kCorrect);
  EXPECT_EQ(GradeMath({"\\boxed{3}", "3"}).score, 1);
  EXPECT_EQ(GradeMath({"\\boxed{3}", "thus $\\boxed{3}$"}).outcome, Outcome::kCorrect);
  EXPECT_EQ(GradeMath({"\\boxed{3}", "4"}).outcome, Outcome::kIncorrect);
  EXPECT_EQ(GradeMath({"", "4"}).detail, "empty");
  EXPECT_EQ(GradeMath({"nothing at all is here to be found", "4"}).outcome, Outcome::kNoAnswer);
  EXPECT_EQ(GradeMath({"\\boxed{3}", " "}).outcome, Outcome::kFault);
  EXPECT_EQ(GradeMath({"3", "3"}).detail, "unmarked");
  EXPECT_EQ(GradeMath({"<think>\\boxed{3}</think>\\boxed{4}", "3"}).outcome, Outcome::kIncorrect);
  EXPECT_EQ(GradeMath({"<think>so \\boxed{3}", "3"}).outcome, Outcome::kNoAnswer);
  EXPECT_EQ(GradeMath({"<think>so \\boxed{3}", "3"}).detail, "truncated_in_thought");
  EXPECT_EQ(GradeMath({"I say <think>so \\boxed{3}", "3"}).outcome, Outcome::kNoAnswer);
  EXPECT_EQ(GradeMath({"\\boxed{4}<think>\\boxed{3}</think>", "3"}).outcome, Outcome::kIncorrect);
  EXPECT_EQ(FindGrader("math").grade, &GradeMath);
  EXPECT_EQ(FindGrader("math_verify").grade, &GradeMathVerify);
}

}  // namespace
}  // namespace fullband
