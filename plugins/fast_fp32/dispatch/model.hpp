#pragma once
// Which kernel, tile and schedule for a problem: all candidates are enumerated, those that cannot
// do it are left out, and the one with the least time is taken. README.md has the formula.

#include "architecture.hpp"
#include "edges.hpp"
#include "tiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace dispatch {

enum class kernel { tiles, pipelined, few_rows, few_columns, split_fp16, general, rolled };

struct choice {
  kernel which;
  double us;       // predicted
  int tile = 0;    // of tile_types, or of rolled_types
  int splits = 1;  // parts of K; 0: stream-K
  bool packed =
      false;       // what cannot be read 16 bytes at a time is copied; else it is read in place
  edges beyond{};  // rows and columns of C that skinny computes
  bool at_once = false;  // all products of a batch in one launch

  // Of tiles of problem p.
  repacked::packing copies(const kzoo_problem& p) const {
    return packed ? repacked::packing(p, true) : repacked::packing();
  }
};

// Whether they differ in how K is divided alone.
inline bool alike(const choice& x, const choice& y) {
  return x.which == y.which && x.tile == y.tile && x.packed == y.packed && x.at_once == y.at_once &&
         x.beyond == y.beyond;
}

// The schedule of tile number `tile`.
inline common::stream_k schedule(const kzoo_problem& p, const kzoo_device& d, int tile,
                                 int splits) {
  return with_tile(tile, [&]<class Tile>(std::type_identity<Tile>) {
    return splits == 0 ? common::make_stream_k<Tile>(p, d)
                       : split_k::product<Tile>::divided(p, d, splits);
  });
}

class model {
 public:
  // `may_split`: split_fp16 is a candidate.
  model(const kzoo_problem& p, const kzoo_device& d, const architecture& of, bool may_split)
      : p_(p),
        d_(d),
        of_(of),
        sms_(std::max(d.kind == KZOO_CPU ? d.threads : d.multiprocessors, 1u)),
        products_(static_cast<double>(std::max<std::int64_t>(p.batch, 1))) {
    add_pipelined();  // first: where memory is the limit, the model sees no difference to its tile
    for (int tile = 0; tile < kTiles; ++tile) add_tiles(tile);
    add_skinny<rows_kernel>(kernel::few_rows, p.m, &model::rows_us);
    add_skinny<columns_kernel>(kernel::few_columns, p.n, &model::columns_us);
    for (int tile = 0; tile < kRolled; ++tile) add_rolled(tile);
    if (may_split) add_split();
    add_general();
  }

  // Empty where nothing can do the problem.
  const std::vector<choice>& candidates() const { return candidates_; }
  // Those that may be the fastest, given the model's errors: the best first, and at most three that
  // differ in how K is divided alone.
  std::vector<choice> likely() const {
    constexpr std::size_t kMost = 16;
    constexpr std::ptrdiff_t kMostAlike = 3;
    constexpr double kWorst = 1.6;  // times the best one's time
    std::vector<choice> sorted = candidates_, some;
    std::ranges::stable_sort(sorted, {}, &choice::us);
    for (const choice& c : sorted) {
      if (some.size() == kMost || c.us > kWorst * sorted.front().us) break;
      if (std::ranges::count_if(some, [&c](const choice& other) { return alike(c, other); }) <
          kMostAlike)
        some.push_back(c);
    }
    return some;
  }

 private:
  double dram_us(const kzoo_problem& p) const {
    const double m = static_cast<double>(p.m), n = static_cast<double>(p.n);
    const double k = static_cast<double>(p.k);
    return (4 * k * (m + n) + 4 * m * n * (p.beta != 0 ? 2 : 1)) / of_.dram_bytes_per_us;
  }
  double copies_us(const repacked::packing& copies) const {
    return copies.any() ? of_.copy_us + copies.moved() / of_.copy_bytes_per_us : 0;
  }
  void add(choice c) {
    if (!c.at_once) c.us *= products_;  // one after the other
    candidates_.push_back(c);
  }

  void add_tiles(int tile) {
    with_tile(tile, [&]<class Tile>(std::type_identity<Tile>) {
      if (repacked::product<Tile>::supports(p_, d_) != nullptr) return;  // too many tiles
      for (const edges& beyond : edges_of<Tile>(p_)) add_tiles<Tile>(tile, beyond);
    });
  }

