// How many standard errors an interval reaches to either side.
#pragma once

namespace fullband {

// Of a normal distribution: 1.96 for the level 0.95. Throws std::invalid_argument unless 0 < level < 1.
double NormalReach(double level);

// Of Student's t with so many degrees of freedom, which need not be whole. Throws std::invalid_argument as
// NormalReach does, and unless degrees > 0.
double StudentReach(double level, double degrees);

}  // namespace fullband
