#pragma once
// What the code that `runner export` writes is made of: a table of tuned kernels, of which a call
// gets the one that was the fastest for its problem, or for the most similar one.

#include <kzoo/abi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if KZOO_TARGET_DEVICE == KZOO_CUDA
#include <cuda_runtime_api.h>
#else
#include <new>
#endif

namespace kzoo::exported {

struct tuned_kernel {
  std::int64_t m, n, k, batch;  // it was the fastest for
  const kzoo_plugin& plugin;
  const char* variant;  // nullptr: its only one
};

#if KZOO_TARGET_DEVICE == KZOO_CUDA

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // said here, and no failure of a later call
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

inline kzoo_device current_device() {
  int ordinal = 0;
  check(cudaGetDevice(&ordinal), "cudaGetDevice");
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute");
    return static_cast<unsigned>(value);
  };
  kzoo_device d{};
  d.struct_size = sizeof(d);
  d.kind = KZOO_CUDA;
  d.ordinal = ordinal;
  d.compute_capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
                         attribute(cudaDevAttrComputeCapabilityMinor);
  d.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  d.shared_bytes_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return d;
}

// Scratch memory for the work that is enqueued on the stream while it lives.
class workspace {
 public:
  workspace(std::uint64_t bytes, void* stream) : stream_(static_cast<cudaStream_t>(stream)) {
    if (bytes > 0) check(cudaMallocAsync(&data_, bytes, stream_), "no memory for the workspace");
  }
  ~workspace() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream_);
  }
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;
  void* data() const { return data_; }

 private:
  cudaStream_t stream_;
  void* data_ = nullptr;
};

#else

inline kzoo_device current_device() {
  kzoo_device d{};
  d.struct_size = sizeof(d);
  d.kind = KZOO_CPU;
  d.threads = std::max(std::thread::hardware_concurrency(), 1U);
  return d;
}

// Scratch memory.
class workspace {
 public:
  workspace(std::uint64_t bytes, void*)
      : data_(bytes == 0 ? nullptr : ::operator new(bytes, kAlignment)) {}
  ~workspace() { ::operator delete(data_, kAlignment); }
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;
  void* data() const { return data_; }

 private:
  static constexpr std::align_val_t kAlignment{256};
  void* data_;
};

#endif

// Kernels for one combination of element types and layouts. Any thread may call run().
class table {
 public:
  explicit table(std::vector<tuned_kernel> kernels) : kernels_(std::move(kernels)) {}

  // Enqueues the product on the stream. Returns nullptr, or why it is not computed: a sentence that
  // is valid until this thread's next call. What a kernel prepares for a problem, with its alpha,
  // beta and leading dimensions, is kept until the program ends, for each stream.
  const char* run(kzoo_problem p, const void* a, const void* b, void* c, void* stream) noexcept {
    thread_local std::string why;
    try {
      p.struct_size = sizeof(p);
      p.alignment = alignment_of(a, b, c);
      check_problem(p, a, b, c);
      enqueue(p, a, b, c, stream);
      return nullptr;
    } catch (const std::exception& e) {
      why = e.what();
      return why.c_str();
    }
  }

 private:
  struct prepared {
    const kzoo_variant* variant;
    void* instance;
    std::uint64_t workspace_bytes;
  };
  // The words of a problem, the device and the stream.
  using key = std::array<std::uint64_t, sizeof(kzoo_problem) / sizeof(std::uint64_t) + 2>;

  // A buffer for the sentence of a plugin.
  class sentence {
   public:
    kzoo_text* text() { return &text_; }
    std::string of(const kzoo_variant& v, const char* what) const {
      return std::string(v.id) + " " + what + ": " +
             (buffer_[0] == '\0' ? "no reason given" : buffer_.data());
    }

   private:
    std::array<char, 1024> buffer_{};
    kzoo_text text_{buffer_.data(), buffer_.size()};
  };

  // Kernels ask whether they can read 16 bytes at a time; few different answers make few instances.
  static std::uint64_t alignment_of(const void* a, const void* b, const void* c) {
    constexpr std::uint64_t kMost = 256, kVector = 16;
    const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    const std::uint64_t least = std::uint64_t{1}
                                << std::countr_zero(address(a) | address(b) | address(c) | kMost);
    return least == kMost ? kMost : std::min(least, kVector);
  }