  template <class Tile>
  void add_tiles(int tile, const edges& beyond) {
    const kzoo_problem p = beyond.whole_tiles(p_);
    double edges_us = 0;
    if (beyond.rows > 0) {
      if (rows_kernel::supports(beyond.bottom(p_), d_) != nullptr) return;  // K has too many parts
      edges_us += of_.beside_us + rows_us(beyond.bottom(p_));
    }
    if (beyond.cols > 0) {
      if (columns_kernel::supports(beyond.right(p_), d_) != nullptr) return;  // the same
      edges_us += of_.beside_us + columns_us(beyond.right(p_));
    }
    const repacked::packing all(p, true);
    const common::stream_k whole = schedule(p, d_, tile, 1);
    const double alone = of_.alone[static_cast<std::size_t>(tile)];
    for (const bool packed : {false, true}) {
      const repacked::packing copies = packed ? all : repacked::packing();
      if (packed && !all.any()) continue;
      const operands read{.a_transposed = !packed && kzoo::is_a_transposed(layout_),
                          .b_transposed = !packed && kzoo::is_b_transposed(layout_)};
      const bool ragged = !packed && is_ragged(p);
      // Each operand that is not transposed then comes 4 bytes at a time, too.
      const int straight = int(kzoo::is_a_transposed(layout_)) + !kzoo::is_b_transposed(layout_);
      const double efficiency =
          of_.tile_efficiency[static_cast<std::size_t>(tile)] *
          (ragged ? std::pow(of_.ragged[static_cast<std::size_t>(tile)], straight) : 1);
      for (int splits = 0; splits <= split_k::kMostSplits; ++splits) {
        // A part has two k tiles at least, so that there is something to overlap.
        if (splits > 1 && splits > whole.k_tiles / 2) continue;
        // More than four waves of parts gain nothing that fewer parts do not.
        if (splits > 1 && double(whole.tiles()) * splits > 4.0 * Tile::kBlocksPerSm * sms_)
          continue;
        const common::stream_k work = schedule(p, d_, tile, splits);
        if (splits == 0 && work.sk_blocks == 0) continue;  // stream-K would gain nothing
        const double of_k_tile_us = k_tile_us<Tile>(efficiency);
        const double each_us = stores_us(p, tile);
        add({.which = kernel::tiles,
             .us = tiles_us<Tile>(p, read, work, splits, of_k_tile_us, alone) + each_us +
                   copies_us(copies) + edges_us,
             .tile = tile,
             .splits = splits,
             .packed = packed,
             .beyond = beyond});
        if (products_ == 1 || splits != 1 || copies.any() || edges_us > 0) continue;
        if (products_ > kMostAtOnce) continue;  // gridDim.y cannot count them
        add({.which = kernel::tiles,
             .us = tiles_us<Tile>(p, read, work, splits, of_k_tile_us, alone, products_) +
                   products_ * each_us,
             .tile = tile,
             .at_once = true});
      }
    }
  }

  // How the kernel reads them.
  struct operands {
    bool a_transposed = false, b_transposed = false;
  };
  // Whether what the kernel does not transpose cannot be copied 16 bytes at a time.
  bool is_ragged(const kzoo_problem& p) const {
    const auto lines = [](std::int64_t size, std::int64_t ld) {
      return size % 4 == 0 && ld % 4 == 0;
    };
    const bool straight_a = kzoo::is_a_transposed(layout_),
               straight_b = !kzoo::is_b_transposed(layout_);
    return ((straight_a || straight_b) && p.alignment % 16 != 0) ||
           (straight_a && !lines(p.m, p.lda)) || (straight_b && !lines(p.n, p.ldb));
  }

