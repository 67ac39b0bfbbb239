#include "support/skip.hpp"

#include "devices/devices.hpp"

#include <cstdlib>
#include <iostream>

namespace kzoo::test {

void skip(const std::string& why) {
  constexpr int kSkipped = 77;  // as in tests/CMakeLists.txt
  std::cerr << "skipped: " << why << '\n';
  std::exit(kSkipped);
}

void needs_gpu() {
  if (const std::string why = devices::why_no_cuda(); !why.empty()) skip(why);
}

}  // namespace kzoo::test
