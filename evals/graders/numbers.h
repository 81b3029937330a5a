// Numbers as people and models write them: finding them in a text, and comparing their exact values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fullband {

// One number of a text.
struct NumberToken {
  size_t begin = 0, end = 0;  // bytes of the text, sign and currency included
  std::string text;           // cleaned: "-5", "70000", "72.00", "3/4", "2 1/2", "1e3"
  bool value = true;  // false: a time, date, range of dots, power, root, ... whose parts are no answer
};

// All numbers, in order, in time linear in the text's length. Read as part of a number: a sign (also the
// Unicode ones) where no operand stands before it, currency before or after the sign, thousands separators
// (`,` `{,}` `\,`
// `\!` apostrophes, underscores, non-breaking spaces; groups of three, or of two and three as in India), a
// decimal part, a power of ten (1e3), fractions (3/4, \frac{3}{4}, ½) and mixed numbers (2 1/2). A full stop
// that no digit follows is not. Digits that belong to a name (x1, a_2) are skipped.
std::vector<NumberToken> ScanNumbers(std::string_view text);

// Whether two cleaned texts have the same value, exactly: 72 = 72.00 = 144/2. False where either is no value.
bool SameNumber(std::string_view a, std::string_view b);

}  // namespace fullband