  static bool has_vectors_of_c(const kzoo_problem& p) {
    return p.n % 4 == 0 && p.ldc % 4 == 0 && p.alignment % 16 == 0;
  }
  // What stores of C take that cannot be of 16 bytes.
  double stores_us(const kzoo_problem& p, int tile) const {
    if (has_vectors_of_c(p)) return 0;
    return double(p.m) * double(p.n) / sms_ / of_.elements_per_us[static_cast<std::size_t>(tile)];
  }
  // FMAs of a block in one k tile, as if it had the SM for itself and warps enough.
  template <class Tile>
  double k_tile_us(double efficiency) const {
    return double(Tile::kBM) * Tile::kBN * Tile::kBK /
           (of_.fmas_per_cycle * of_.cycles_per_us * efficiency);
  }
  // By how much FMAs take longer where fewer blocks share an SM than could.
  template <class Tile>
  static double slower(double blocks, double alone) {
    constexpr int kMost = Tile::kBlocksPerSm;
    return kMost == 1 ? 1 : 1 + (1 / alone - 1) * (kMost - blocks) / (kMost - 1);
  }
  template <class Tile>
  double tiles_us(const kzoo_problem& p, const operands& read, const common::stream_k& work,
                  int splits, double of_k_tile_us, double alone, double products = 1) const {
    const double tiles = work.tiles() * products, wave = double(Tile::kBlocksPerSm) * sms_;
    double fmas_us = 0, waves = 0, last = 0;  // blocks of an SM in the last wave
    // Of a block. Pairs of steps before K may be left out.
    double k_tiles = Tile::kLeavesOut ? std::ceil(double(p.k) / 2) * 2 / Tile::kBK : work.k_tiles;
    if (splits == 0) {  // an equal share for each SM
      fmas_us = std::max(tiles * k_tiles / sms_, 1.0) * of_k_tile_us;
      // A share of stream-K may begin in one tile and end in the next: one more start.
      waves = std::ceil(tiles / wave) + (work.sk_blocks > 0 ? 1 : 0);
      last = Tile::kBlocksPerSm;
    } else {
      if (splits > 1) k_tiles = std::ceil(double(work.k_tiles) / splits);
      const double blocks = tiles * splits;
      const double whole = std::floor(blocks / wave), rest = blocks - whole * wave;
      const double on_an_sm = std::ceil(rest / sms_);
      fmas_us = (whole * Tile::kBlocksPerSm + on_an_sm * slower<Tile>(on_an_sm, alone)) * k_tiles *
                of_k_tile_us;
      waves = std::ceil(blocks / wave);
      last = on_an_sm > 0 ? on_an_sm : Tile::kBlocksPerSm;
    }
    // Blocks of an SM store while others multiply, but for those of the last wave.
    const double stored_us =
        (waves - 1 + last) * 4 * Tile::kBM * Tile::kBN / of_.stored_bytes_per_us;
    const double shared = splits == 0 ? work.sk_tiles() : splits > 1 ? tiles : 0;
    const double each =
        splits == 0 ? std::ceil(work.sk_blocks / std::max(shared, 1.0)) + 1 : splits;
    const double l2_us =
        (4.0 * tiles * work.k_tiles * Tile::kBK * (Tile::kBM + Tile::kBN)) / of_.l2_bytes_per_us;
    // What is transposed on its way to shared memory comes 4 bytes at a time.
    const auto transposing_us = [&](std::int64_t size, int times) {
      const double bytes = 4 * static_cast<double>(size) * static_cast<double>(p.k) * products;
      return bytes / of_.a_bytes_per_us + bytes * (times - 1) / of_.a_again_bytes_per_us;
    };
    const double a_us = (read.a_transposed ? 0 : transposing_us(p.m, work.cols)) +
                        (read.b_transposed ? transposing_us(p.n, work.rows) : 0);
    const double start_us = of_.launch_us + of_.start_us + (waves - 1) * of_.wave_us;
    // What takes less time is hidden behind the rest, but for one k tile: the first of a block's
    // copies, or its last FMAs.
    const double read_us = 4 * double(p.k) * double(p.m + p.n) * products / of_.dram_bytes_per_us;
    const double loads_us = std::max({l2_us, read_us, a_us});
    const double loop_us =
        std::max(fmas_us, loads_us) + std::min(fmas_us, loads_us) / std::max(k_tiles, 1.0);
    const double parts_us =
        std::max(std::ceil(each / split_k::kPartsAtOnce<Tile>) * of_.part_us,
                 each * Tile::kBM * Tile::kBN * sizeof(float) / of_.part_bytes_per_us);
    const double apart_us =
        of_.apart_us + 4.0 * work.sk_blocks * Tile::kBM * Tile::kBN / of_.apart_bytes_per_us;
    const double fixup_us = shared == 0                                   ? 0
                            : split_k::product<Tile>::adds_up_apart(work) ? apart_us
                                                                          : of_.fixup_us + parts_us;
    return start_us + std::max(loop_us + stored_us, dram_us(p) * products) + fixup_us;
  }

