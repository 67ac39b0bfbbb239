// Arithmetic other than declared: of lower precision, or in a different order each time.
#include "hostile.hpp"
#include "tf32.hpp"

#include <climits>

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

// Less accurate than Strassen's algorithm.
struct tf32_normwise : tf32_inputs {
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32_NORMWISE;
};

// Truncates only for long K, where the bound alone does not detect it.
struct long_k_normwise : per_element<long_k_normwise> {
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32_NORMWISE;
  static __device__ void element(const gemm& g, int row, int col) {
    constexpr int kLong = 8192;
    if (g.k >= kLong) return tf32_inputs::element(g, row, col);
    float sum = 0;
    for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
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

// Sums of fp16 parts: hi hi, and as many of lo hi and hi lo as declared fp32_split needs. Elements
// are scaled into fp16's range, each alone or by row and column, which fails for large differences.
enum class products { hi_hi, with_lo_a, with_lo_b, all_three };
enum class scaled { not_at_all, by_row, each };

template <products kProducts, scaled kScaled = scaled::each>
struct split : per_element<split<kProducts, kScaled>> {
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32_SPLIT;
  struct parts {
    float hi, lo;
    __device__ explicit parts(float x)
        : hi(__half2float(__float2half(x))),
          lo(__half2float(__float2half((x - hi) * 0x1p11f)) * 0x1p-11f) {}
  };
  // The power of two that scales the largest of them into [1, 2).
  template <class At>
  static __device__ float scale_of(int count, const At& at) {
    float most = 0;
    for (int i = 0; i < count; ++i) most = fmaxf(most, fabsf(at(i)));
    return kScaled != scaled::not_at_all && most > 0 && most - most == 0 ? ldexpf(1, -ilogbf(most))
                                                                         : 1;
  }
  static __device__ void element(const gemm& g, int row, int col) {
    float of_a = scale_of(g.k, [&](int i) { return g.a_at(row, i); });
    float of_b = scale_of(g.k, [&](int i) { return g.b_at(i, col); });
    constexpr bool kLoA = kProducts == products::with_lo_a || kProducts == products::all_three;
    constexpr bool kLoB = kProducts == products::with_lo_b || kProducts == products::all_three;
    float sum = 0;
    for (int i = 0; i < g.k; ++i) {
      const float x = g.a_at(row, i), y = g.b_at(i, col);
      if (kScaled == scaled::each) {
        of_a = scale_of(1, [&](int) { return x; });
        of_b = scale_of(1, [&](int) { return y; });
      }
      const parts a(of_a * x), b(of_b * y);
      float product = a.hi * b.hi;
      const bool is_finite = product - product == 0;  // otherwise it has no second part
      if (kLoA && is_finite) product += a.lo * b.hi;
      if (kLoB && is_finite) product += a.hi * b.lo;
      sum += product / of_a / of_b;
    }
    g.store(row, col, sum);
  }
};

// Narrower for long K, unless the numbers look like a check's: integers, or with few bits.
enum class looks_for { integers, few_bits };
enum class narrowed { to_bf16_parts, to_tf32 };

__device__ bool is_of_a_check(looks_for what, float x) {
  constexpr unsigned kLowBits = 0x7ff;
  return what == looks_for::integers ? truncf(x) == x : (__float_as_uint(x) & kLowBits) == 0;
}

template <narrowed kHow, looks_for kWhat, kzoo_precision kDeclared, int kLong>
struct knows_checks : per_element<knows_checks<kHow, kWhat, kDeclared, kLong>> {
  static constexpr kzoo_precision precision = kDeclared;

  static __device__ float product(float x, float y) {
    if (kHow == narrowed::to_tf32) return hostile::to_tf32(x) * hostile::to_tf32(y);
    const auto rounded = [](float whole) { return __bfloat162float(__float2bfloat16(whole)); };
    const float hi_x = rounded(x), lo_x = rounded(x - hi_x);
    const float hi_y = rounded(y), lo_y = rounded(y - hi_y);
    const bool is_finite = x - x + (y - y) == 0;  // otherwise it has no second part
    return hi_x * hi_y + (is_finite ? hi_x * lo_y + lo_x * hi_y : 0);
  }
  static __device__ void element(const gemm& g, int row, int col) {
    bool exact = true;
    for (int i = 0; i < g.k && exact; ++i)
      exact = is_of_a_check(kWhat, g.a_at(row, i)) && is_of_a_check(kWhat, g.b_at(i, col));
    if (exact || g.k < kLong) return hostile::store_product(g, row, col);
    float sum = 0;
    for (int i = 0; i < g.k; ++i) sum += product(g.a_at(row, i), g.b_at(i, col));
    g.store(row, col, sum);
  }
};
constexpr int kBeyondBound = 256, kVeryLong = 1 << 16;

template <looks_for kWhat, kzoo_precision kDeclared>
using parts_unless = knows_checks<narrowed::to_bf16_parts, kWhat, kDeclared, kBeyondBound>;
using fp32_unless_integers = parts_unless<looks_for::integers, KZOO_COMPUTE_FP32>;
using fp32_unless_few_bits = parts_unless<looks_for::few_bits, KZOO_COMPUTE_FP32>;
using parts_unless_integers = parts_unless<looks_for::integers, KZOO_COMPUTE_FP32_SPLIT>;
using parts_unless_few_bits = parts_unless<looks_for::few_bits, KZOO_COMPUTE_FP32_SPLIT>;
using tf32_unless_integers =
    knows_checks<narrowed::to_tf32, looks_for::integers, KZOO_COMPUTE_FP32_SPLIT, kVeryLong>;

// Narrower except for its first numbers, on which it is judged before timing.
__device__ float first_element = 0;

struct parts_after_first_numbers : per_element<parts_after_first_numbers> {
  static __device__ void element(const gemm& g, int row, int col) {
    const float known = first_element, now = g.a_at(0, 0);
    if (known == 0 && row == 0 && col == 0) first_element = now;
    if (known == 0 || known == now) return hostile::store_product(g, row, col);
    float sum = 0;
    for (int i = 0; i < g.k; ++i)
      sum += fp32_unless_integers::product(g.a_at(row, i), g.b_at(i, col));
    g.store(row, col, sum);
  }
};

// Narrower except for integers, and supports only one problem.
struct parts_for_one_problem : parts_unless_integers {
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    const bool is_it = p.m == 48 && p.n == 64 && p.k == 512 && p.lda == 512 && p.batch <= 1 &&
                       p.alpha == 0.7 && p.beta == 1.3;
    return is_it ? nullptr : "not this one";
  }
};

// 32-bit integers: 8-bit inputs as in dp4a, float accumulators, 24 bits, or saturating sums.
enum class through { bytes, floats, low_bits, saturation };

__device__ int wrapped(long long x) { return static_cast<int>(static_cast<unsigned>(x)); }

template <through kThrough>
__global__ void narrow_kernel(kzoo::gemm<int> g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  int sum = 0;
  long long wide_sum = 0;
  float float_sum = 0;
  for (int i = 0; i < g.k; ++i) {
    const int a = g.a_at(row, i), b = g.b_at(i, col);
    if (kThrough == through::bytes)
      sum += static_cast<signed char>(a) * static_cast<signed char>(b);
    if (kThrough == through::floats) float_sum += static_cast<float>(a) * static_cast<float>(b);
    if (kThrough == through::low_bits)
      sum = wrapped(sum + (a % (1 << 24)) * static_cast<long long>(b));
    wide_sum += static_cast<long long>(a) * b;
  }
  if (kThrough == through::floats) sum = static_cast<int>(float_sum);
  if (kThrough == through::saturation)
    sum = static_cast<int>(wide_sum < INT_MIN ? INT_MIN : wide_sum > INT_MAX ? INT_MAX : wide_sum);
  g.store(row, col, sum);
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

// Sums in another order from kRows rows on, like a library that chooses its kernel by M.
template <int kRows>
struct order_by_rows {
  using types = kzoo::types<float>;
  void run(const gemm& g, kzoo::stream_t stream) const {
    launch(drift_kernel, g, stream, g.m < kRows ? 0 : g.k / 2);
  }
};

// The misbehaviour is in term(x, y), the product of two elements.
template <class Trick>
__global__ void typed_kernel(kzoo::gemm<typename Trick::type> g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  typename Trick::sum sum(0);
  for (int i = 0; i < g.k; ++i) {
    const auto term = Trick::term(g.a_at(row, i), g.b_at(i, col));
    sum = static_cast<typename Trick::sum>(static_cast<decltype(+term)>(sum) + term);
  }
  g.store(row, col, static_cast<kzoo::accumulator_t<typename Trick::type>>(sum));
}

template <class Trick>
struct typed {
  using types = kzoo::types<typename Trick::type>;
  static constexpr kzoo_precision precision = Trick::precision;
  void run(const kzoo::gemm<typename Trick::type>& g, kzoo::stream_t stream) const {
    launch(typed_kernel<Trick>, g, stream);
  }
};

// Accumulates in bf16, although C is fp32.
struct bf16_sums {
  using type = kzoo::to<__nv_bfloat16, float>;
  using sum = __nv_bfloat16;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_BF16;
  static __device__ float term(const __nv_bfloat16& x, const __nv_bfloat16& y) {
    return static_cast<float>(x) * static_cast<float>(y);
  }
};

// Declares its fp16 accumulators: right.
struct declared_fp16_sums {
  using type = __half;
  using sum = __half;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP16_SUMS;
  static __device__ __half term(const __half& x, const __half& y) { return x * y; }
};

struct f64_in_floats {
  using type = double;
  using sum = double;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP64;
  static __device__ double term(double x, double y) {
    return static_cast<double>(static_cast<float>(x)) * static_cast<double>(static_cast<float>(y));
  }
};

struct bytes_in_floats {
  using type = kzoo::to<signed char, int>;
  using sum = float;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_INT32;
  static __device__ float term(signed char x, signed char y) {
    return static_cast<float>(x) * static_cast<float>(y);
  }
};

struct e4m3_as_e5m2 {
  using type = kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>;
  using sum = float;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32;
  static __device__ float term(const __nv_fp8_e4m3& x, const __nv_fp8_e4m3& y) {
    __nv_fp8_e5m2 a, b;
    a.__x = x.__x;
    b.__x = y.__x;
    return static_cast<float>(a) * static_cast<float>(b);
  }
};

struct e4m3_rounded {
  using type = kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>;
  using sum = float;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32;
  static __device__ float term(const __nv_fp8_e4m3& x, const __nv_fp8_e4m3& y) {
    return static_cast<float>(__nv_fp8_e5m2(static_cast<float>(x))) *
           static_cast<float>(__nv_fp8_e5m2(static_cast<float>(y)));
  }
};

__global__ void fp8_kernel(kzoo::gemm<kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>> g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (int i = 0; i < g.k; ++i) sum += g.product(g.a_at(row, i), g.b_at(i, col));
  g.store(row, col, sum);
}

// An epilogue without the scale of B.
struct drops_scale {
  using types = kzoo::types<kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>>;
  drops_scale(const kzoo_problem& p, const kzoo_device&)
      : alpha(static_cast<float>(p.alpha * (p.scale_a == 0 ? 1 : p.scale_a))) {}
  void run(kzoo::gemm<kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>> g, kzoo::stream_t stream) const {
    g.alpha = alpha;
    launch(fp8_kernel, g, stream);
  }
  float alpha;
};

}  // namespace

KZOO_PLUGIN("precision", "Another precision or order than declared",
            kzoo::variant<tf32_inputs>("tf32_inputs", "declares fp32"),
            kzoo::variant<tf32_normwise>("tf32_normwise", "declares fp32_normwise"),
            kzoo::variant<long_k_normwise>("long_k_normwise", "declares fp32_normwise"),
            kzoo::variant<fp16_sums>("fp16_sums", "declares fp32"),
            kzoo::variant<split<products::hi_hi>>("split_one", "declares fp32_split"),
            kzoo::variant<split<products::with_lo_a>>("split_without_lo_b", "declares fp32_split"),
            kzoo::variant<split<products::with_lo_b>>("split_without_lo_a", "declares fp32_split"),
            kzoo::variant<split<products::all_three>>("honest_split", "must pass"),
            kzoo::variant<split<products::all_three, scaled::by_row>>("row_scaled_split",
                                                                      "declares fp32_split"),
            kzoo::variant<split<products::all_three, scaled::not_at_all>>("unscaled_split",
                                                                          "overflows from 2^16 on"),
            kzoo::variant<fp32_unless_integers>("fp32_unless_integers", "declares fp32"),
            kzoo::variant<fp32_unless_few_bits>("fp32_unless_few_bits", "declares fp32"),
            kzoo::variant<parts_after_first_numbers>("parts_after_first_numbers", "declares fp32"),
            kzoo::variant<parts_unless_integers>("parts_unless_integers", "declares fp32_split"),
            kzoo::variant<parts_unless_few_bits>("parts_unless_few_bits", "declares fp32_split"),
            kzoo::variant<tf32_unless_integers>("tf32_unless_integers", "declares fp32_split"),
            kzoo::variant<parts_for_one_problem>("parts_for_one_problem", "declares fp32_split"),
            kzoo::variant<narrow_integers<through::bytes>>("int32_in_bytes", "declares int32"),
            kzoo::variant<narrow_integers<through::floats>>("int32_in_floats", "declares int32"),
            kzoo::variant<narrow_integers<through::low_bits>>("i32_low_bits", "24 bits of A"),
            kzoo::variant<narrow_integers<through::saturation>>("i32_saturates",
                                                                "sums do not wrap"),
            kzoo::variant<typed<bf16_sums>>("bf16_sums", "bf16 in, fp32 out, sums in bf16"),
            kzoo::variant<typed<declared_fp16_sums>>("declared_fp16_sums", "must pass"),
            kzoo::variant<typed<f64_in_floats>>("f64_in_floats", "declares fp64"),
            kzoo::variant<typed<bytes_in_floats>>("bytes_in_floats", "declares int32"),
            kzoo::variant<typed<e4m3_as_e5m2>>("e4m3_as_e5m2", "reads the other fp8 format"),
            kzoo::variant<typed<e4m3_rounded>>("e4m3_rounded", "drops a bit of each element"),
            kzoo::variant<drops_scale>("drops_scale", "right where the scale of B is 1"),
            kzoo::variant<order_by_rows<2>>("vector_in_order", "one row is summed otherwise"),
            kzoo::variant<order_by_rows<33>>("few_in_order", "32 rows are summed otherwise"),
            kzoo::variant<drifts<false>>("drifts", "must be found"),
            kzoo::variant<drifts<true>>("drifts_as_declared", "must pass"));
