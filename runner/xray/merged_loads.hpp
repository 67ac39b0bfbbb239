#pragma once
// Loads of neighbouring words, as nvcc merges them. A loop that reads a row of shared memory word
// by word is unrolled, and four words that are 16 aligned bytes in every lane become one load. The
// simulator runs the loop as it is written; so this waits for a load's neighbours until the warp's
// next barrier or store to shared memory, beyond which no load moves.

#include "xray/transactions.hpp"

#include <cstdint>
#include <map>
#include <tuple>

namespace kzoo::xray {

class merged_loads {
 public:
  // Whether the lanes' loads of 4 bytes may be part of a larger one: their places in 16 bytes are
  // the same.
  static bool same_phase(const warp_access& a);

  // A load of 4 bytes per lane by `site`, with same_phase(). One that is there already, with the
  // same addresses, is the same load.
  void add(std::uint32_t site, const warp_access& a);

  // Calls emit(site, access) for the loads of 16, 8 and 4 bytes that they make, and forgets them.
  template <class Emit>
  void take(const Emit& emit) {
    for (const auto& [of, g] : groups_) {
      warp_access a = g.base;
      const auto put = [&](unsigned word, unsigned words) {
        a.bytes = words * kBankBytes;
        for (unsigned lane = 0; lane < kWarp; ++lane)
          a.address[lane] = g.base.address[lane] + std::uint64_t{word} * kBankBytes;
        emit(std::get<0>(of), a);
      };
      if (g.words == 0xf) {
        put(0, 4);
        continue;
      }
      for (unsigned word = 0; word < 4; word += 2) {
        const unsigned pair = g.words >> word & 3;
        if (pair == 3) put(word, 2);
        if (pair == 1) put(word, 1);
        if (pair == 2) put(word + 1, 1);
      }
    }
    groups_.clear();
  }

 private:
  struct group {
    warp_access base;    // addresses rounded down to 16 bytes
    unsigned words = 0;  // which of the four have been loaded
  };
  // Site, active lanes, the first lane's 16 bytes, and the other lanes' relative to them, hashed.
  using key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
  std::map<key, group> groups_;
};

}  // namespace kzoo::xray