  // The kernel of the large tile, where its operands can be read 16 bytes at a time.
  void add_pipelined() {
    using Tile = std::tuple_element_t<0, tile_types>;
    if (pipelined_kernel::supports(p_, d_) != nullptr) return;
    const repacked::packing copies(p_, false);
    const bool read = copies.any() ? copies.bytes() == repacked::packing(p_, true).bytes()
                                   : p_.lda % 4 == 0 && p_.ldb % 4 == 0;
    if (!read || p_.alignment % 16 != 0 || p_.k % Tile::kBK != 0 || p_.n % 4 != 0 ||
        p_.ldc % 4 != 0)
      return;
    const common::stream_k work = schedule(p_, d_, 0, 0);
    add({.which = kernel::pipelined,
         .us = tiles_us<Tile>(p_, {}, work, 0, k_tile_us<Tile>(of_.pipelined_efficiency), 1) +
               (work.sk_blocks > 0 ? of_.launch_us : 0) +  // adds up parts in a second launch
               copies_us(copies)});
  }

  // Few rows or columns: what the SM with most blocks has to do.
  double rows_us(const kzoo_problem& p) const {
    return stages_us(rows_kernel::division_of(p, d_), p.m, p.n, p, p.ldb,
                     p.layout_b == KZOO_COLUMN_MAJOR);
  }
  double columns_us(const kzoo_problem& p) const {
    return stages_us(columns_kernel::division_of(p, d_), p.n, p.m, p, p.lda,
                     p.layout_a == KZOO_ROW_MAJOR);
  }
  // `line`: from row to row of the large operand in memory.
  double stages_us(const skinny::division& of, std::int64_t few, std::int64_t wide,
                   const kzoo_problem& p, std::int64_t line, bool along_k) const {
    const std::size_t size = few <= 1 ? 0 : few <= 4 ? 1 : few <= 8 ? 2 : 3;
    const bool ragged = p.alignment % 16 != 0 || line % 4 != 0 || (along_k ? p.k : wide) % 4 != 0;
    const double blocks = std::ceil(double(of.sums()) * of.parts / sms_);
    // Along K a stage has kStrip steps, however few there are.
    const std::int64_t steps = along_k ? of.steps : std::min<std::int64_t>(of.steps, p.k);
    const double stages = std::ceil(double(steps) / skinny::kLines);
    const double stage_us = (along_k ? of_.dots_us : of_.strips_us)[size];
    return blocks * (stages * stage_us * (ragged ? of_.ragged_stages : 1) + of_.block_us[size]) +
           (of.parts > 1 ? of.parts * of_.stage_sums_us[size] : 0);
  }
  template <class Variant>
  void add_skinny(kernel which, std::int64_t few, double (model::*us)(const kzoo_problem&) const) {
    constexpr std::int64_t kMost = 128;
    if (few > kMost) return;                           // it is not few
    if (Variant::supports(p_, d_) != nullptr) return;  // K has too many parts
    add({.which = which,
         .us = of_.launch_us + of_.start_us + std::max((this->*us)(p_), dram_us(p_))});
  }

  void add_split() {
    constexpr std::int64_t kLeastK = 16;
    if (d_.kind == KZOO_CPU) return;  // it uses wgmma
    if (p_.k < kLeastK) return;       // fp32's bound is too tight for it: computed twice
    // A cluster of two SMs has 256 x 128 of C, or 256 x 192 where there are many.
    const double m = static_cast<double>(p_.m), n = static_cast<double>(p_.n);
    const double k = static_cast<double>(p_.k), clusters = std::max(std::floor(sms_ / 2), 1.0);
    const double tiles = std::ceil(m / 256) * std::ceil(n / 128);
    double tile_us = 2.0 * 256 * 128 * k / (of_.split_flops_per_us / clusters);
    // Where there are few tiles, clusters share each along K: see split_fp16's strategy.
    constexpr double kLeastShare = 8 * 64, kHalfTheRate = 2;
    const double most = std::floor(std::min(k / kLeastShare, clusters / tiles));
    const bool few = tiles * 4 <= clusters;
    const double shares = few ? std::max(most, 1.0) : 1;
    if (few) tile_us *= kHalfTheRate;
    const double products_us = std::max(tiles / clusters, 1 / shares) * tile_us;
    const double stored_bytes_per_us =
        has_vectors_of_c(p_) ? of_.split_stored_bytes_per_us : of_.split_ragged_bytes_per_us;
    add({.which = kernel::split_fp16,
         .us = of_.split_us + 8 * k * (m + n) / of_.split_pass_bytes_per_us +
               std::max(products_us, 4 * m * n / stored_bytes_per_us) +
               (shares - 1) * of_.split_share_us + copies_us(repacked::packing(p_, false))});
  }

