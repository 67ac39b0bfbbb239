#include "microbenchmarks/measure.hpp"

#include "core/verdict.hpp"
#include "devices/backend.hpp"
#include "os/parallel.hpp"
#include "process/messages.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <type_traits>

namespace kzoo::microbenchmarks {
namespace {

// The repetitions that fill a sample's duration.
std::int64_t repetitions_of(const microbenchmark& b) {
  constexpr double kMostGrowth = 10;  // the first runs are slow, while the device raises its clocks
  std::int64_t repetitions = 1;
  for (;;) {
    const double seconds = std::max(b.run(repetitions).seconds, 1e-9);
    const double growth = b.sample_seconds / seconds;
    if (growth <= 1) return repetitions;
    repetitions = std::llround(std::ceil(double(repetitions) * std::min(growth, kMostGrowth)));
  }
}

// Whether several samples come close to the best, which then is no outlier of a shared device.
bool is_confirmed(const std::vector<roofline::pace>& samples) {
  constexpr std::ptrdiff_t kAgreeing = 3;
  constexpr double kNearly = 0.98;
  const double best = std::ranges::max_element(samples, {}, &roofline::pace::rate)->rate;
  return std::ranges::count_if(samples, [&](const roofline::pace& p) {
           return p.rate >= kNearly * best;
         }) >= kAgreeing;
}

constexpr std::array kSizes{128, 256, 512, 1024, 2048};  // 8 us to 1 ms on a fast GPU
constexpr int kRounds = 12;
constexpr int kSamples = 8;  // in a round
// GPU clocks need time under load to rise.
constexpr std::chrono::milliseconds kClockWarmup{100};

// A matrix behind unused memory of random size, like a timed kernel's matrices.
struct placed_matrix {
  placed_matrix(devices::backend& on, int n, std::uint64_t key, std::size_t gap_bytes)
      : spec{KZOO_F32, data::content::uniform, n, n, n, key},
        gap(on, gap_bytes),
        words(on, static_cast<std::size_t>(data::word_count(spec)) * sizeof(float)) {
    on.fill(words.get(), spec);
  }
  float* first() const { return static_cast<float*>(words.get()) + data::kRedzone; }

  data::matrix spec;
  devices::device_memory gap, words;
};

// The median of one round, with the matrices at new addresses.
double round_median(devices::backend& on, int n, std::minstd_rand& random) {
  constexpr std::size_t kStep = 64 << 10, kMostSteps = 128;
  const auto gap = [&] { return kStep * (1 + random() % kMostSteps); };
  const placed_matrix a(on, n, 1, gap()), b(on, n, 2, gap()), c(on, n, 3, gap());
  reference::product_check expected(sized(n, n, n), KZOO_COMPUTE_FP32);
  expected.of = {{a.spec}, {b.spec, true}, c.spec, expected.of.offsets};
  const devices::run_steps steps{
      .numbers =
          [&] {
            return std::vector{devices::filled_buffer{c.words.get(), c.spec}};
          },
      .call = [&] { enqueue_product(a.first(), b.first(), c.first(), n, on.stream()); },
      .fill_between = [] {},
      .output = c.words.get(),
      .expected = [&] { return expected; }};
  constexpr int kWarmup = 2;
  std::vector<double> ms;
  for (int i = 0; i < kWarmup + kSamples; ++i) {
    const devices::finished_run run =
        on.run(steps, devices::start::cold, devices::other_streams::counted);
    if (i >= kWarmup) ms.push_back(run.ms);
  }
  return timing::median(ms);
}

timing::process_median median_at(devices::backend& on, int n, std::minstd_rand& random) {
  std::vector<double> medians;
  for (int round = 0; round < kRounds; ++round) medians.push_back(round_median(on, n, random));
  const double mean = std::accumulate(medians.begin(), medians.end(), 0.0) / kRounds;
  double squares = 0;
  for (const double ms : medians) squares += (ms - mean) * (ms - mean);
  // The standard error of a median of normal values: sqrt(pi / 2) times their mean's.
  const double error = std::sqrt(M_PI / 2 * squares / (kRounds - 1) / kRounds);
  return {timing::median(medians), error};
}

using roofline::resource;

// Several per thread, so that others take over the tasks of a late or preempted thread.
constexpr int kTasksPerThread = 16;
constexpr double kSampleSeconds = 0.03;

// Independent chains of FMAs; latency limits each.
constexpr int kChains = 12;  // at 2 FMAs per cycle of latency 4, 8 would do; AVX2 has 16 registers
constexpr int kSteps = 4096;

template <class T, int kBytes>
struct vector {
  typedef T type [[gnu::vector_size(kBytes)]];
  static constexpr int kLanes = kBytes / int(sizeof(T));
};

// Inlined, to be compiled for the caller's instruction set. The factor is just above -1: x
// alternates around 0 and hardly shrinks in kSteps. Integers take any value.
template <class T, int kBytes>
[[gnu::always_inline]] inline void fma_chains(T* seed) {
  using lanes = typename vector<T, kBytes>::type;
  constexpr int kLanes = vector<T, kBytes>::kLanes;
  const lanes factor = lanes{} + seed[0], summand = lanes{} + seed[1];
  lanes x[kChains];
#pragma GCC unroll 12
  for (int c = 0; c < kChains; ++c) x[c] = lanes{} + seed[c % 2] * T(c + 1);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) x[c] = x[c] * factor + summand;
  }
  lanes sum{};
#pragma GCC unroll 12
  for (int c = 0; c < kChains; ++c) sum += x[c];
  // The compiler must assume that the sum is read, so it removes nothing above.
  for (int lane = 0; lane < kLanes; ++lane) seed[2] += sum[lane];
  asm volatile("" : : "r"(seed) : "memory");
}

