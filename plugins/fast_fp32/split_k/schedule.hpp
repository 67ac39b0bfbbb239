#pragma once
// Into how many parts along K tiles are divided: as many as make the last wave end earliest.

#include <fp32/common/stream_k.hpp>

#include <algorithm>
#include <cstdint>

namespace split_k {

inline constexpr int kMostSplits = 128;

// All tiles of C divided into `splits` parts of equal length, the way stream-K divides them: a
// share then begins and ends where a tile does, or inside.
inline common::stream_k uniform(int rows, int cols, int k_tiles, int splits, int wave,
                                double aspect) {
  common::stream_k work = common::make_stream_k(rows, cols, k_tiles, wave, k_tiles, aspect);
  work.dp_tiles = splits > 1 ? 0 : work.tiles();
  work.sk_blocks = splits > 1 ? work.tiles() * splits : 0;
  return work;
}

// The number of parts with the least time, in k tiles: whole waves of blocks, each of which needs
// `start` until its first k tile is there, and `fixup` for what it leaves in the workspace.
inline int best_splits(std::int64_t tiles, int k_tiles, int wave, int start, int fixup) {
  int best = 1;
  std::int64_t least = INT64_MAX;
  for (int splits = 1; splits <= std::min(kMostSplits, std::max(k_tiles / 2, 1)); ++splits) {
    if (tiles * splits > INT_MAX / 2) break;
    const std::int64_t waves = (tiles * splits + wave - 1) / wave;
    // A part of one more k tile than the others makes its wave longer.
    const std::int64_t time =
        waves * ((k_tiles + splits - 1) / splits + start) + (splits > 1 ? fixup + splits / 4 : 0);
    if (time < least) best = splits, least = time;
  }
  return best;
}

}  // namespace split_k
