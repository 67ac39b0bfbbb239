// Orders in which simulated threads run and copies arrive.
#include <kzoo/launch.hpp>

#include <cstdlib>
#include <set>
#include <string>

#include "sim_support.hpp"
#include "support/catch.hpp"

using kzoo::test::ContainsSubstring;
using kzoo::test::error_text;

namespace {

// The warp that is the last between two barriers.
__global__ void last_between_barriers(int* last) {
  __syncthreads();
  *last = static_cast<int>(threadIdx.x) / 32;
  __syncthreads();
}

__global__ void first_to_begin(int* first) { atomicCAS(first, -1, static_cast<int>(threadIdx.x)); }

int first_with(const std::string& seed) {
  setenv("KZOO_SIM_SCHEDULE", seed.c_str(), 1);
  int first = -1;
  kzoo::launch({.grid = dim3(1), .block = dim3(80)}, first_to_begin, &first);
  unsetenv("KZOO_SIM_SCHEDULE");
  return first;
}

int last_with(const std::string& seed) {
  setenv("KZOO_SIM_SCHEDULE", seed.c_str(), 1);
  int last = -1;
  kzoo::launch({.grid = dim3(1), .block = dim3(256)}, last_between_barriers, &last);
  unsetenv("KZOO_SIM_SCHEDULE");
  return last;
}

}  // namespace

TEST_CASE("a seed is an order of warps, always the same", "[sim]") {
  std::set<int> lasts;
  for (int seed = 0; seed <= 30; ++seed) {
    const int last = last_with(std::to_string(seed));
    CHECK(last_with(std::to_string(seed)) == last);
    lasts.insert(last);
  }
  CHECK(lasts.size() > 4);
}

TEST_CASE("with a seed any whole warp may begin", "[sim]") {
  std::set<int> firsts;
  for (int seed = 1; seed <= 30; ++seed) firsts.insert(first_with(std::to_string(seed)));
  CHECK(firsts == std::set<int>{0, 32});
  CHECK(first_with("0") == 0);
}

TEST_CASE("a schedule that is no number is refused", "[sim]") {
  CHECK_THAT(error_text(KZOO_ERROR, [] { last_with("x"); }),
             ContainsSubstring("KZOO_SIM_SCHEDULE is 'x', not a number"));
  unsetenv("KZOO_SIM_SCHEDULE");
}