template <class T>
using chain_function = void (*)(T* seed);

template <class T>
[[gnu::target("avx512f")]] void with_avx512(T* seed) {
  fma_chains<T, 64>(seed);
}
template <class T>
[[gnu::target("avx2,fma")]] void with_avx2(T* seed) {
  fma_chains<T, 32>(seed);
}
template <class T>
void with_sse2(T* seed) {
  fma_chains<T, 16>(seed);
}

// The time of run(task) for all tasks, on all threads at once.
template <class Run>
run_time time_of(std::int64_t tasks, const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  for_each_block(tasks, run);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {seconds.count(), 0};
}

template <class T>
microbenchmark arithmetic(roofline::resource measured, const char* instructions,
                          chain_function<T> run, int bytes) {
  const std::int64_t tasks = std::int64_t{kTasksPerThread} * hardware_threads();
  const double operations = 2.0 * kSteps * kChains * bytes / double(sizeof(T));
  return {measured, fmt::format("{} on {} threads", instructions, hardware_threads()),
          operations * double(tasks), kSampleSeconds, [=](std::int64_t repetitions) {
            return time_of(tasks, [&](std::int64_t) {
              T seed[3] = {std::is_integral_v<T> ? T(0x9e3779b1) : T(-0.99993),
                           std::is_integral_v<T> ? T(0x85ebca6b) : T(0.618034), T(0)};
              for (std::int64_t i = 0; i < repetitions; ++i) run(seed);
            });
          }};
}

template <class T>
void add_arithmetic(std::vector<microbenchmark>& all, roofline::resource measured) {
  if (__builtin_cpu_supports("avx512f") > 0)
    all.push_back(arithmetic<T>(measured, "AVX-512", with_avx512<T>, 64));
  if (__builtin_cpu_supports("avx2") > 0 && __builtin_cpu_supports("fma") > 0) {
    all.push_back(arithmetic<T>(measured, "AVX2", with_avx2<T>, 32));
  } else {
    all.push_back(arithmetic<T>(measured, "SSE2", with_sse2<T>, 16));
  }
}

