#pragma once
// The samples of one cell: their statistics, and when there are enough.

#include "os/enums.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kzoo::timing {

// An immutable list of T in the narrowest type that holds all exactly, for millions of samples.
// Narrower: the types to try, narrowest first.
template <class T, class... Narrower>
class packed {
 public:
  packed() = default;
  packed(const std::vector<T>& values) { (fits<Narrower>(values) || ...) || keep<T>(values); }
  packed(std::initializer_list<T> values) : packed(std::vector<T>(values)) {}

  std::size_t size() const {
    return std::visit([](const auto& list) { return list.size(); }, values_);
  }
  bool empty() const { return size() == 0; }
  T operator[](std::size_t i) const {
    return std::visit([i](const auto& list) { return static_cast<T>(list[i]); }, values_);
  }
  T back() const { return (*this)[size() - 1]; }
  std::vector<T> unpacked() const {
    return std::visit([](const auto& list) { return std::vector<T>(list.begin(), list.end()); },
                      values_);
  }

 private:
  template <class N>
  static bool holds(T value) {
    using limits = std::numeric_limits<N>;
    // Also false for NaN, which fails every comparison.
    if (!(value >= static_cast<T>(limits::lowest()) && value <= static_cast<T>(limits::max())))
      return false;
    const T back = static_cast<T>(static_cast<N>(value));
    if constexpr (std::is_same_v<T, double>) {  // tells -0.0 from 0.0
      return std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value);
    } else {
      return back == value;
    }
  }

  template <class N>
  bool fits(const std::vector<T>& values) {
    for (const T value : values)
      if (!holds<N>(value)) return false;
    return keep<N>(values);
  }

  template <class N>
  bool keep(const std::vector<T>& values) {
    std::vector<N> list;
    list.reserve(values.size());
    for (const T value : values) list.push_back(static_cast<N>(value));
    values_ = std::move(list);
    return true;
  }

  std::variant<std::vector<Narrower>..., std::vector<T>> values_;
};

// Clocks in MHz are integers; GPU events measure floats.
using packed_numbers = packed<double, std::uint16_t, float>;
using packed_integers = packed<int, std::uint16_t>;

// The measured time. `simulator`: the simulation's duration, which says nothing about a GPU.
KZOO_ENUM(clock, gpu, cpu, simulator);

// The device's caches when a sample began. cold: without operands (flushed); warm: not controlled;
// hot: as an identical run had just left them.
KZOO_ENUM(caches, cold, warm, hot);

// Why no further turns were taken: the requested precision was reached; the cell's time limit;
// another kernel is certainly faster; the whole run's time limit.
enum class stop { precise, out_of_time, slower, budget };
constexpr std::string_view names_of(stop) { return "noise, time, slower, budget"; }

struct summary {
  packed_numbers samples_ms;  // in the order taken
  packed_integers rounds;     // each sample's round, ascending
  packed_numbers sm_mhz;      // each sample's clock, 0: unknown; empty: none is known
  int throttled = 0;          // discarded samples: throttle_filter
  bool low_clock = false;     // some counted samples are throttled too
  double median_ms = 0, min_ms = 0;
  double spread = 0;  // interquartile range over the median
  // Half the median's 95 % confidence interval over the median; NaN with too few rounds.
  double relative_half_width = std::numeric_limits<double>::quiet_NaN();
  timing::clock clock = timing::clock::gpu;
  timing::caches caches = timing::caches::warm;
  timing::stop stopped = stop::precise;

  // Less precise than other cells of its problem, which every display must show.
  bool stopped_early() const { return stopped == stop::slower || stopped == stop::budget; }
};

// Interpolates linearly between the two nearest ranks (Hyndman and Fan 1996, definition 7).
// `sorted` must be ascending and not empty.
double quantile(const std::vector<double>& sorted, double q);
// The 0.5 quantile of samples in any order, at least one; it reorders them.
double median(std::vector<double>& samples);

// The median SM clock of the samples with a known clock; 0: none.
double median_mhz(const summary& s);

// The median of one round's samples.
struct turn {
  int round;
  double median_ms;
};
std::vector<turn> turns(const summary& s);
std::vector<double> turn_medians(const summary& s);

// `samples_ms` must not be empty; `rounds` has as many elements, ascending.
summary summarise(const std::vector<double>& samples_ms, const std::vector<int>& rounds);
// Like summarise(), but without relative_half_width, which takes more than a sort.
summary summarise_without_interval(const std::vector<double>& samples_ms,
                                   const std::vector<int>& rounds);

// The time of a GEMM for a program with its matrices on the host, copies included, in milliseconds
// by the host's clock; each phase ends when the device is idle.
struct end_to_end {
  double allocate_ms = 0;   // device memory for A, B, C and the workspace
  double to_device_ms = 0;  // A and B; C too if beta is not 0
  double kernel_ms = 0;     // with its launch
  double to_host_ms = 0;    // C

