#pragma once
// The accesses of a block's threads to each word of its shared memory.

#include "xray/hazards.hpp"

#include <kzoo/xray.h>

#include <vector>

namespace kzoo::xray {

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
    std::uint8_t bytes = 0;  // of the word, a bit each
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

}  // namespace kzoo::xray
