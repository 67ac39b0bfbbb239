#include "run/device_memory.hpp"

#include "support/catch.hpp"

using kzoo::run::leaks;
using kzoo::worker::memory_report;

namespace {

constexpr std::int64_t kNeeded = 3'000'000'000;

memory_report kept_on_device(std::int64_t bytes, std::int64_t free) {
  return {0, bytes, free, "", false};
}

}  // namespace

TEST_CASE("memory that is kept so that others have too little is a leak at once") {
  leaks greedy;
  greedy.add(kept_on_device(148'000'000'000, 2'000'000), kNeeded);
  const auto found = greedy.found();
  REQUIRE(found);
  CHECK(found->is_large);
  CHECK(found->words ==
        "keeps 148.0 GB of device memory when it is destroyed: 0.0 GB are free then, and others "
        "need 3.0 GB");

  leaks has_tables;  // on a small GPU, where many processes have a context
  has_tables.add(kept_on_device(300'000'000, 2'000'000), kNeeded);
  CHECK_FALSE(has_tables.found());

  leaks keeps_a_pool;  // from which nobody suffers
  keeps_a_pool.add(kept_on_device(8'000'000'000, 90'000'000'000), kNeeded);
  CHECK_FALSE(keeps_a_pool.found());
}

TEST_CASE("memory that each turn keeps is a leak") {
  leaks large, small, first_turns_only, new_processes;
  for (int turn = 0; turn < 4; ++turn) {
    large.add(kept_on_device(32 << 20, kNeeded), 0);
    small.add(memory_report{97 << 10, 0, kNeeded, "", turn == 0}, 0);
    first_turns_only.add(kept_on_device(turn < 2 ? 64 << 20 : 0, kNeeded), 0);
    new_processes.add(memory_report{0, 64 << 20, kNeeded, "", true}, 0);
  }
  REQUIRE(large.found());
  CHECK(large.found()->is_large);
  REQUIRE(small.found());
  CHECK_FALSE(small.found()->is_large);
  CHECK_FALSE(first_turns_only.found());
  CHECK_FALSE(new_processes.found());
}
