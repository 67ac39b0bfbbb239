// What cuBLASLt's heuristic proposes for a problem: each of its candidates, and the fastest of
// them, which is the one to beat.

#include <kzoo/plugin.hpp>

#include <common/cublaslt.hpp>

#include <algorithm>
#include <limits>

namespace {

using lt_types = kzoo::types<float, __half, __nv_bfloat16, double, kzoo::to<__half, float>,
                             kzoo::to<__nv_bfloat16, float>, kzoo::to<signed char, int>,
                             kzoo::to<__nv_fp8_e4m3, float>, kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>,
                             kzoo::mixed<__nv_fp8_e4m3, __nv_fp8_e5m2, __nv_bfloat16>,
                             kzoo::mixed<__nv_fp8_e5m2, __nv_fp8_e4m3, __nv_bfloat16>>;

// What every variant has in common.
class lt {
 public:
  using types = lt_types;
  using layouts = kzoo::every_layout;
  template <class T>
  static constexpr kzoo_precision precision_of =
      kzoo::element_traits<T>::type_a == KZOO_E4M3 || kzoo::element_traits<T>::type_a == KZOO_E5M2
          ? KZOO_COMPUTE_FP8
          : kzoo::element_traits<T>::precision;

  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    const bool fp8 = p.type_a == KZOO_E4M3 || p.type_a == KZOO_E5M2;
    if (fp8 && d.compute_capability < 89) return "fp8 needs sm_89";
    return fp8 ? common::lt_fp8_objection(p) : nullptr;
  }
  static std::size_t workspace_bytes(const kzoo_problem&, const kzoo_device&) {
    return common::kLtWorkspace;
  }

  template <class T, kzoo::layout kLayout>
  void run(const kzoo::gemm<T, kLayout>&, const kzoo_arguments& args) const {
    product_.run(args);
  }

 protected:
  explicit lt(const kzoo_problem& p) : product_(p, common::lt_compute(p)) {}
  common::lt_product product_;
};

// The heuristic's candidate number kIndex, in its order.
template <std::size_t kIndex>
class heuristic : public lt {
 public:
  heuristic(const kzoo_problem& p, const kzoo_device&) : lt(p) {
    if (kIndex >= product_.count())
      throw kzoo::error(KZOO_UNSUPPORTED,
                        "the heuristic has only " + std::to_string(product_.count()) +
                            (product_.count() == 1 ? " candidate" : " candidates") +
                            " for this problem");
    product_.choose(kIndex);
  }
};

// Matrices, a stream, and what flushes the L2 before each run, as it is when the kernel is timed.
struct trial {
  explicit trial(const kzoo_problem& p)
      : a(filled(p.type_a, (kzoo::is_a_transposed(kzoo::layout_of(p)) ? p.k : p.m) * p.lda)),
        b(filled(p.type_b, (kzoo::is_b_transposed(kzoo::layout_of(p)) ? p.n : p.k) * p.ldb)),
        c(filled(p.type_c, p.m * p.ldc)),
        workspace(common::device_bytes(common::kLtWorkspace)) {
    int device = 0, l2_bytes = 0;
    common::check(cudaGetDevice(&device), "cudaGetDevice");
    common::check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device), "L2 size");
    flush_bytes = 2 * static_cast<std::size_t>(l2_bytes);
    flush = common::device_bytes(flush_bytes);
    cudaStream_t made_stream = nullptr;
    common::check(cudaStreamCreateWithFlags(&made_stream, cudaStreamNonBlocking),
                  "cudaStreamCreate");
    stream.reset(made_stream);
    for (auto* event : {&start, &stop}) {
      cudaEvent_t made_event = nullptr;
      common::check(cudaEventCreate(&made_event), "cudaEventCreate");
      event->reset(made_event);
    }
    common::check(cudaDeviceSynchronize(), "filling the matrices");
  }

  double median_ms(const common::lt_product& product) const {
    constexpr std::size_t kRuns = 11;
    const kzoo_arguments args{sizeof(kzoo_arguments), a.get(),      b.get(), c.get(),
                              workspace.get(),        stream.get(), nullptr};
    product.run(args);
    std::array<float, kRuns> ms{};
    for (float& one : ms) {
      common::check(cudaMemsetAsync(flush.get(), 0, flush_bytes, stream.get()), "flushing the L2");
      common::check(cudaEventRecord(start.get(), stream.get()), "cudaEventRecord");
      product.run(args);
      common::check(cudaEventRecord(stop.get(), stream.get()), "cudaEventRecord");
      common::check(cudaEventSynchronize(stop.get()), "a trial run");
      common::check(cudaEventElapsedTime(&one, start.get(), stop.get()), "cudaEventElapsedTime");
    }
    std::nth_element(ms.begin(), ms.begin() + kRuns / 2, ms.end());
    return ms[kRuns / 2];
  }

  // Bytes that are a number below 1 in every type.
  static common::owned<void, cudaFree> filled(kzoo_type type, std::int64_t elements) {
    constexpr int kPattern = 0x35;
    const std::size_t bytes = static_cast<std::size_t>(elements) * common::lt_bytes(type);
    auto memory = common::device_bytes(bytes);
    common::check(cudaMemset(memory.get(), kPattern, bytes), "cudaMemset");
    return memory;
  }

  common::owned<void, cudaFree> a, b, c, workspace, flush;
  std::size_t flush_bytes = 0;
  common::owned<CUstream_st, cudaStreamDestroy> stream;
  common::owned<CUevent_st, cudaEventDestroy> start, stop;
};

// Runs all candidates on matrices of its own when it is created, and keeps the fastest.
class best : public lt {
 public:
  best(const kzoo_problem& p, const kzoo_device&) : lt(p) {
    const trial on(p);
    double least = std::numeric_limits<double>::infinity();
    std::size_t fastest = 0;
    for (std::size_t i = 0; i < product_.count(); ++i) {
      product_.choose(i);
      const double ms = on.median_ms(product_);
      if (ms >= least) continue;
      least = ms;
      fastest = i;
    }
    product_.choose(fastest);
  }
};

}  // namespace

KZOO_PLUGIN("cublaslt", "What NVIDIA cuBLASLt's heuristic proposes",
            kzoo::variant<heuristic<0>>("heuristic0", "its first candidate"),
            kzoo::variant<heuristic<1>>("heuristic1", "its second"),
            kzoo::variant<heuristic<2>>("heuristic2", "its third"),
            kzoo::variant<heuristic<3>>("heuristic3", "its fourth"),
            kzoo::variant<heuristic<4>>("heuristic4", "its fifth"),
            kzoo::variant<heuristic<5>>("heuristic5", "its sixth"),
            kzoo::variant<heuristic<6>>("heuristic6", "its seventh"),
            kzoo::variant<heuristic<7>>("heuristic7", "its eighth"),
            kzoo::variant<best>("best", "the fastest of them, measured when it is created"));
