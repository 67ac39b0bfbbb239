#pragma once
// Numbers with units, formatted for people.

#include <string>
#include <string_view>

namespace kzoo {

// "63.6 us", "4.42 ms", "1.20 s": three significant digits.
std::string time_text(double ms);
// "481", "51400", "0.197": three significant digits, never an exponent.
std::string number_text(double x);
// "53.4 TFLOP/s", "137 MB": three significant digits, an SI prefix, below 1000.
std::string quantity_text(double x, std::string_view unit);

}  // namespace kzoo
