// The peaks that native plugins can reach. The simulator has none.

#include "microbenchmarks/measure.hpp"
#include "os/parallel.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <type_traits>

namespace kzoo::microbenchmarks {
namespace {

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
microbenchmark arithmetic(roofline::resource what, const char* instructions, chain_function<T> run,
                          int bytes) {
  const std::int64_t tasks = std::int64_t{kTasksPerThread} * hardware_threads();
  const double operations = 2.0 * kSteps * kChains * bytes / double(sizeof(T));
  return {what, fmt::format("{} on {} threads", instructions, hardware_threads()),
          operations * double(tasks), kSampleSeconds, [=](std::int64_t repetitions) {
            return time_of(tasks, [&](std::int64_t) {
              T seed[3] = {std::is_integral_v<T> ? T(0x9e3779b1) : T(-0.99993),
                           std::is_integral_v<T> ? T(0x85ebca6b) : T(0.618034), T(0)};
              for (std::int64_t i = 0; i < repetitions; ++i) run(seed);
            });
          }};
}

template <class T>
void add_arithmetic(std::vector<microbenchmark>& all, roofline::resource what) {
  if (__builtin_cpu_supports("avx512f") > 0) {
    all.push_back(arithmetic<T>(what, "AVX-512", with_avx512<T>, 64));
  }
  if (__builtin_cpu_supports("avx2") > 0 && __builtin_cpu_supports("fma") > 0) {
    all.push_back(arithmetic<T>(what, "AVX2", with_avx2<T>, 32));
  } else {
    all.push_back(arithmetic<T>(what, "SSE2", with_sse2<T>, 16));
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

std::vector<microbenchmark> on_cpu() {
  std::vector<microbenchmark> all;
  add_arithmetic<float>(all, resource::fp32);
  add_arithmetic<double>(all, resource::fp64);
  add_arithmetic<std::uint32_t>(all, resource::int32);
  all.push_back(copy());
  return all;
}

}  // namespace kzoo::microbenchmarks
