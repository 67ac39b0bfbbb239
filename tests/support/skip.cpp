#include "support/skip.hpp"

#include "devices/devices.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <iostream>

namespace kzoo::test {

void skip(const std::string& why) {
  constexpr int kSkipped = 77;  // as in tests/CMakeLists.txt
  std::cerr << "skipped: " << why << '\n';
  std::exit(kSkipped);
}

void needs_gpu() {
  if (const auto why = devices::why_no_cuda()) skip(*why);
}

void needs_landlock() {
  constexpr long kCreate = 444;
  if (syscall(kCreate, nullptr, std::size_t{0}, 1u) < 6) skip("this kernel has no Landlock 6");
}

}  // namespace kzoo::test
