#pragma once
// Used by code that `runner export` writes: a table of tuned kernels. A call gets the fastest
// kernel for its problem, or for the most similar problem.

#include <kzoo/abi.h>
#include <kzoo/caller.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#if KZOO_TARGET_DEVICE == KZOO_CUDA
#include <cuda_runtime_api.h>
#else
#include <new>
#endif

namespace kzoo::exported {

struct tuned_kernel {
  std::int64_t m, n, k, batch;  // its fastest problem
  const kzoo_plugin& plugin;
  const char* variant;  // nullptr: its only variant
  const char* name;     // for people
};

#if KZOO_TARGET_DEVICE == KZOO_CUDA

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // reported here; must not appear as the failure of a later call
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

// A stream's id is never reused, unlike its handle.
inline std::uint64_t id_of(void* stream) {
  unsigned long long id = 0;
  check(cudaStreamGetId(static_cast<cudaStream_t>(stream), &id), "cudaStreamGetId");
  return id;
}

// Scratch memory for work that is enqueued on the stream while it lives.
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
  void fill_with_zeros(std::uint64_t bytes) {
    check(cudaMemsetAsync(data_, 0, bytes, stream_), "cudaMemsetAsync");
  }

 private:
  cudaStream_t stream_;
  void* data_ = nullptr;
};

