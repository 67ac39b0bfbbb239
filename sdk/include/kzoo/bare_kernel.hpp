// A variant made of a kernel without the SDK and a description of its launch. The runner writes it
// for a source with `// kzoo: entry=…` lines or a manifest. A Description has:
//
//   types, layouts, granularity, compute_capability, …  as in a variant
//   static manifest::kernel_variant launch();           the manifest's launch
//   template <class T> static constexpr auto entry;     the kernel
//   static auto arguments(const bare_arguments<Gemm>&); its arguments: a tuple
#pragma once

#include <kzoo/int4.hpp>
#include <kzoo/manifest/launch_plan.hpp>
#include <kzoo/plugin.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kzoo {

// An integer argument, which converts to any integer parameter.
struct bare_integer {
  const std::string& text;
  std::int64_t value;

  template <std::integral I>
  operator I() const {
    if (value < static_cast<std::int64_t>(std::numeric_limits<I>::min()) ||
        (value > 0 && static_cast<std::uint64_t>(value) >
                          static_cast<std::uint64_t>(std::numeric_limits<I>::max()))) {
      throw error(KZOO_ERROR, "the argument " + text + " is " + std::to_string(value) +
                                  ", which does not fit the kernel's parameter");
    }
    return static_cast<I>(value);
  }
};

// A matrix, which converts to any pointer parameter.
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
  const kzoo_arguments& given;
  const std::vector<manifest::argument>& described;
  const manifest::launch_plan& plan;

  bare_pointer a() const { return bare_pointer(g.a); }
  bare_pointer b() const { return bare_pointer(g.b); }
  bare_pointer c() const { return bare_pointer(g.c); }
  auto alpha() const { return g.alpha; }
  auto beta() const { return g.beta; }
  bare_pointer workspace() const { return bare_pointer(given.workspace); }
  bare_pointer operand(std::size_t index) const { return bare_pointer(given.operands[index]); }
  static bare_pointer null() { return bare_pointer(nullptr); }
  bare_integer integer(std::size_t index) const {
    return {described[index].expression, plan.values[index]};
  }
};

// The runner's assertions about an entry, on the manifest's own lines. Whether it is a kernel:
template <class... P>
constexpr bool is_bare_kernel(void (*)(P...)) {
  return true;
}
template <class Other>
constexpr bool is_bare_kernel(Other) {
  return false;
}
// The number of its parameters, or `if_none`:
template <class... P>
constexpr std::size_t parameter_count(void (*)(P...), std::size_t /*if it is none*/) {
  return sizeof...(P);
}
template <class Other>
constexpr std::size_t parameter_count(Other, std::size_t if_none) {
  return if_none;
}
// Whether parameter kIndex, from 0, takes value kIndex, if both exist:
template <std::size_t kIndex, class Values, class... P>
constexpr bool takes_value(void (*)(P...)) {
  if constexpr (kIndex < sizeof...(P) && kIndex < std::tuple_size_v<Values>) {
    return std::is_constructible_v<std::tuple_element_t<kIndex, std::tuple<P...>>,
                                   const std::tuple_element_t<kIndex, Values>&>;
  }
  return true;
}
template <std::size_t kIndex, class Values, class Other>
constexpr bool takes_value(Other) {
  return true;
}

// The argument for a parameter, for callers with only the machine code: a number of this type;
// `accumulator` for a pointer; nothing for a class.
template <class P>
constexpr bool passes_as(manifest::number_type& type) {
  using enum manifest::number_type;
  constexpr manifest::number_type kBySize[] = {i8, i8, i16, i32, i32, i64, i64, i64, i64};
  if constexpr (std::is_pointer_v<P>) {
    type = accumulator;
  } else if constexpr (std::is_integral_v<P> && sizeof(P) < std::size(kBySize)) {
    type = kBySize[sizeof(P)];
  } else if constexpr (std::is_same_v<P, float>) {
    type = f32;
  } else if constexpr (std::is_same_v<P, double>) {
    type = f64;
  } else if constexpr (std::is_same_v<P, __half>) {
    type = f16;
  } else if constexpr (std::is_same_v<P, __nv_bfloat16>) {
    type = bf16;
  } else {
    return false;
  }
  return true;
}
template <std::size_t kIndex, class... P>
constexpr bool passes(void (*)(P...)) {
  manifest::number_type type{};
  if constexpr (kIndex < sizeof...(P))
    return passes_as<std::tuple_element_t<kIndex, std::tuple<P...>>>(type);
  return true;
}
template <std::size_t kIndex, class Other>
constexpr bool passes(Other) {
  return true;
}