  void add_general() {
    if (kzoo::tile_grid<16, 16>::objection(p_) != nullptr) return;  // more blocks than CUDA allows
    constexpr double kSide = 16, kAtATime = 8;                      // blocks on an SM
    const double tiles =
        std::ceil(double(p_.m) / kSide) * std::ceil(double(p_.n) / kSide) * products_;
    const double whole = std::floor(tiles / (kAtATime * sms_));
    const double on_an_sm = std::ceil(tiles / sms_) - whole * kAtATime;  // of the last wave
    const auto step_us = [&](double blocks) {
      return blocks == 0 ? 0 : std::max(of_.general_step_us, blocks * of_.general_block_us);
    };
    const double steps_us =
        std::ceil(double(p_.k) / kSide) * (whole * step_us(kAtATime) + step_us(on_an_sm));
    add({.which = kernel::general,
         .us = of_.launch_us + of_.general_us + std::max(steps_us, dram_us(p_) * products_),
         .at_once = true});
  }

  // Short code: see rolled.hpp.
  void add_rolled(int tile) {
    with_tile<rolled_types>(tile, [&]<class Tile>(std::type_identity<Tile>) {
      if (rolled::product<Tile>::supports(p_) != nullptr) return;
      for (int parts = 1; parts <= rolled::product<Tile>::kMostParts; ++parts) {
        const auto d = rolled::division::of<Tile>(p_, parts);
        const double blocks = double(d.tiles()) * d.parts, wave = Tile::kBlocksPerSm * sms_;
        if (d.parts < parts || (parts > 1 && (d.steps < 2 * Tile::kBK || blocks > 4 * wave)))
          continue;
        add({.which = kernel::rolled,
             .us = rolled_us<Tile>(static_cast<std::size_t>(tile), d),
             .tile = tile,
             .splits = parts});
      }
    });
  }
  template <class Tile>
  double rolled_us(std::size_t tile, const rolled::division& d) const {
    const double blocks = double(d.tiles()) * d.parts, wave = Tile::kBlocksPerSm * sms_;
    const double whole = std::floor(blocks / wave);
    const double on_an_sm = std::ceil((blocks - whole * wave) / sms_);  // of the last wave
    const auto k_tile_us = [&](double share) {
      return share == 0 ? 0 : std::max(of_.rolled_alone_us[tile], share * of_.rolled_each_us[tile]);
    };
    const double steps = double(std::min<std::int64_t>(d.steps, p_.k));
    constexpr int kAtOnce = Tile::kLeavesOut ? Tile::kUnrolled : Tile::kBK;
    const double k_tiles = std::ceil(steps / kAtOnce) * kAtOnce / Tile::kBK;
    const double loop_us = k_tiles * (whole * k_tile_us(Tile::kBlocksPerSm) + k_tile_us(on_an_sm));
    const double l2_us =
        4.0 * double(d.tiles()) * double(p_.k) * (Tile::kBM + Tile::kBN) / of_.l2_bytes_per_us;
    const double waves = std::ceil(blocks / wave);
    const double last = on_an_sm > 0 ? on_an_sm : Tile::kBlocksPerSm;
    const double stored_us =
        (waves - 1 + last) * 4 * Tile::kBM * Tile::kBN / of_.stored_bytes_per_us;
    return of_.launch_us + of_.rolled_us[tile] + (waves - 1) * of_.rolled_wave_us +
           std::max(std::max(loop_us, l2_us) + stored_us, dram_us(p_)) +
           (d.parts > 1 ? of_.rolled_fixup_us + d.parts * of_.rolled_part_us : 0);
  }

  static constexpr double kMostAtOnce = 65535;

  const kzoo_problem& p_;
  const kzoo_device& d_;
  const architecture& of_;
  kzoo::layout layout_ = kzoo::layout_of(p_);
  double sms_, products_;
  std::vector<choice> candidates_;
};

}  // namespace dispatch
