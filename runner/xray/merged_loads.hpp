#pragma once
// Merges loads of neighbouring words as nvcc does. It unrolls a loop that reads a row of shared
// memory word by word. Four words in 16 aligned bytes of every lane become one load. The simulator
// runs the loop as written. The merger therefore waits for neighbours until the warp's next barrier
// or store to shared memory, which no load crosses.

#include "xray/transactions.hpp"

#include <cstdint>
#include <map>
#include <tuple>

namespace kzoo::xray {

class merged_loads {
 public:
  // Whether the lanes' loads of 4 bytes have equal offsets in 16 bytes, so that they may be merged.
  static bool same_phase(const warp_access& a);

  // Adds a load of 4 bytes per lane, with same_phase(). Repeated loads of an address count once.
  void add(std::uint32_t site, const warp_access& a);

  // Calls emit(site, access) for the merged loads of 16, 8 and 4 bytes, and clears them.
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
    unsigned words = 0;  // a bit for each loaded word of the four
  };
  // Site, active lanes, the first lane's 16 bytes, and a hash of the other lanes' relative to them.
  using key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
  std::map<key, group> groups_;
};

}  // namespace kzoo::xray