// Copies far more than any cache holds.
microbenchmark copy() {
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  constexpr std::int64_t kPieces = 512;
  constexpr std::size_t kPiece = kBytes / kPieces;
  const std::shared_ptr<char[]> from(new char[kBytes]), to(new char[kBytes]);
  // Writes every page: pages never written all map to the same page of zeros.
  for_each_block(kPieces, [&](std::int64_t i) {
    const std::size_t at = std::size_t(i) * kPiece;
    std::memset(from.get() + at, int(i), kPiece);
    std::memset(to.get() + at, 0, kPiece);
  });
  return {resource::copy, fmt::format("memcpy on {} threads", hardware_threads()), 2.0 * kBytes,
          kSampleSeconds, [=](std::int64_t repetitions) {
            return time_of(kPieces * repetitions, [&](std::int64_t i) {
              const std::size_t at = std::size_t(i % kPieces) * kPiece;
              std::memcpy(to.get() + at, from.get() + at, kPiece);
            });
          }};
}

}  // namespace

roofline::measured_peak measure(const microbenchmark& b, const schedule& how) {
  const std::int64_t repetitions = repetitions_of(b);
  for (double seconds = 0; seconds < how.warmup_seconds;) seconds += b.run(repetitions).seconds;

  roofline::measured_peak peak{b.resource, b.kernel, {}, 0, {}};
  const int enough = 2 * how.samples, most = 5 * enough;
  for (int i = 0; i < enough || (i < most && !is_confirmed(peak.samples)); ++i) {
    if (i >= how.samples)
      std::this_thread::sleep_for(std::chrono::duration<double>(how.pause_seconds));
    const run_time t = b.run(repetitions);
    peak.samples.push_back({b.amount * double(repetitions) / t.seconds, t.clock_mhz});
  }
  const auto [slowest, best] = std::ranges::minmax(peak.samples, {}, &roofline::pace::rate);
  peak.best = best;
  peak.spread = 1 - slowest.rate / best.rate;
  return peak;
}

roofline::peaks peaks_for(const results::device& d) {
  roofline::peaks peaks{d.name, {}, "", {}};
  for (const char* key : {"compute_capability", "multiprocessors", "l2_bytes", "max_clock_mhz",
                          "driver", "driver_supports_cuda", "threads"}) {
    if (const std::string fact = d.fact(key); !fact.empty()) peaks.facts[key] = fact;
  }
  return peaks;
}

std::vector<microbenchmark> all(const results::device& d) {
  return d.abi.kind == KZOO_CUDA ? on_cuda(d) : on_cpu();
}

std::vector<std::string> products_command(const std::string& program,
                                          const std::string& device_id) {
  return process::one_shot_command(program, kProductsCommand, device_id);
}

int time_products(std::string_view request) {
  return process::answer_once(request, [](const nlohmann::json& device_id) {
    const results::device d = devices::find(device_id.get<std::string>());
    const auto on = devices::open(d.id);
    std::minstd_rand random(std::random_device{}());
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < kClockWarmup)
      round_median(*on, kSizes.back(), random);
    auto medians = nlohmann::ordered_json::array();
    for (const int n : kSizes) {
      const timing::process_median m = median_at(*on, n, random);
      medians.push_back({m.ms, m.standard_error});
    }
    return medians;
  });
}

std::vector<timing::process_median> read_medians(const std::string& output,
                                                 const std::string& how_ended) {
  std::vector<timing::process_median> medians;
  process::read_reply(output, how_ended, [&](const nlohmann::ordered_json& reply) {
    for (const auto& m : reply) medians.push_back({m.at(0), m.at(1)});
  });
  if (medians.empty()) throw failure(verdict::error, "no product was timed");
  for (const timing::process_median& m : medians) {
    if (!(m.ms > 0) || !(m.standard_error >= 0))
      throw failure(verdict::error, "a product was timed as nothing");
  }
  return medians;
}

// The peaks that native plugins can reach. The simulator has none.

std::vector<microbenchmark> on_cpu() {
  std::vector<microbenchmark> all;
  add_arithmetic<float>(all, resource::fp32);
  add_arithmetic<double>(all, resource::fp64);
  add_arithmetic<std::uint32_t>(all, resource::int32);
  all.push_back(copy());
  return all;
}

#ifndef KZOO_HAS_CUDA
std::vector<microbenchmark> on_cuda(const results::device&) {
  throw devices::absent(devices::why_no_cuda().value());
}

void enqueue_product(const float*, const float*, float*, int, void*) {
  throw devices::absent(devices::why_no_cuda().value());
}
#endif

}  // namespace kzoo::microbenchmarks
