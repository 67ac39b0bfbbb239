#pragma once
// The accesses of a launch's blocks to each word of global memory. Thread-safe.

#include "data/matrix.hpp"
#include "xray/hazards.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kzoo::xray {

// A matrix, or the workspace, with redzones around it.
struct global_buffer {
  const char* name = "";                         // "C"; a literal, since it is kept
  std::uint64_t begin = 0, end = 0;              // its elements
  std::uint64_t outer_begin = 0, outer_end = 0;  // with the redzones
  bool filled = false;                           // before the kernel runs; else it is poison
  bool input = false;  // A or B: only bounds are watched. The judge sees writes
  unsigned element_bytes = 1;
  std::uint64_t row_bytes = 0;  // from row to row; 0: no matrix
  data::matrix spec{};          // of the words from outer_begin on
};

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