  double total_ms() const { return allocate_ms + to_device_ms + kernel_ms + to_host_ms; }
};

// The median of each phase; `runs` must not be empty.
end_to_end medians(const std::vector<end_to_end>& runs);

// When a cell has been timed enough.
struct stop_rule {
  int rounds = 1;  // at least this many turns,
  // then more until summary::relative_half_width is at most this,
  double max_relative_half_width = 1;
  double max_seconds = 0;  // but no further turn after this time for all turns
};

// Collects the samples of one cell, turn by turn.
class series {
 public:
  // Adds a turn: its samples, the SM clock during each in MHz (0: unknown), and its whole duration.
  void add(int round, std::span<const double> samples_ms, std::span<const double> sm_mhz,
           double seconds);

  bool empty() const { return samples_ms_.empty(); }
  bool out_of_time(const stop_rule& rule) const { return seconds_ >= rule.max_seconds; }
  // Whether there are enough rounds and the relative half-width is small enough.
  bool precise(const stop_rule& rule) const;
  // Must not be called while empty().
  summary summarised(const stop_rule& rule) const;
  // The summary without relative_half_width, regardless of the rule.
  summary so_far() const { return summarise_without_interval(samples_ms_, rounds_); }

 private:
  std::vector<double> samples_ms_, sm_mhz_;
  std::vector<int> rounds_;
  int turns_ = 0, next_bootstrap_ = 1;
  double relative_half_width_ = std::numeric_limits<double>::quiet_NaN();  // the latest
  double seconds_ = 0;
};

// Confidence intervals of a median and of a ratio of two medians: percentile bootstraps (Efron
// 1979) with a fixed seed, so that equal samples give equal intervals. Few values make such an
// interval too narrow: with ten it covers the true value 94 times in 100. Therefore it is widened
// to the percentiles at which a mean's interval would be as wide as Student's t interval ("expanded
// percentile interval": Hesterberg, What Teachers Should Know About the Bootstrap, 2015).
//
// Whole turns are resampled, since samples of one turn are not independent: they share memory
// addresses, clocks and other load.

// With fewer turns of either kernel there is no interval.
inline constexpr std::size_t kFewestTurns = 5;

struct interval {  // 95 % confidence
  double low, high;
};

struct ratio {
  double value = 1;
  std::optional<interval> likely;

  // The kernels do not differ significantly: the interval contains 1.
  bool tie() const { return likely && likely->low <= 1 && 1 <= likely->high; }
};

std::optional<interval> interval_of_median(std::span<const double> values);

// `a` over `b`, from one run: the median of the ratios within each common round. Whatever slows
// both in a round, such as a lower clock, cancels out of the ratio and its interval. Without a
// common round, ratio_of_medians().
ratio paired_ratio(const summary& a, const summary& b);

// The ratio of the medians of `a` and `b`, from different runs. No interval if any time is zero.
ratio ratio_of_medians(const summary& a, const summary& b);

// `a` over `b`, two ratios that were measured independently.
ratio quotient(const ratio& a, const ratio& b);

// How much a kernel's time differs between processes. Part of a time is fixed at process start,
// e.g. by the addresses of code and context, so rounds in one process cannot show it. It is
// measured once per device, with one GEMM in many processes.

// The standard deviation of a median between processes: sqrt(ms^2 + (share * median)^2).
struct process_spread {
  double ms = 0;     // the same for kernels of any duration
  double share = 0;  // in proportion to the duration
};

double deviation(const process_spread& s, double median_ms);

// A process's median of a kernel, and its standard error from the scatter of rounds.
struct process_median {
  double ms = 0, standard_error = 0;
};

// Fits medians by kernel, then by process in running order, of at least two processes. Returns the
// upper ends of the 90 % intervals of `ms` and `share`, by their likelihood (Wilks 1938).
process_spread fit(const std::vector<std::vector<process_median>>& kernels);

// The ratio of two medians from two processes, with the spread added to its interval.
ratio widened(const ratio& r, const summary& a, const summary& b, const process_spread& s);

// Whether `a` is certainly slower than `fastest`: the interval of their ratio within common rounds
// lies above 1 + `margin`. False before there is an interval. `between`: differences between
// processes, if the two run in processes of their own.
//
// The question is repeated after each round, so chance has several tries. The margin makes it safe:
// an equally fast kernel is excluded only if its interval is wrong by more than the margin, and a
// kernel within the margin never.
bool is_slower(const summary& a, const summary& fastest, double margin,
               const process_spread& between);

}  // namespace kzoo::timing
