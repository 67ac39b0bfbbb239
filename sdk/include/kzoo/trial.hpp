// Autotuning: a variant with several candidates for a problem measures them when it is created, and
// keeps the fastest.
//
//   static constexpr bool nondeterministic = true;  // another process may choose another
//   static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d);  // the most
//
//   tuned(const kzoo_problem& p, const kzoo_device& d) {
//     static kzoo::trial_choices choices;
//     const auto run = [&](std::size_t i, const kzoo_arguments& args) { enqueue(i, args); };
//     which_ = choices.fastest_of(p, count, workspace_bytes(p, d), run);
//   }
#pragma once

#include <kzoo/abi.h>
#include <kzoo/cuda.hpp>
#include <kzoo/error.hpp>
#include <kzoo/layout.hpp>
#include <kzoo/type_names.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kzoo {

// At an H200's peak in fp32 a smaller product takes a microsecond, less than its launch; and checks
// ask for many of them, each of another shape.
inline bool is_worth_a_trial(const kzoo_problem& p) {
  constexpr double kFewestMultiplications = 1 << 25;  // about 320³
  const auto products = static_cast<double>(std::max<std::int64_t>(1, p.batch));
  return products * static_cast<double>(p.m) * static_cast<double>(p.n) *
             static_cast<double>(p.k) >=
         kFewestMultiplications;
}

// Problems with the same choice differ in their scalars alone. Whether beta is 0 decides whether C
// is read.
inline kzoo_problem without_scalars(kzoo_problem p) {
  p.alpha = p.scale_a = p.scale_b = 1;
  p.beta = p.beta == 0 ? 0 : 1;
  return p;
}

#if defined(KZOO_REAL_CUDA)

// Throws kzoo::error(code) unless the call succeeded.
inline void check_cuda(cudaError_t status, const char* function, kzoo_status code = KZOO_ERROR) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // reported here; must not appear as the failure of a later call
  throw error(code, std::string(function) + ": " + cudaGetErrorString(status));
}

// Frees what CUDA or a library made.
template <auto kFree>
struct freed_by {
  template <class T>
  void operator()(T* made) const {
    kFree(made);
  }
};
template <class T, auto kFree>
using owned = std::unique_ptr<T, freed_by<kFree>>;

// Memory of the current device. Throws kzoo::error(KZOO_UNAVAILABLE) if there is not enough.
inline owned<void, cudaFree> device_bytes(std::size_t bytes) {
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, bytes), "cudaMalloc", KZOO_UNAVAILABLE);
  return owned<void, cudaFree>(memory);
}

// Matrices and operands of a problem, a workspace, a stream, and memory that flushes the L2 before
// each run.
class trial {
 public:
  trial(const kzoo_problem& p, std::size_t workspace_bytes)
      : a_(filled(p.type_a,
                  elements(p, is_a_transposed(layout_of(p)) ? p.k : p.m, p.lda, p.stride_a))),
        b_(filled(p.type_b,
                  elements(p, is_b_transposed(layout_of(p)) ? p.n : p.k, p.ldb, p.stride_b))),
        c_(filled(p.type_c, elements(p, p.m, p.ldc, p.stride_c))),
        workspace_(device_bytes(std::max<std::size_t>(1, workspace_bytes))) {
    for (const kzoo_operand& x : std::span(p.operands, p.operand_count)) {
      operands_.push_back(filled(x.type, x.rows * x.ld));
      addresses_.push_back(operands_.back().get());
    }
    int device = 0, l2_bytes = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    check_cuda(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device),
               "the size of the L2");
    flush_bytes_ = 2 * static_cast<std::size_t>(l2_bytes);
    flush_ = device_bytes(flush_bytes_);
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    stream_.reset(stream);
    for (auto* event : {&start_, &stop_}) {
      cudaEvent_t made = nullptr;
      check_cuda(cudaEventCreate(&made), "cudaEventCreate");
      event->reset(made);
    }
    check_cuda(cudaDeviceSynchronize(), "filling the matrices");
  }

  // The time of one run, in ms. The L2 holds zeros, some of which are written back meanwhile: the
  // same for each candidate.
  template <class Run>  // run(const kzoo_arguments&) enqueues it
  double ms(const Run& run) const {
    const kzoo_arguments args{.struct_size = sizeof(kzoo_arguments),
                              .a = a_.get(),
                              .b = b_.get(),
                              .c = c_.get(),
                              .workspace = workspace_.get(),
                              .stream = stream_.get(),
                              .launches = nullptr,
                              .operands = addresses_.data()};
    check_cuda(cudaMemsetAsync(flush_.get(), 0, flush_bytes_, stream_.get()), "flushing the L2");
    check_cuda(cudaEventRecord(start_.get(), stream_.get()), "cudaEventRecord");
    run(args);
    check_cuda(cudaEventRecord(stop_.get(), stream_.get()), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(stop_.get()), "a trial run");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start_.get(), stop_.get()), "cudaEventElapsedTime");
    return ms;
  }

 private:
  // Of a matrix of all products.
  static std::int64_t elements(const kzoo_problem& p, std::int64_t rows, std::int64_t ld,
                               std::int64_t stride) {
    return std::max<std::int64_t>(0, p.batch - 1) * stride + rows * ld;
  }

  // Numbers between -1 and 1, or all bytes: how fast a product is depends on its data.
  static std::vector<char> sample(kzoo_type type) {
    constexpr std::size_t kElements = 1 << 18;
    std::minstd_rand random;
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<char> bytes;
    const auto add = [&](auto number) {
      const auto* const first = reinterpret_cast<const char*>(&number);
      bytes.insert(bytes.end(), first, first + sizeof number);
    };
    for (std::size_t i = 0; i < kElements; ++i) {
      const float x = uniform(random);
      switch (type) {
        case KZOO_F64: add(static_cast<double>(x)); break;
        case KZOO_F16: add(__half(x)); break;
        case KZOO_BF16: add(__nv_bfloat16(x)); break;
        case KZOO_E4M3: add(__nv_fp8_e4m3(x)); break;
        case KZOO_E5M2: add(__nv_fp8_e5m2(x)); break;
        case KZOO_I8: add(static_cast<signed char>(127 * x)); break;
        default: add(x);
      }
    }
    return bytes;
  }

  static owned<void, cudaFree> filled(kzoo_type type, std::int64_t elements) {
    const std::vector<char> some = sample(type);
    const std::size_t all = static_cast<std::size_t>(elements * type_bytes(type));
    auto memory = device_bytes(all);
    for (std::size_t at = 0; at < all; at += some.size()) {
      check_cuda(cudaMemcpy(static_cast<char*>(memory.get()) + at, some.data(),
                            std::min(some.size(), all - at), cudaMemcpyHostToDevice),
                 "cudaMemcpy");
    }
    return memory;
  }

  owned<void, cudaFree> a_, b_, c_, workspace_, flush_;
  std::vector<owned<void, cudaFree>> operands_;
  std::vector<const void*> addresses_;  // of the operands
  std::size_t flush_bytes_ = 0;
  owned<CUstream_st, cudaStreamDestroy> stream_;
  owned<CUevent_st, cudaEventDestroy> start_, stop_;
};