// A kernel's parameter types, each plus one, then a 0; the runner reads them in the device code.
template <std::size_t kCount>
struct parameter_types {
  unsigned char of[kCount + 1];
};
template <class... P>
constexpr parameter_types<sizeof...(P)> types_of_parameters(void (*)(P...)) {
  constexpr auto type = []<class Q>(std::type_identity<Q>) {
    manifest::number_type found{};
    passes_as<Q>(found);
    return static_cast<unsigned char>(static_cast<int>(found) + 1);
  };
  return {{type(std::type_identity<P>{})..., 0}};
}
template <class Other>
constexpr parameter_types<0> types_of_parameters(Other) {
  return {};
}

template <class Values, class Kernel, std::size_t... kIndex>
constexpr bool takes_values(Kernel kernel, std::index_sequence<kIndex...>) {
  return is_bare_kernel(kernel) && parameter_count(kernel, 0) == sizeof...(kIndex) &&
         (takes_value<kIndex, Values>(kernel) && ...);
}

// Sets C to zero, without a kernel, so that a run's launches are only the author's.
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

// Supports the problems that the launch of the description takes.
template <class Description>
struct planned : Description {
  static constexpr bool batches = true, combines = true;

  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    plan_for(p, d);  // throws if there is none
    return nullptr;
  }

 protected:
  static const manifest::kernel_variant& variant() {
    static const manifest::kernel_variant v = Description::launch();
    return v;
  }

  // Sets C to zero if the kernel reads C although beta is 0.
  template <class T, layout kLayout>
  static void clear_read_c(const gemm<T, kLayout>& g, void* stream) {
    if (variant().reads_c && g.beta == decltype(g.beta)(0))
      bare_clear_c(g, static_cast<stream_t>(stream));
  }
  // Sets the other GEMMs' C of a batch to zero, too; the first GEMM's launch sets its own.
  template <class T, layout kLayout>
  static void clear_read_c(const gemm_batch<T, kLayout>& all, void* stream) {
    for (int i = 1; i < all.count; ++i) clear_read_c(all[i], stream);
  }

  // The launch for the problem's types and layout, of which the variant may have several.
  static manifest::launch_plan plan_for(const kzoo_problem& p, const kzoo_device& d) {
    manifest::kernel_variant v = variant();
    v.type_a = p.type_a;
    v.type_b = p.type_b;
    v.type_c = p.type_c;
    v.layout = layout_of(p);
    return manifest::plan_launch(v, p, d);
  }
};

template <class Description>
struct bare_kernel : planned<Description> {
  bare_kernel(const kzoo_problem& p, const kzoo_device& d) : plan_(plan_for(p, d)) {
    constexpr std::size_t kWithoutOptIn = 48 * 1024;
    if (plan_.dynamic_shared > kWithoutOptIn) allow_shared(typename Description::types{});
  }

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return plan_for(p, d).workspace;
  }

  template <class T, layout kLayout>
  void run(const gemm<T, kLayout>& g, const kzoo_arguments& given) const {
    const auto stream = static_cast<stream_t>(given.stream);
    const manifest::kernel_variant& v = variant();
    this->clear_read_c(g, given.stream);
    constexpr auto kKernel = Description::template entry<T>;
    const auto values =
        Description::arguments(bare_arguments<gemm<T, kLayout>>{g, given, v.arguments, plan_});
    const launch_config config{.grid = dims(plan_.grid),
                               .block = dims(plan_.block),
                               .dynamic_shared = plan_.dynamic_shared,
                               .stream = stream,
                               .cluster = dims(v.cluster)};
    using indices = std::make_index_sequence<std::tuple_size_v<decltype(values)>>;
    // Otherwise an assertion has failed, and more errors would hide it.
    if constexpr (takes_values<decltype(values)>(kKernel, indices{}))
      std::apply([&](const auto&... value) { launch(config, kKernel, value...); }, values);
  }

  // Its grid and arguments tell it about a batch, and about groups.
  template <class T, layout kLayout>
  void run(const gemm_batch<T, kLayout>& all, const kzoo_arguments& given) const {
    this->clear_read_c(all, given.stream);
    run(all.first, given);
  }
  template <class T, layout kLayout>
  void run(const grouped_gemm<T, kLayout>& g, const kzoo_arguments& given) const {
    run(g.all, given);
  }

 private:
  using planned<Description>::plan_for;
  using planned<Description>::variant;

  static dim3 dims(const std::array<std::uint32_t, 3>& of) { return dim3(of[0], of[1], of[2]); }

  template <class... T>
  void allow_shared(kzoo::types<T...>) const {
    if constexpr ((is_bare_kernel(Description::template entry<T>) && ...))
      (allow_dynamic_shared(Description::template entry<T>, plan_.dynamic_shared), ...);
  }

  manifest::launch_plan plan_;
};

}  // namespace kzoo
