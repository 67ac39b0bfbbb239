#pragma once
// Numbers as people read them.

#include <string>
#include <string_view>

namespace kzoo {

// "63.6 us", "4.42 ms", "1.20 s": three digits.
std::string time_text(double ms);
// "481", "51400", "0.197": three digits, never an exponent.
std::string number_text(double x);
// "53.4 TFLOP/s", "137 MB": three digits, and the prefix that leaves fewest of them.
std::string quantity_text(double x, std::string_view unit);

}  // namespace kzoo
