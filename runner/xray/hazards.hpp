#pragma once
// Accesses that are wrong on a GPU, whatever the simulator makes of them: accesses out of bounds,
// races, reads of what is uninitialised and misaligned ones.

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

// Where something in the library's code is: an access, and the calls that led to it, innermost
// first. In bytes from the library's beginning, of the instruction after it.
struct code_place {
  std::uint32_t pc = 0;
  std::vector<std::uint32_t> callers;
  auto operator<=>(const code_place&) const = default;
};

// What causes others comes first: findings are told in this order.
enum class hazard : std::uint8_t {
  shared_bounds,  // an index outside its array, or an address outside dynamic shared memory
  global_write_bounds,
  global_read_bounds,
  shared_race,       // two threads of a block, no barrier between them
  global_race,       // two blocks
  shared_unwritten,  // a read of what nobody wrote
  global_unwritten,
  global_unwritten_sum,  // an atomic operation on what nobody wrote
  misaligned
};

using dimensions = std::array<std::uint32_t, 3>;

// What was wrong where, and the first time that it was.
struct hazard_record {
  hazard what{};
  code_place first, second;  // second: of a race, the access before
  std::string detail;        // "threads 0 and 33 of block 2"
  std::uint64_t count = 0;   // accesses of threads
};

// The hazards of a run, from all OS threads.
class hazard_log {
 public:
  // One launch at a time, before its blocks.
  void begin_launch(const dimensions& grid, const dimensions& block);
  // Their places in the launch: "7", or "(7,0,0)" where it has several dimensions.
  std::string block_name(std::uint64_t block) const;
  std::string thread_name(std::uint32_t thread) const;
  // A number for a place: the same for the same place.
  std::uint32_t number_of(const code_place& place);
  // `detail` is called for the first of its kind. `second` is `first` where there is one place.
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
  std::mutex mutex_;  // of all below
  std::map<code_place, std::uint32_t> numbers_;
  std::vector<code_place> places_;
  std::map<std::tuple<hazard, std::uint32_t, std::uint32_t>, entry> found_;
};

inline constexpr unsigned kWordBytes = 4;  // what shadows keep account of

enum class touch : std::uint8_t { read, write, atomic };

// The lanes of a warp that access memory together.
struct touching_warp {
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
  std::uint32_t interval = 0;  // barriers of its block before
  std::uint32_t place = 0;     // of hazard_log
  touch how{};
  // An operation of the whole warp. It may load fragments ahead, and read what nobody wrote for the
  // last, which is never used.
  bool together = false;
  const std::array<std::uint16_t, kWarp>* meetings =
      nullptr;  // of each lane with others of its warp
};

}  // namespace kzoo::xray
