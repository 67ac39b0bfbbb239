// A variant made of a kernel that knows nothing of this SDK, and of a description of its launch:
// what the runner writes for a source that has `// kzoo: entry=…` lines or a manifest beside it. A
// Description has:
//
//   types, layouts, granularity, compute_capability     as a variant has them
//   static constexpr const char* grid_text[3], block_text[3], shared_text;   expressions of M, N,
//   K, lda, ldb, ldc static constexpr bool takes_lda, takes_ldb, takes_ldc;    rows may be padded
//   static constexpr bool takes_alpha, takes_beta;            they may be other than 1 and 0
//   static constexpr bool reads_c;                            even where beta is 0
//   template <class T> static constexpr auto entry;
//   static constexpr std::array<const char*, N> integers;     expressions that are arguments
//   static auto arguments(const bare_arguments<Gemm>&);       a tuple
#pragma once

#include <kzoo/manifest/expression.hpp>
#include <kzoo/plugin.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace kzoo {

inline constexpr std::array<std::string_view, 6> kBareNames{"M", "N", "K", "lda", "ldb", "ldc"};
using bare_sizes = std::array<std::int64_t, kBareNames.size()>;

inline std::int64_t bare_value(const char* text, const bare_sizes& sizes) {
  return manifest::expression::parse(text, kBareNames).evaluate(sizes);
}

// An integer argument, which becomes whatever integer its parameter is.
struct bare_integer {
  const char* text;
  std::int64_t value;

  template <std::integral I>
  operator I() const {
    if (value < static_cast<std::int64_t>(std::numeric_limits<I>::min()) ||
        (value > 0 && static_cast<std::uint64_t>(value) >
                          static_cast<std::uint64_t>(std::numeric_limits<I>::max()))) {
      throw error(KZOO_ERROR, std::string("the argument ") + text + " is " + std::to_string(value) +
                                  ", which does not fit the kernel's parameter");
    }
    return static_cast<I>(value);
  }
};

// A matrix, which becomes whatever pointer its parameter is.
struct bare_pointer {
  explicit bare_pointer(const void* at) : address(at) {}
  const void* address;

  template <class T>
  operator T*() const {
    return static_cast<T*>(const_cast<void*>(address));
  }
};

template <class Gemm>
struct bare_arguments {
  const Gemm& g;
  const bare_integer* integers;  // of the description, with their values

  bare_pointer a() const { return bare_pointer(g.a); }
  bare_pointer b() const { return bare_pointer(g.b); }
  bare_pointer c() const { return bare_pointer(g.c); }
  auto alpha() const { return g.alpha; }
  auto beta() const { return g.beta; }
  bare_integer integer(std::size_t index) const { return integers[index]; }
};

// Sets C to zero. No kernel, so that the launches of a run are the author's own.
template <class Gemm>
void bare_clear_c(const Gemm& g, [[maybe_unused]] stream_t stream) {
  using element = typename Gemm::c_type;
  const std::size_t row_bytes = static_cast<std::size_t>(g.n) * sizeof(element);
#if defined(KZOO_REAL_CUDA)
  const cudaError_t status = cudaMemset2DAsync(
      g.c, static_cast<std::size_t>(g.ldc) * sizeof(element), 0, row_bytes, g.m, stream);
  if (status != cudaSuccess) throw error(KZOO_ERROR, cudaGetErrorString(status));
#else
  for (int row = 0; row < g.m; ++row)
    std::memset(static_cast<void*>(g.c + row * g.ldc), 0, row_bytes);
#endif
}

template <class Description>
struct bare_kernel : Description {
  bare_kernel(const kzoo_problem& p, const kzoo_device&) {
    const bare_sizes sizes{p.m, p.n, p.k, p.lda, p.ldb, p.ldc};
    grid_ = extents("grid", Description::grid_text, sizes);
    block_ = extents("block", Description::block_text, sizes);
    const std::int64_t bytes = bare_value(Description::shared_text, sizes);
    if (bytes < 0) throw error(KZOO_ERROR, "shared: " + std::to_string(bytes) + " bytes");
    shared_ = static_cast<std::size_t>(bytes);
    for (std::size_t i = 0; i < integers_.size(); ++i)
      integers_[i] = {Description::integers[i], bare_value(Description::integers[i], sizes)};
    constexpr std::size_t kWithoutOptIn = 48 * 1024;
    if (shared_ > kWithoutOptIn) allow_shared(typename Description::types{});
  }

  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    const bool a_transposed = is_a_transposed(layout_of(p)),
               b_transposed = is_b_transposed(layout_of(p));
    if (!Description::takes_lda && p.lda != (a_transposed ? p.m : p.k))
      return "its manifest has no lda, so that A cannot have padded rows";
    if (!Description::takes_ldb && p.ldb != (b_transposed ? p.k : p.n))
      return "its manifest has no ldb, so that B cannot have padded rows";
    if (!Description::takes_ldc && p.ldc != p.n)
      return "its manifest has no ldc, so that C cannot have padded rows";
    if (!Description::takes_alpha && detail::scaled_alpha(p) != 1)
      return "its arguments have no alpha, which is not 1";
    if (!Description::takes_beta && p.beta != 0)
      return "its arguments have no beta, which is not 0";
    return nullptr;
  }

  template <class T, layout kLayout>
  void run(const gemm<T, kLayout>& g, stream_t stream) const {
    if (Description::reads_c && g.beta == decltype(g.beta)(0)) bare_clear_c(g, stream);
    constexpr auto kKernel = Description::template entry<T>;
    std::apply(
        [&](const auto&... argument) {
          launch({.grid = grid_, .block = block_, .dynamic_shared = shared_, .stream = stream},
                 kKernel, argument...);
        },
        Description::arguments(bare_arguments<gemm<T, kLayout>>{g, integers_.data()}));
  }

 private:
  static dim3 extents(const char* name, const char* const (&texts)[3], const bare_sizes& sizes) {
    std::array<unsigned, 3> counts{};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::int64_t value = bare_value(texts[i], sizes);
      if (value < 1 || value > std::numeric_limits<int>::max()) {
        throw error(KZOO_LAUNCH_FAILED, std::string("launch failed: ") + name + "." + "xyz"[i] +
                                            ", " + texts[i] + ", is " + std::to_string(value));
      }
      counts[i] = static_cast<unsigned>(value);
    }
    return dim3(counts[0], counts[1], counts[2]);
  }

  template <class... T>
  void allow_shared(kzoo::types<T...>) const {
    (allow_dynamic_shared(Description::template entry<T>, shared_), ...);
  }

  dim3 grid_, block_;
  std::size_t shared_ = 0;
  std::array<bare_integer, Description::integers.size()> integers_{};
};

}  // namespace kzoo
