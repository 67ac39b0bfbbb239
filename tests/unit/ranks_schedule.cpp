// How problems are divided among devices.
#include "ranks/schedule.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <map>

using namespace kzoo;
using ranks::job;

namespace {

// Problems of `others` kernels and a baseline.
std::vector<job> squares(const std::vector<double>& sizes, std::size_t others) {
  std::vector<job> jobs;
  for (const double n : sizes) jobs.push_back({jobs.size(), 2 * n * n * n, 1, others});
  return jobs;
}

// The number of shares of each problem, each of which must be there once.
std::map<std::size_t, std::size_t> shares_of(const std::vector<job>& jobs, std::size_t devices) {
  std::map<std::size_t, std::size_t> seen, count;
  for (const run::share& s : ranks::schedule(jobs, devices)) {
    CHECK(s.index < s.count);
    ++seen[s.problem];
    count[s.problem] = s.count;
  }
  CHECK(seen == count);
  return count;
}

}  // namespace

TEST_CASE("one problem is divided among all devices", "[ranks]") {
  CHECK(shares_of(squares({512}, 20), 4) == std::map<std::size_t, std::size_t>{{0, 4}});
  CHECK(shares_of(squares({512}, 2), 4) == std::map<std::size_t, std::size_t>{{0, 2}});
  CHECK(shares_of(squares({512}, 0), 4) == std::map<std::size_t, std::size_t>{{0, 1}});
}

TEST_CASE("problems are divided only where that ends the run earlier", "[ranks]") {
  for (const auto& [problem, count] : shares_of(squares(std::vector<double>(8, 512), 20), 4))
    CHECK(count == 1);
  const auto count = shares_of(squares({512, 1024, 2048, 4096, 8192, 16384}, 25), 4);
  CHECK(count.at(5) > 1);
  CHECK(count.at(0) == 1);
}

TEST_CASE("a problem without a baseline, or begun before, is not divided", "[ranks]") {
  CHECK(shares_of({{0, 1e12, 0, 20}, {1, 1e9, 1, 20}}, 4).at(0) == 1);
}

TEST_CASE("the longest share is first", "[ranks]") {
  const auto all = ranks::schedule(squares({512, 16384, 4096}, 25), 2);
  CHECK(all.front().problem == 1);
  CHECK(all.back().problem == 0);
}