#endif

// The choices of a process: each problem has its trial once. Not each time: a GPU at its power
// limit is slower for a while after it. Several threads may ask.
class trial_choices {
 public:
  // The index of the fastest of `count` candidates, the likeliest first; run(index, arguments)
  // enqueues one. 0 where there is one alone, where the problem is not worth a trial, and in the
  // simulator, which has no speed. Throws what run throws, and kzoo::error.
  template <class Run>
  std::size_t fastest_of(const kzoo_problem& p, std::size_t count, std::size_t workspace_bytes,
                         const Run& run) {
#if defined(KZOO_REAL_CUDA)
    if (count < 2 || !is_worth_a_trial(p)) return 0;
    key of{std::bit_cast<std::array<std::byte, sizeof p>>(without_scalars(p)), 0};
    check_cuda(cudaGetDevice(&of.second), "cudaGetDevice");
    const std::lock_guard one_at_a_time(mutex_);
    const auto known = fastest_.find(of);
    if (known != fastest_.end()) return known->second;
    return fastest_[of] = measured(trial(p, workspace_bytes), count, run);
#else
    static_cast<void>(p), static_cast<void>(count), static_cast<void>(workspace_bytes);
    static_cast<void>(run);
    return 0;
#endif
  }

 private:
#if defined(KZOO_REAL_CUDA)
  template <class Run>
  static std::size_t measured(const trial& on, std::size_t count, const Run& run) {
    constexpr std::size_t kLeastRounds = 3, kMostRounds = 50;
    constexpr double kEnoughMs = 500;
    constexpr double kTie = 0.99;  // within this the likelier one is taken
    std::vector<std::vector<double>> ms(count);
    double total = 0;
    for (std::size_t round = 0; round < kMostRounds; ++round) {
      if (round >= kLeastRounds && total > kEnoughMs) break;
      for (std::size_t i = 0; i < count; ++i) {
        ms[i].push_back(on.ms([&](const kzoo_arguments& args) { run(i, args); }));
        total += ms[i].back();
      }
    }
    const auto median = [](std::vector<double>& of) {
      const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
      std::nth_element(of.begin(), middle, of.end());
      return *middle;
    };
    std::size_t fastest = 0;
    double least = median(ms[0]);
    for (std::size_t i = 1; i < count; ++i) {
      const double mine = median(ms[i]);
      if (mine >= kTie * least) continue;
      least = mine;
      fastest = i;
    }
    return fastest;
  }
#endif

  // A problem without its scalars, and a device.
  using key = std::pair<std::array<std::byte, sizeof(kzoo_problem)>, int>;
  std::map<key, std::size_t> fastest_;
  std::mutex mutex_;
};

}  // namespace kzoo