  static void check_problem(const kzoo_problem& p, const void* a, const void* b, const void* c) {
    const auto require = [](bool holds, const char* what) {
      if (!holds) throw std::invalid_argument(what);
    };
    require(p.m > 0 && p.n > 0 && p.k > 0, "m, n and k must be at least 1");
    require(p.lda >= (p.layout_a == KZOO_ROW_MAJOR ? p.k : p.m), "lda is less than a line of A");
    require(p.ldb >= (p.layout_b == KZOO_ROW_MAJOR ? p.n : p.k), "ldb is less than a line of B");
    require(p.ldc >= p.n, "ldc is less than a row of C");
    require(p.batch >= 0, "the batch must be at least 1");
    require(a != nullptr && b != nullptr && c != nullptr, "a, b or c is null");
  }

  void enqueue(const kzoo_problem& p, const void* a, const void* b, void* c, void* stream) {
    const std::lock_guard lock(mutex_);
    const prepared& ready = find(p, stream);
    const workspace scratch(ready.workspace_bytes, stream);
    kzoo_arguments arguments{};
    arguments.struct_size = sizeof(arguments);
    arguments.a = a;
    arguments.b = b;
    arguments.c = c;
    arguments.workspace = scratch.data();
    arguments.stream = stream;
    sentence why;
    if (ready.variant->run(ready.variant, ready.instance, &arguments, why.text()) != KZOO_OK)
      throw std::runtime_error(why.of(*ready.variant, "failed"));
  }

  const prepared& find(const kzoo_problem& p, void* stream) {
    const kzoo_device d = current_device();
    key words{};
    const auto problem = std::bit_cast<std::array<std::uint64_t, words.size() - 2>>(p);
    std::copy(problem.begin(), problem.end(), words.begin());
    words[words.size() - 2] = static_cast<std::uint64_t>(d.ordinal);
    words[words.size() - 1] = reinterpret_cast<std::uintptr_t>(stream);
    if (const auto known = prepared_.find(words); known != prepared_.end()) return known->second;
    const kzoo_variant& v = choose(p, d);
    prepared made{&v, nullptr, v.workspace_bytes(&v, &p, &d)};
    sentence why;
    if (made.workspace_bytes == UINT64_MAX)
      throw std::runtime_error(why.of(v, "cannot say how much workspace it needs"));
    if (v.create(&v, &p, &d, &made.instance, why.text()) != KZOO_OK)
      throw std::runtime_error(why.of(v, "cannot be prepared"));
    return prepared_.emplace(words, made).first->second;
  }

  // The kernel of the most similar problem, by the logarithms of its sizes, that takes this one.
  const kzoo_variant& choose(const kzoo_problem& p, const kzoo_device& d) const {
    const auto distance = [&](const tuned_kernel* t) {
      const auto square = [](std::int64_t x, std::int64_t y) {
        return std::pow(std::log2(static_cast<double>(x) / static_cast<double>(y)), 2);
      };
      return square(t->m, p.m) + square(t->n, p.n) + square(t->k, p.k) +
             square(std::max<std::int64_t>(t->batch, 1), std::max<std::int64_t>(p.batch, 1));
    };
    std::vector<const tuned_kernel*> near;
    for (const tuned_kernel& t : kernels_) near.push_back(&t);
    std::ranges::stable_sort(near, {}, distance);
    std::string reasons;
    for (const tuned_kernel* t : near) {
      const kzoo_variant& v = variant_of(*t);
      if (v.compute_capability > d.compute_capability) {
        reasons += std::string("; ") + v.id + " needs compute capability " +
                   std::to_string(v.compute_capability);
        continue;
      }
      sentence why;
      if (v.supports(&v, &p, &d, why.text()) == KZOO_OK) return v;
      reasons += "; " + why.of(v, "declines");
    }
    throw std::runtime_error("no kernel takes this problem" + reasons);
  }

  static const kzoo_variant& variant_of(const tuned_kernel& t) {
    const auto* at = reinterpret_cast<const unsigned char*>(t.plugin.variants);
    for (std::uint32_t i = 0; i < t.plugin.variant_count; ++i, at += t.plugin.variant_stride) {
      const auto* const v = reinterpret_cast<const kzoo_variant*>(at);
      if (t.variant == nullptr || std::string(v->id) == t.variant) return *v;
    }
    throw std::logic_error(std::string(t.plugin.id) + " has no variant " + t.variant);
  }

  std::vector<tuned_kernel> kernels_;
  std::mutex mutex_;  // plugins are called by one thread at a time
  std::map<key, prepared> prepared_;
};

}  // namespace kzoo::exported
