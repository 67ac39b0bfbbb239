#pragma once
// Accesses that are wrong on a GPU, even if the simulator tolerates them, and the shadows of memory
// that show them.

#include "data/matrix.hpp"
#include "xray/counters.hpp"

#include <kzoo/xray.h>

#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
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
  void add(hazard kind, std::uint32_t first, std::uint32_t second, const Detail& detail) {
    const std::lock_guard lock(mutex_);
    entry& e = found_[{kind, first, second}];
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
  // Set if its block has barriers that are not followed: only writes are noted.
  bool unordered = false;
  const std::array<std::uint16_t, kWarp>* meetings =
      nullptr;  // each lane's meetings with others of its warp
};

// The accesses of a block's threads to each word of its shared memory.
class shared_shadow {
 public:
  explicit shared_shadow(hazard_log& log) : log_(log) {}

  // Begins a block, with nothing written in these ranges.
  void begin_block(const kzoo_xray_range& static_shared, const kzoo_xray_range& dynamic_shared);
  void access(const touching_warp& who, const warp_access& a);

 private:
  // The last access of a kind in the interval.
  struct side {
    std::uint64_t epoch = 0;  // block and interval; 0: none
    std::uint32_t place = 0;
    std::uint16_t thread = 0, meetings = 0;
    std::uint8_t bytes = 0;  // the word's bytes, a bit each
    bool atomic = false;
  };
  struct word {
    side writer, reader, other_reader;
    std::uint64_t written_in = 0;  // block
    std::uint8_t written = 0;      // its bytes
  };
  struct region {
    kzoo_xray_range range{};
    std::vector<word> words;
  };

  word* word_at(std::uint64_t address);
  void touch_word(word& w, const touching_warp& who, const side& now);
  void check(const side& before, const side& now, const touching_warp& who);

  hazard_log& log_;
  std::array<region, 2> regions_;
  std::uint64_t block_ = 0;  // counts the blocks of this OS thread, from 1
};

// A matrix, or the workspace, with redzones around it.
struct global_buffer {
  const char* name = "";                         // "C"; a literal, since it is kept
  std::uint64_t begin = 0, end = 0;              // its elements
  std::uint64_t outer_begin = 0, outer_end = 0;  // with the redzones
  bool filled = false;                           // before the kernel runs; else it is poison
  bool input = false;  // A or B: only bounds are watched. The judge sees writes
  unsigned element_bytes = 1;
  std::uint64_t row_bytes = 0;  // from row to row; 0: no matrix
  data::matrix spec{};          // describes the words from outer_begin on
};

// The accesses of a launch's blocks to each word of global memory. Thread-safe.
class global_shadow {
 public:
  explicit global_shadow(hazard_log& log) : log_(log) {}

  void add(const global_buffer& buffer);
  bool contains(std::uint64_t address) const { return find(address) != nullptr; }

  // Begins a launch, before its blocks. Launches do not overlap.
  void begin_launch(std::uint64_t blocks);
  void access(const touching_warp& who, const warp_access& a);
  // The block has ordered its accesses relative to other blocks: by a fence or an atomic operation.
  void order(std::uint64_t block) {
    if (block < ordered_count_) ordered_[block].store(true, std::memory_order_relaxed);
  }

 private:
  // The last accesses of a word in this launch: see pack().
  struct word {
    std::uint64_t writer = 0, reader = 0;
  };
  struct freed {
    void operator()(void* p) const;
  };
  struct shadowed {
    global_buffer buffer;
    // Zeros, without memory until used. Null for inputs.
    std::unique_ptr<word[], freed> words;
    std::unique_ptr<std::uint8_t[], freed> written;  // a bit for each byte of each word
  };

  const shadowed* find(std::uint64_t address) const;
  std::string thread_of(const touching_warp& who, unsigned lane) const;
  static void note_host_writes(const shadowed& s);
  void touch_word(const shadowed& s, std::uint64_t address, unsigned bytes, unsigned lane,
                  const touching_warp& who);
  void check(const shadowed& s, std::uint64_t before, std::uint64_t now, std::uint64_t address,
             const touching_warp& who);

  hazard_log& log_;
  std::vector<shadowed> buffers_;
  std::uint64_t launch_ = 0;
  std::unique_ptr<std::atomic<bool>[]> ordered_;
  std::uint64_t ordered_count_ = 0;
};

}  // namespace kzoo::xray
