#pragma once
// Accesses that are wrong on a GPU, even if the simulator tolerates them.

#include "xray/transactions.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace kzoo::xray {

// An access in the library's code and its calls, innermost first; offsets of the next instruction.
struct code_place {
  std::uint32_t pc = 0;
  std::vector<std::uint32_t> callers;
  auto operator<=>(const code_place&) const = default;
};

// In the order of reports: causes come first.
enum class hazard : std::uint8_t {
  shared_bounds,  // an index outside its array, or an address outside dynamic shared memory
  global_write_bounds,
  global_read_bounds,
  shared_race,       // two threads of a block, no barrier between them
  global_race,       // two blocks
  shared_unwritten,  // a read of unwritten memory
  global_unwritten,
  global_unwritten_sum,  // an atomic operation on unwritten memory
  misaligned
};

using dimensions = std::array<std::uint32_t, 3>;

// A hazard at a place, with its first occurrence.
struct hazard_record {
  hazard what{};
  code_place first, second;  // second: the earlier access of a race
  std::string detail;        // "threads 0 and 33 of block 2"
  std::uint64_t count = 0;   // accesses of threads
};

// The hazards of a run, from all OS threads.
class hazard_log {
 public:
  // Begins a launch, before its blocks. Launches do not overlap.
  void begin_launch(const dimensions& grid, const dimensions& block);
  // Their places in the launch: "7", or "(7,0,0)" with several dimensions.
  std::string block_name(std::uint64_t block) const;
  std::string thread_name(std::uint32_t thread) const;
  // Equal places have the same number.
  std::uint32_t number_of(const code_place& place);
  // Calls `detail` for the first hazard of its kind. `second`: equal to `first` for a single place.
  template <class Detail>
  void add(hazard what, std::uint32_t first, std::uint32_t second, const Detail& detail) {
    const std::lock_guard lock(mutex_);
    entry& e = found_[{what, first, second}];
    if (e.count++ == 0) e.detail = detail();
  }
  std::vector<hazard_record> take();

 private:
  struct entry {
    std::string detail;
    std::uint64_t count = 0;
  };
  dimensions grid_{}, block_{};
  std::mutex mutex_;  // guards the members below
  std::map<code_place, std::uint32_t> numbers_;
  std::vector<code_place> places_;
  std::map<std::tuple<hazard, std::uint32_t, std::uint32_t>, entry> found_;
};

inline constexpr unsigned kWordBytes = 4;  // granularity of shadows

enum class touch : std::uint8_t { read, write, atomic };

// The lanes of a warp that access memory together.
struct touching_warp {
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
  std::uint32_t interval = 0;  // earlier barriers of its block
  std::uint32_t place = 0;     // number in hazard_log
  touch how{};
  // A whole-warp operation. It may read ahead, past the written memory, for an unused fragment.
  bool together = false;
  const std::array<std::uint16_t, kWarp>* meetings =
      nullptr;  // of each lane with others of its warp
};

}  // namespace kzoo::xray
