// Arithmetic other than declared: of lower precision, or in a different order each time.
#include "hostile.hpp"
#include "tf32.hpp"

namespace {

using hostile::gemm;
using hostile::launch;
using hostile::per_element;

// Truncates the inputs to TF32, as a tensor core does.
struct tf32_inputs : per_element<tf32_inputs> {
  static __device__ void element(const gemm& g, int row, int col) {
    float sum = 0;
    for (int i = 0; i < g.k; ++i)
      sum += hostile::to_tf32(g.a_at(row, i)) * hostile::to_tf32(g.b_at(i, col));
    g.store(row, col, sum);
  }
};

// Accumulates in fp16.
struct fp16_sums : per_element<fp16_sums> {
  static __device__ void element(const gemm& g, int row, int col) {
    __half sum = __float2half(0);
    for (int i = 0; i < g.k; ++i) sum = __hadd(sum, __float2half(g.a_at(row, i) * g.b_at(i, col)));
    g.store(row, col, __half2float(sum));
  }
};

// Products of fp16 parts: hi hi, and as many of lo hi and hi lo as declared fp32_split needs.
enum class products { hi_hi, with_lo_a, with_lo_b, all_three };

template <products kProducts>
struct split : per_element<split<kProducts>> {
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32_SPLIT;
  struct parts {
    float hi, lo;
    __device__ explicit parts(float x)
        : hi(__half2float(__float2half(x))),
          lo(__half2float(__float2half((x - hi) * 0x1p11f)) * 0x1p-11f) {}
  };
  static __device__ void element(const gemm& g, int row, int col) {
    constexpr bool kLoA = kProducts == products::with_lo_a || kProducts == products::all_three;
    constexpr bool kLoB = kProducts == products::with_lo_b || kProducts == products::all_three;
    float sum = 0;
    for (int i = 0; i < g.k; ++i) {
      const parts a(g.a_at(row, i)), b(g.b_at(i, col));
      sum += a.hi * b.hi;
      if (kLoA) sum += a.lo * b.hi;
      if (kLoB) sum += a.hi * b.lo;
    }
    g.store(row, col, sum);
  }
};

// 32-bit integers computed with 8-bit inputs, like those of dp4a, or with a float accumulator.
enum class through { bytes, floats };

template <through kThrough>
__global__ void narrow_kernel(kzoo::gemm<int> g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  int sum = 0;
  float float_sum = 0;
  for (int i = 0; i < g.k; ++i) {
    const int a = g.a_at(row, i), b = g.b_at(i, col);
    sum += static_cast<signed char>(a) * static_cast<signed char>(b);
    float_sum += static_cast<float>(a) * static_cast<float>(b);
  }
  g.store(row, col, kThrough == through::bytes ? sum : static_cast<int>(float_sum));
}

template <through kThrough>
struct narrow_integers {
  using types = kzoo::types<int>;
  void run(const kzoo::gemm<int>& g, kzoo::stream_t stream) const {
    launch(narrow_kernel<kThrough>, g, stream);
  }
};

__global__ void drift_kernel(gemm g, int from) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (int i = 0; i < g.k; ++i) {
    const int k = (i + from) % g.k;
    sum += g.a_at(row, k) * g.b_at(k, col);
  }
  g.store(row, col, sum);
}

// Sums in a different order each time, always within the tolerance: allowed if declared.
template <bool kDeclared>
struct drifts {
  using types = kzoo::types<float>;
  static constexpr bool nondeterministic = kDeclared;
  void run(const gemm& g, kzoo::stream_t stream) const {
    launch(drift_kernel, g, stream, runs++ % g.k);
  }
  mutable int runs = 0;
};

}  // namespace

KZOO_PLUGIN("precision", "Another precision or order than declared",
            kzoo::variant<tf32_inputs>("tf32_inputs", "declares fp32"),
            kzoo::variant<fp16_sums>("fp16_sums", "declares fp32"),
            kzoo::variant<split<products::hi_hi>>("split_one", "declares fp32_split"),
            kzoo::variant<split<products::with_lo_a>>("split_without_lo_b", "declares fp32_split"),
            kzoo::variant<split<products::with_lo_b>>("split_without_lo_a", "declares fp32_split"),
            kzoo::variant<split<products::all_three>>("honest_split", "must pass"),
            kzoo::variant<narrow_integers<through::bytes>>("int32_in_bytes", "declares int32"),
            kzoo::variant<narrow_integers<through::floats>>("int32_in_floats", "declares int32"),
            kzoo::variant<drifts<false>>("drifts", "must be found"),
            kzoo::variant<drifts<true>>("drifts_as_declared", "must pass"));