inline bool is_capturing(void* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

// A position in a stream.
class marker {
 public:
  marker() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate"); }
  ~marker() { cudaEventDestroy(event_); }
  marker(const marker&) = delete;
  marker& operator=(const marker&) = delete;
  // Moves to the position after everything enqueued so far.
  void record(void* stream) {
    check(cudaEventRecord(event_, static_cast<cudaStream_t>(stream)), "cudaEventRecord");
  }
  bool is_reached() const {
    const bool reached = cudaEventQuery(event_) == cudaSuccess;
    if (!reached) cudaGetLastError();
    return reached;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

#else

inline kzoo_device current_device() {
  kzoo_device d{};
  d.struct_size = sizeof(d);
  d.kind = KZOO_CPU;
  d.multiprocessors = d.threads = std::max(std::thread::hardware_concurrency(), 1U);
  return d;
}

inline std::uint64_t id_of(void*) { return 0; }

class workspace {
 public:
  workspace(std::uint64_t bytes, void*)
      : data_(bytes == 0 ? nullptr : ::operator new(bytes, kAlignment)) {}
  ~workspace() { ::operator delete(data_, kAlignment); }
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;
  void* data() const { return data_; }
  void fill_with_zeros(std::uint64_t bytes) { std::memset(data_, 0, bytes); }

 private:
  static constexpr std::align_val_t kAlignment{256};
  void* data_;
};

inline bool is_capturing(void*) { return false; }

// A call has done its work when it returns.
class marker {
 public:
  void record(void*) {}
  bool is_reached() const { return true; }
};

#endif

// Only one thread at a time calls a plugin, even through several tables.
inline std::mutex& mutex_of(const kzoo_plugin& plugin) {
  static std::mutex mutex;
  static auto& known = *new std::map<const kzoo_plugin*, std::mutex>;
  const std::lock_guard lock(mutex);
  return known[&plugin];
}

// Kernels for one combination of element types and layouts. Any thread may call run().
class table {
 public:
  explicit table(std::vector<tuned_kernel> kernels) : kernels_(std::move(kernels)) {}

  // Enqueues the GEMM on the stream. Returns nullptr, or a sentence why not, valid until this
  // thread's next call. Keeps instances for the last kMostKept problems (with alpha, beta and
  // leading dimensions) and streams. Keeps instances in CUDA graphs until the program ends.
  const char* run(kzoo_problem p, const void* a, const void* b, void* c, void* stream) noexcept {
    thread_local std::array<char, 2048> why;
    try {
      p.struct_size = sizeof(p);
      p.alignment = common_alignment(a, b, c);
      // Nothing to compute, as in BLAS.
      if (std::min(p.m, p.n) == 0) return nullptr;
      if (p.batch <= 1) p.batch = p.stride_a = p.stride_b = p.stride_c = 0;
      check_problem(p, a, b, c);
      if (p.k > 0) {
        enqueue(p, a, b, c, stream);
      } else if (p.beta != 1) {
        enqueue_without_product(p, c, stream);
      }
      return nullptr;
    } catch (const std::exception& e) {
      std::snprintf(why.data(), why.size(), "%s", e.what());
      return why.data();
    }
  }

 private:
  struct chosen {
    const tuned_kernel* kernel;
    const kzoo_variant* variant;
  };
  // An instance of a kernel.
  struct prepared {
    chosen what;
    std::uint64_t workspace_bytes = 0, last_use = 0;
    void* instance = nullptr;
    bool is_created = false, is_in_graph = false;
    marker done{};  // with its last call

    explicit prepared(const chosen& by) : what(by) {}
    ~prepared() {
      if (!is_created) return;
      const std::lock_guard alone(mutex_of(what.kernel->plugin));
      what.variant->destroy(what.variant, instance);
    }
    prepared(const prepared&) = delete;
    prepared& operator=(const prepared&) = delete;
  };
  static constexpr std::size_t kMostKept = 256;
  std::size_t most_ = kMostKept;  // before the next sweep
  // The problem, the device and the stream.
  using key = std::tuple<plain_problem, int, std::uint64_t>;

  static std::string said(const tuned_kernel& t, const char* what, const reason& given) {
    const std::string why = given.words();
    return std::string(t.name) + " " + what + ": " + (why.empty() ? "no reason given" : why);
  }

  static void check_problem(const kzoo_problem& p, const void* a, const void* b, const void* c) {
    const auto require = [](bool holds, const char* what) {
      if (!holds) throw std::invalid_argument(what);
    };
    require(p.m > 0 && p.n > 0 && p.k >= 0, "m, n and k must not be negative");
    require(c != nullptr && (p.k == 0 || (a != nullptr && b != nullptr)), "a, b or c is null");
    const bool rows_a = p.layout_a == KZOO_ROW_MAJOR, rows_b = p.layout_b == KZOO_ROW_MAJOR;
    const std::int64_t line_a = rows_a ? p.k : p.m, lines_a = rows_a ? p.m : p.k;
    const std::int64_t line_b = rows_b ? p.n : p.k, lines_b = rows_b ? p.k : p.n;
    require(p.lda >= line_a, "lda is less than a line of A");
    require(p.ldb >= line_b, "ldb is less than a line of B");
    require(p.ldc >= p.n, "ldc is less than a row of C");
    const auto extent_of = [&](std::int64_t count, std::int64_t stride, std::int64_t part) {
      const auto elements = extent(count, stride, part);
      require(elements.has_value(), "a, b or c reaches over more than 2^56 elements");
      return *elements;
    };
    const std::int64_t matrix_a = extent_of(lines_a, p.lda, line_a),
                       matrix_b = extent_of(lines_b, p.ldb, line_b),
                       matrix_c = extent_of(p.m, p.ldc, p.n);
    if (p.batch == 0) return;
    require(p.stride_a == 0 || p.stride_a >= matrix_a,
            "stride_a is less than a matrix A, and not 0");
    require(p.stride_b == 0 || p.stride_b >= matrix_b,
            "stride_b is less than a matrix B, and not 0");
    require(p.stride_c >= matrix_c, "stride_c is less than a matrix C");
    extent_of(p.batch, p.stride_a, matrix_a);
    extent_of(p.batch, p.stride_b, matrix_b);
    extent_of(p.batch, p.stride_c, matrix_c);
  }

  void enqueue(const kzoo_problem& p, const void* a, const void* b, void* c, void* stream) {
    const std::shared_ptr<prepared> ready = find(p, stream);
    const std::lock_guard lock(mutex_of(ready->what.kernel->plugin));
    const workspace scratch(ready->workspace_bytes, stream);
    kzoo_arguments arguments{};
    arguments.struct_size = sizeof(arguments);
    arguments.a = a;
    arguments.b = b;
    arguments.c = c;
    arguments.workspace = scratch.data();
    arguments.stream = stream;
    reason why;
    const kzoo_variant& v = *ready->what.variant;
    const kzoo_status status = v.run(&v, ready->instance, &arguments, why.text());
    if (is_capturing(stream)) {
      ready->is_in_graph = true;
    } else {
      ready->done.record(stream);
    }
    if (status != KZOO_OK) throw std::runtime_error(said(*ready->what.kernel, "failed", why));
  }

  // beta C, for k = 0.
  void enqueue_without_product(const kzoo_problem& of, void* c, void* stream) {
    kzoo_problem p = product_of_zeros(of);
    const std::uint64_t bytes = bytes_of_zeros(p);
    workspace zeros(bytes, stream);
    zeros.fill_with_zeros(bytes);
    p.alignment = common_alignment(zeros.data(), zeros.data(), c);
    enqueue(p, zeros.data(), zeros.data(), c, stream);
  }

  std::shared_ptr<prepared> find(const kzoo_problem& p, void* stream) {
    const kzoo_device d = current_device();
    const key words{words_of(p), d.ordinal, id_of(stream)};
    const std::lock_guard lock(mutex_);
    std::shared_ptr<prepared>& known = prepared_[words];
    if (!known) {
      try {
        known = prepare(p, d);
      } catch (...) {
        prepared_.erase(words);
        throw;
      }
    }
    known->last_use = ++uses_;
    const std::shared_ptr<prepared> found = known;
    // Events must not be queried while a graph is captured.
    if (prepared_.size() > most_ && !is_capturing(stream)) drop_surplus();
    return found;
  }

  std::shared_ptr<prepared> prepare(const kzoo_problem& p, const kzoo_device& d) const {
    const auto made = std::make_shared<prepared>(choose(p, d));
    const kzoo_variant& v = *made->what.variant;
    const tuned_kernel& kernel = *made->what.kernel;
    reason why;
    made->workspace_bytes = v.workspace_bytes(&v, &p, &d);
    if (made->workspace_bytes == UINT64_MAX)
      throw std::runtime_error(said(kernel, "cannot say how much workspace it needs", why));
    const std::lock_guard alone(mutex_of(kernel.plugin));
    if (v.create(&v, &p, &d, &made->instance, why.text()) != KZOO_OK)
      throw std::runtime_error(said(kernel, "cannot be prepared", why));
    made->is_created = true;
    return made;
  }

  // Keeps the most recently used half, and instances with unfinished work.
  void drop_surplus() {
    std::vector<std::uint64_t> uses;
    for (const auto& [words, p] : prepared_) uses.push_back(p->last_use);
    const auto last = uses.end() - kMostKept / 2;
    std::ranges::nth_element(uses, last);
    std::erase_if(prepared_, [&](const auto& of) {
      const prepared& p = *of.second;
      return p.last_use < *last && of.second.use_count() == 1 && !p.is_in_graph &&
             p.done.is_reached();
    });
    most_ = std::max(kMostKept, prepared_.size() + kMostKept / 2);
  }

  // The kernel of the most similar problem, by logarithms of sizes, that takes this problem.
  chosen choose(const kzoo_problem& p, const kzoo_device& d) const {
    const auto sizes = [](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch) {
      return problem_sizes{static_cast<double>(m), static_cast<double>(n), static_cast<double>(k),
                           static_cast<double>(std::max<std::int64_t>(batch, 1))};
    };
    const problem_sizes wanted = sizes(p.m, p.n, p.k, p.batch);
    std::vector<const tuned_kernel*> near;
    for (const tuned_kernel& t : kernels_) near.push_back(&t);
    std::ranges::stable_sort(near, {}, [&](const tuned_kernel* t) {
      return distance(sizes(t->m, t->n, t->k, t->batch), wanted);
    });
    std::string reasons;
    std::set<const kzoo_variant*> asked;
    for (const tuned_kernel* t : near) {
      const kzoo_variant& v = variant_of(*t);
      if (!asked.insert(&v).second) continue;
      if (v.compute_capability > d.compute_capability) {
        reasons += std::string("; ") + t->name + " needs compute capability " +
                   std::to_string(v.compute_capability);
        continue;
      }
      reason why;
      if (v.supports(&v, &p, &d, why.text()) == KZOO_OK) return {t, &v};
      reasons += "; " + said(*t, "declines", why);
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
  std::mutex mutex_;  // guards the following members
  std::map<key, std::shared_ptr<prepared>> prepared_;
  std::uint64_t uses_ = 0;
};

}  // namespace kzoo::exported
