#include "reports/statistics/critical.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <stdexcept>

namespace fullband {

namespace {

double Tail(double level) {
  if (!(level > 0 && level < 1)) throw std::invalid_argument("the level of an interval is between 0 and 1");
  return (1 - level) / 2;
}

}  // namespace

double NormalReach(double level) {
  return boost::math::quantile(boost::math::complement(boost::math::normal(), Tail(level)));
}

double StudentReach(double level, double degrees) {
  if (!(degrees > 0)) throw std::invalid_argument("StudentReach: degrees of freedom are more than 0");
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), Tail(level)));
}

}  // namespace fullband
