#pragma once
// The C++ side of the plugin ABI: an author writes a kernel, a small struct per variant, and a
// KZOO_PLUGIN line. Everything here is compiled into the plugin; only the ABI is exported.
//
// A variant is a struct with either `kernel` or `run`.
//
// With `kernel`, and its launch grid of one block per tile of C (tile_grid.hpp):
//
//   struct tiled {
//     using grid = kzoo::tile_grid<16, 16>;
//     static constexpr auto kernel = tiled_kernel;      // __global__ void (kzoo::gemm<float>)
//   };
//
// With `run`, which only enqueues work on the stream; kzoo_arguments has the stream and the
// workspace:
//
//     void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const;
//     void run(const kzoo::gemm<float>& g, const kzoo_arguments& arguments) const;
//
// Matrices are fp32 and row-major unless the variant says more:
//
//     using types = kzoo::types<float, kzoo::to<__half, float>>;   // element types of A, B and C
//     using layouts = kzoo::every_layout;                    // or kzoo::layouts<...>
//     static constexpr bool batches = true;                  // computes a batch in one call
//     static constexpr bool epilogues = true;                // bias, ReLU, …: epilogue.hpp
//     static constexpr bool block_scales = true;             // of A and B: block_scales.hpp
//     static constexpr bool groups = true;                   // grouped GEMM: grouped_gemm.hpp
//     static constexpr bool combines = true;                 // several of these in one problem
//
// `kernel` and `run` are then templates over their argument, a kzoo::gemm<T, kLayout>:
//
//     template <class Gemm>
//     static constexpr auto kernel = tiled_kernel<Gemm>;     // or: void run(const Gemm& g, ...)
//
// With batches, Gemm may also be a kzoo::gemm_batch. A `run` without it is called per GEMM.
//
// Optional members:
//
//     static constexpr kzoo_precision precision = KZOO_COMPUTE_TF32;   // default: by type
//     template <class T>                                     // or by element type
//     static constexpr kzoo_precision precision_of = ...;
//     static constexpr unsigned compute_capability = 80;               // default: any
//     static constexpr bool nondeterministic = true;         // runs may differ in rounding
//     static constexpr kzoo::granularity granularity{.m = 128, .n = 128, .k = 32, .row_bytes = 16};
//     static const char* supports(const kzoo_problem&, const kzoo_device&);  // nullptr or why not
//     static const char* supports(const kzoo_device&);       // for reasons of the device only
//     static constexpr const char* not_simulated = "it uses inline PTX";  // only for CUDA devices
//     static std::size_t workspace_bytes(const kzoo_problem&, const kzoo_device&);
//     tiled(const kzoo_problem&, const kzoo_device&);        // once per problem; may throw
//
// Errors: throw kzoo::error, or anything derived from std::exception. It reaches the runner as a
// status and a sentence.
//
// Threading: run, the constructor and the destructor are called from one thread at a time.

// Defined by kzoo_add_plugin(); see cmake/kernel-zoo-plugin.cmake.
#ifndef KZOO_TARGET_DEVICE
#error "KZOO_TARGET_DEVICE is not set: build plugins with kzoo_add_plugin()"
#endif
#ifndef KZOO_NATIVE
#define KZOO_NATIVE 0  // 1: a CPU plugin of native code; 0: its kernels run in the simulator
#endif

#include <kzoo/abi.h>
#include <kzoo/block_scales.hpp>
#include <kzoo/element_traits.hpp>
#include <kzoo/epilogue.hpp>
#include <kzoo/error.hpp>
#include <kzoo/gemm.hpp>
#include <kzoo/grouped_gemm.hpp>
#include <kzoo/launch.hpp>
#include <kzoo/launch_list.hpp>
#include <kzoo/stages.hpp>
#include <kzoo/tile_grid.hpp>
#include <kzoo/type_names.hpp>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>

namespace kzoo {

// Element types of a variant, each one type or mixed.
template <class... T>
struct types {};

// The sizes that a variant takes: multiples of m, n and k, and rows of A, B and C that each start
// at a multiple of row_bytes. Answers UNSUPPORTED to other sizes.
struct granularity {
  unsigned m = 1, n = 1, k = 1, row_bytes = 1;  // 1: any
};

// Every dtype that an experiment can name, except int4 weights (int4.hpp).
using every_type =
    types<float, __half, __nv_bfloat16, int, to<__half, float>, to<__nv_bfloat16, float>, double,
          to<signed char, int>, to<__nv_fp8_e4m3, float>, to<__nv_fp8_e4m3, __nv_bfloat16>,
          mixed<__nv_fp8_e4m3, __nv_fp8_e5m2, __nv_bfloat16>,
          mixed<__nv_fp8_e5m2, __nv_fp8_e4m3, __nv_bfloat16>>;

// Layouts of a variant.
template <layout... kLayout>
struct layouts {};
// nn, nt, tn and tt.
using every_layout = layouts<layout::nn, layout::nt, layout::tn, layout::tt>;

namespace detail {

inline void write(kzoo_text* text, const char* sentence) {
  if (text == nullptr || text->data == nullptr || text->capacity == 0) return;
  const std::size_t length =
      std::min<std::size_t>(std::strlen(sentence), static_cast<std::size_t>(text->capacity) - 1);
  std::memcpy(text->data, sentence, length);
  text->data[length] = '\0';
}

// Runs `body` and turns an exception into a status and a sentence.
template <class Body>
kzoo_status guarded(kzoo_text* text, Body&& body) {
  try {
    body();
    return KZOO_OK;
  } catch (const error& e) {
    write(text, e.what());
    return e.status;
  } catch (const std::exception& e) {
    write(text, e.what());
  } catch (...) {
    write(text, "an exception that is not a std::exception");
  }
  return KZOO_ERROR;
}

template <class V, class T>
constexpr kzoo_precision precision_of() {
  if constexpr (requires { V::template precision_of<T>; }) {
    return V::template precision_of<T>;
  } else if constexpr (requires { V::precision; }) {
    return V::precision;
  } else {
    return element_traits<T>::precision;
  }
}

template <class V, class... T>
constexpr std::array<kzoo_signature, sizeof...(T)> make_signatures(types<T...>) {
  return {kzoo_signature{element_traits<T>::type_a, element_traits<T>::type_b,
                         element_traits<T>::type, precision_of<V, T>()}...};
}
template <class V>
constexpr auto types_of() {
  if constexpr (requires { typename V::types; }) {
    return typename V::types{};
  } else {
    return types<float>{};
  }
}
template <class V>
inline constexpr auto signatures = make_signatures<V>(types_of<V>());

template <class V>
constexpr unsigned compute_capability() {
  if constexpr (requires { V::compute_capability; }) {
    return V::compute_capability;
  } else {
    return 0;
  }
}

template <class V>
constexpr granularity granularity_of() {
  if constexpr (requires { V::granularity; }) {
    return V::granularity;
  } else {
    return {};
  }
}

template <class V>
constexpr auto layouts_of() {
  if constexpr (requires { typename V::layouts; }) {
    return typename V::layouts{};
  } else {
    return layouts<layout::nn>{};
  }
}

template <class V>
constexpr bool batches() {
  if constexpr (requires { V::batches; }) {
    return V::batches;
  } else {
    return false;
  }
}

template <class V>
constexpr bool epilogues() {
  if constexpr (requires { V::epilogues; }) {
    return V::epilogues;
  } else {
    return false;
  }
}

template <class V>
constexpr bool block_scales() {
  if constexpr (requires { V::block_scales; }) {
    return V::block_scales;
  } else {
    return false;
  }
}

template <class V>
constexpr bool groups() {
  if constexpr (requires { V::groups; }) {
    return V::groups;
  } else {
    return false;
  }
}

// Whether the variant reads its operands from kzoo_problem and kzoo_arguments, so that scales,
// groups and an epilogue can combine.
template <class V>
constexpr bool combines() {
  if constexpr (requires { V::combines; }) {
    return V::combines;
  } else {
    return false;
  }
}

template <class V>
constexpr bool nondeterministic() {
  if constexpr (requires { V::nondeterministic; }) {
    return V::nondeterministic;
  } else {
    return false;
  }
}

// A cpu build contains a variant with `not_simulated` in its table, but not its kernels. The
// variant rejects all problems with this sentence.
template <class V>
constexpr bool is_left_out() {
  return KZOO_TARGET_DEVICE == KZOO_CPU && requires { V::not_simulated; };
}

// Whether a newer runner set appended fields, whose meaning this plugin does not know.
inline bool has_unknown_fields(const kzoo_problem& p) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&p);
  return std::any_of(
      bytes + sizeof(kzoo_problem),
      bytes + std::max<std::size_t>(static_cast<std::size_t>(p.struct_size), sizeof(kzoo_problem)),
      [](unsigned char byte) { return byte != 0; });
}

// The fields that this SDK knows; zeros for fields that an older caller lacks.
inline kzoo_problem known_part(const kzoo_problem& given) {
  kzoo_problem p{};
  std::memcpy(&p, &given,
              std::min<std::size_t>(static_cast<std::size_t>(given.struct_size), sizeof p));
  p.struct_size = sizeof p;
  return p;
}

inline bool is_whole_int(double x) {
  return std::nearbyint(x) == x && x >= double(INT_MIN) && x <= double(INT_MAX);
}

// "it computes f32, i32, not f16"; "" if the variant has the types.
template <class V>
std::string type_objection(const kzoo_problem& p) {
  std::string known;
  for (const kzoo_signature& s : signatures<V>) {
    if (s.type_a == p.type_a && s.type_b == p.type_b && s.type_c == p.type_c) return "";
    known += known.empty() ? "" : ", ";
    known += type_names(s.type_a, s.type_b, s.type_c);
  }
  return "it computes " + known + ", not " + type_names(p.type_a, p.type_b, p.type_c);
}

// "it takes layout nn, not tn"; "" if the variant takes the layout.
template <layout... kLayout>
std::string layout_objection(layouts<kLayout...>, const kzoo_problem& p) {
  if (p.layout_c != KZOO_ROW_MAJOR) return "only a row-major C is supported";
  if (((layout_of(p) == kLayout) || ...)) return "";
  std::string known;
  ((known += (known.empty() ? "" : ", ") + std::string(layout_name(kLayout))), ...);
  return "it takes layout " + known + ", not " + std::string(layout_name(layout_of(p)));
}

// Whether the variant's `kernel` is one function, not a template over its argument.
template <class V>
concept has_one_kernel = requires {
  *V::kernel;
};

// Whether the variant's kernel or run() takes this argument, e.g. a gemm_batch.
template <class V, class Gemm>
concept takes =
    !has_one_kernel<V> &&
    (
        requires { V::template kernel<Gemm>; } ||
        requires(const V& v, const Gemm& g, const kzoo_arguments& args) { v.run(g, args); } ||
        requires(const V& v, const Gemm& g, stream_t stream) { v.run(g, stream); });

// Whether the variant takes a GEMM without operands besides A, B and C. It need not if it declares
// more.
template <class V, class T, class... Rest, layout kFirst, layout... kRest>
constexpr bool takes_plain(types<T, Rest...>, layouts<kFirst, kRest...>) {
  return !(epilogues<V>() || block_scales<V>() || groups<V>()) || has_one_kernel<V> ||
         takes<V, gemm<T, kFirst>>;
}
template <class V>
constexpr const char* plain_objection() {
  if (takes_plain<V>(types_of<V>(), layouts_of<V>())) return "";
  if (epilogues<V>()) return "it takes a product with an epilogue";
  return block_scales<V>() ? "it takes a product with block scales" : "it takes groups of rows";
}

// Why the variant rejects the problem's epilogue, or "".
template <class V>
const char* epilogue_objection(const kzoo_problem& p) {
  if constexpr (!epilogues<V>()) {
    return p.stage_count == 0 ? "" : "it computes alpha A B + beta C, and nothing after it";
  } else {
    static_assert(!has_one_kernel<V>, "a kernel with an epilogue is a template over its argument");
    if (p.stage_count == 0) return "";
    if (!is_finished_type(p.type_c)) return "it has epilogues for a C of f32, f16 and bf16";
    if (p.batch > 1) return "it takes one product with an epilogue, not a batch";
    const auto knows_stage = [](const kzoo_stage& s) {
      return s.kind >= KZOO_STAGE_ADD && s.kind <= KZOO_STAGE_CLAMP;
    };
    const auto knows_operand = [&p](const kzoo_stage& s) {
      return !has_operand(s.kind) ||
             (s.operand < p.operand_count && is_finished_type(p.operands[s.operand].type));
    };
    return p.stage_count <= KZOO_MOST_STAGES && p.operand_count <= KZOO_MOST_OPERANDS &&
                   std::all_of(p.epilogue, p.epilogue + p.stage_count, knows_stage) &&
                   std::all_of(p.epilogue, p.epilogue + p.stage_count, knows_operand)
               ? ""
               : "the epilogue has what this plugin's SDK does not know";
  }
}

// Why the variant rejects the problem's operands besides A and B, or "".
template <class V>
const char* product_objection(const kzoo_problem& p) {
  const bool scaled = has_scale_blocks(p), grouped = p.groups != 0;
  if (scaled && !block_scales<V>())
    return "it takes one scale for each matrix, not one for each block of it";
  if (scaled && !is_finished_type(p.type_c)) return "it scales blocks for a C of f32, f16 and bf16";
  if (grouped && !groups<V>()) return "it computes one product, not groups of rows";
  if (grouped && p.layout_a != KZOO_ROW_MAJOR)
    return "it takes groups of rows that lie together in memory";
  const int extras = scaled + grouped + (p.batch > 1) + (p.stage_count > 0);
  if (extras == 0) return plain_objection<V>();
  return extras > 1 && !combines<V>()
             ? "it takes block scales, groups, a batch or an epilogue one at a time"
             : "";
}

// "it needs M to be a multiple of 128, not 100"; "" if the sizes are fine.
inline std::string size_objection(const granularity& g, const kzoo_problem& p) {
  struct rule {
    const char* what;
    std::int64_t size;
    unsigned multiple;
  };
  const auto words = [&p](std::int64_t of_b) { return of_b / elements_in_word(p.type_b); };
  for (const rule& r :
       {rule{"M", p.m, g.m}, rule{"N", p.n, g.n}, rule{"K", p.k, g.k},
        rule{"the bytes from row to row of A", p.lda * type_bytes(p.type_a), g.row_bytes},
        rule{"the bytes from row to row of B", words(p.ldb) * type_bytes(p.type_b), g.row_bytes},
        rule{"the bytes from row to row of C", p.ldc * type_bytes(p.type_c), g.row_bytes},
        rule{"the bytes from A to A", p.stride_a * type_bytes(p.type_a), g.row_bytes},
        rule{"the bytes from B to B", words(p.stride_b) * type_bytes(p.type_b), g.row_bytes},
        rule{"the bytes from C to C", p.stride_c * type_bytes(p.type_c), g.row_bytes}}) {
    if (r.multiple > 1 && r.size % r.multiple != 0) {
      return std::string("it needs ") + r.what + " to be a multiple of " +
             std::to_string(r.multiple) + ", not " + std::to_string(r.size);
    }
  }
  return "";
}

// Why the variant rejects the device for any problem, or "".
template <class V>
std::string device_objection(const kzoo_device& d) {
  if constexpr (is_left_out<V>()) return V::not_simulated;  // for each problem
  constexpr unsigned kNeeded = compute_capability<V>();
  if constexpr (kNeeded > 0) {
    if (d.kind == KZOO_CUDA && d.compute_capability < kNeeded) {
      return "it needs sm_" + std::to_string(kNeeded) + ", the device is sm_" +
             std::to_string(d.compute_capability);
    }
  }
  if constexpr (requires { V::supports(d); }) {
    if (const char* words = V::supports(d); words != nullptr) return words;
  }
  return "";
}

// Why no plugin made with this header computes the problem, or "".
template <class V>
std::string general_objection(const kzoo_problem& p, const kzoo_device& d) {
  if (std::string words = type_objection<V>(p); !words.empty()) return words;
  if (std::string words = device_objection<V>(d); !words.empty()) return words;
  if (std::string words = layout_objection(layouts_of<V>(), p); !words.empty()) return words;
  if (const char* words = epilogue_objection<V>(p); *words != '\0') return words;
  if (const char* words = product_objection<V>(p); *words != '\0') return words;
  if (p.batch > 1 && !batches<V>()) return "it computes one product at a time, not a batch";
  // Kernels hold sizes in int and round them up to whole tiles.
  constexpr std::int64_t kLargest = INT_MAX / 2;
  if (std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.batch, p.groups}) > kLargest) {
    return "sizes above 2^30 are not supported";
  }
  if (std::string words = size_objection(granularity_of<V>(), p); !words.empty()) return words;
  if (p.type_c == KZOO_I32 && !(is_whole_int(p.alpha) && is_whole_int(p.beta))) {
    return "alpha and beta must be whole numbers for integer matrices";
  }
  return "";
}

template <class V>
kzoo_status supports(const kzoo_variant*, const kzoo_problem* given, const kzoo_device* d,
                     kzoo_text* reason) {
  return guarded(reason, [&] {
    if (has_unknown_fields(*given))
      throw error(KZOO_UNSUPPORTED, "the problem has options newer than this plugin's SDK");
    const kzoo_problem p = known_part(*given);
    if (const std::string words = general_objection<V>(p, *d); !words.empty()) {
      throw error(KZOO_UNSUPPORTED, words);
    }
    const char* words = nullptr;
    if constexpr (requires { V::grid::objection(p); }) words = V::grid::objection(p);
    if constexpr (requires { V::supports(p, *d); }) {
      if (words == nullptr) words = V::supports(p, *d);
    }
    if (words != nullptr) throw error(KZOO_UNSUPPORTED, words);
  });
}

template <class V>
std::uint64_t workspace_bytes(const kzoo_variant*, const kzoo_problem* p, const kzoo_device* d) {
  std::uint64_t bytes = 0;
  if constexpr (!is_left_out<V>() && requires { V::workspace_bytes(*p, *d); }) {
    if (guarded(nullptr, [&] { bytes = V::workspace_bytes(known_part(*p), *d); }) != KZOO_OK)
      bytes = UINT64_MAX;
  }
  return bytes;
}

// The variant and the problem it was created for.
template <class V>
struct instance {
  instance(const kzoo_problem& p, const kzoo_device& d) requires
      std::constructible_from<V, const kzoo_problem&, const kzoo_device&> : problem(p),
                                                                            variant(p, d) {}
  instance(const kzoo_problem& p, const kzoo_device&) : problem(p) {}

  kzoo_problem problem;
  V variant;
};

template <class V>
kzoo_status create(const kzoo_variant*, const kzoo_problem* p, const kzoo_device* d, void** created,
                   kzoo_text* text) {
  return guarded(text, [&] {
    if constexpr (is_left_out<V>()) {
      throw error(KZOO_UNSUPPORTED, V::not_simulated);
    } else {
      *created = new instance<V>(known_part(*p), *d);
    }
  });
}

template <class V>
void destroy(const kzoo_variant*, void* created) {
  if constexpr (!is_left_out<V>()) delete static_cast<instance<V>*>(created);
}

// alpha for an epilogue: times the scales of A and B, where 0 means 1.
inline double scaled_alpha(const kzoo_problem& p) {
  return p.alpha * (p.scale_a == 0 ? 1 : p.scale_a) * (p.scale_b == 0 ? 1 : p.scale_b);
}

template <class T, layout kLayout>
gemm<T, kLayout> to_gemm(const kzoo_problem& p, const kzoo_arguments& args) {
  using accumulator = accumulator_t<T>;
  using of = elements<T>;
  return {.m = static_cast<int>(p.m),
          .n = static_cast<int>(p.n),
          .k = static_cast<int>(p.k),
          .lda = static_cast<std::ptrdiff_t>(p.lda),
          .ldb = static_cast<std::ptrdiff_t>(p.ldb),
          .ldc = static_cast<std::ptrdiff_t>(p.ldc),
          .a = static_cast<const typename of::a*>(args.a),
          .b = static_cast<const typename of::b*>(args.b),
          .c = static_cast<typename of::c*>(args.c),
          .alpha = static_cast<accumulator>(scaled_alpha(p)),
          .beta = static_cast<accumulator>(p.beta)};
}

inline epilogue to_epilogue(const kzoo_problem& p, const kzoo_arguments& args) {
  epilogue e{};
  for (std::uint32_t i = 0; i < p.stage_count; ++i) {
    const kzoo_stage& stage = p.epilogue[i];
    epilogue::stage& to = e.stages[e.count++];
    to.kind = stage.kind;
    to.low = static_cast<float>(stage.low);
    to.high = static_cast<float>(stage.high);
    if (!has_operand(stage.kind)) continue;
    const kzoo_operand& x = p.operands[stage.operand];
    to.type = x.type;
    to.operand = args.operands[stage.operand];
    to.row_step = x.rows == 1 ? 0 : static_cast<std::ptrdiff_t>(x.ld);
    to.col_step = x.cols == 1 ? 0 : 1;
  }
  return e;
}

// The scales of A or B in operand `name`; empty without block scales.
inline matrix_scales to_scales(const kzoo_problem& p, const kzoo_arguments& args,
                               const kzoo_scale_block& block, const char* name) {
  if (block.extent == 0) return {};
  return {operand<float>(p, args, name), static_cast<std::ptrdiff_t>(operand_named(p, name).ld),
          static_cast<int>(block.extent), static_cast<int>(block.depth)};
}

template <class V, class Gemm>
void run_as(const V& v, const Gemm& g, const kzoo_arguments& args) {
  const auto stream = static_cast<stream_t>(args.stream);
  if constexpr (has_one_kernel<V>) {
    V::grid::launch(V::kernel, g, stream);
  } else if constexpr (requires { V::template kernel<Gemm>; }) {
    V::grid::launch(V::template kernel<Gemm>, g, stream);
  } else if constexpr (requires { v.run(g, args); }) {
    v.run(g, args);
  } else {
    v.run(g, stream);
  }
}

template <class V, class T, layout kLayout>
void run_one_or_many(const instance<V>& i, const kzoo_arguments& args) {
  const kzoo_problem& p = i.problem;
  const gemm<T, kLayout> g = to_gemm<T, kLayout>(p, args);
  if constexpr (epilogues<V>() && std::same_as<accumulator_t<T>, float>) {
    if (p.stage_count > 0) {
      run_as(i.variant, fused_gemm<T, kLayout>{g, to_epilogue(p, args)}, args);
      return;
    }
  }
  if constexpr (block_scales<V>() && std::same_as<accumulator_t<T>, float>) {
    if (has_scale_blocks(p)) {
      run_as(i.variant,
             scaled_gemm<T, kLayout>{g, to_scales(p, args, p.scale_block_a, "scale_a"),
                                     to_scales(p, args, p.scale_block_b, "scale_b")},
             args);
      return;
    }
  }
  if constexpr (groups<V>() && !is_a_transposed(kLayout)) {
    if (p.groups != 0) {
      run_as(i.variant,
             grouped_gemm<T, kLayout>{g, static_cast<int>(p.groups),
                                      static_cast<std::ptrdiff_t>(p.stride_b),
                                      operand<int>(p, args, "offsets")},
             args);
      return;
    }
  }
  if constexpr (batches<V>()) {
    if (p.batch > 1) {
      using batch = gemm_batch<T, kLayout>;
      const batch all{g, static_cast<int>(p.batch), static_cast<std::ptrdiff_t>(p.stride_a),
                      static_cast<std::ptrdiff_t>(p.stride_b),
                      static_cast<std::ptrdiff_t>(p.stride_c)};
      if constexpr (takes<V, batch>) {
        run_as(i.variant, all, args);
      } else {
        for (int product = 0; product < p.batch; ++product) run_as(i.variant, all[product], args);
      }
      return;
    }
  }
  if constexpr (takes_plain<V>(types<T>(), layouts<kLayout>())) run_as(i.variant, g, args);
}

template <class V, class T, layout... kLayout>
void run_laid_out(layouts<kLayout...>, const instance<V>& i, const kzoo_arguments& args) {
  ((layout_of(i.problem) == kLayout ? run_one_or_many<V, T, kLayout>(i, args) : void()), ...);
}

template <class V, class... T>
void run_typed(types<T...>, const instance<V>& i, const kzoo_arguments& args) {
  const kzoo_problem& p = i.problem;
  ((p.type_a == element_traits<T>::type_a && p.type_b == element_traits<T>::type_b &&
            p.type_c == element_traits<T>::type
        ? run_laid_out<V, T>(layouts_of<V>(), i, args)
        : void()),
   ...);
}

template <class V>
kzoo_status run(const kzoo_variant*, void* created, const kzoo_arguments* args, kzoo_text* text) {
  return guarded(text, [&] {
    const bool may_ask = args->struct_size >= offsetof(kzoo_arguments, operands);
    const launch_list_scope scope(may_ask ? args->launches : nullptr);
    if constexpr (!is_left_out<V>()) {
      run_typed(types_of<V>(), *static_cast<const instance<V>*>(created), *args);
    }
  });
}

}  // namespace detail

// An entry of a plugin's table. `id` and `summary` must be string literals. The id is unique in
// the plugin and has 1 to 100 of the characters A-Z, a-z, 0-9, '_', '.' and '-'.
template <class V>
constexpr kzoo_variant variant(const char* id, const char* summary) {
  constexpr granularity kSizes = detail::granularity_of<V>();
  return {sizeof(kzoo_variant),
          id,
          summary,
          detail::signatures<V>.data(),
          static_cast<std::uint32_t>(detail::signatures<V>.size()),
          detail::compute_capability<V>(),
          nullptr,
          &detail::supports<V>,
          &detail::workspace_bytes<V>,
          &detail::create<V>,
          &detail::run<V>,
          &detail::destroy<V>,
          detail::nondeterministic<V>(),
          0,
          kSizes.m,
          kSizes.n,
          kSizes.k,
          kSizes.row_bytes};
}

}  // namespace kzoo

// The only exported symbol, once per library. ID is a string literal like a variant's id. Variants
// follow the summary: kzoo::variant<V>("id", "summary"), ...
#define KZOO_PLUGIN(ID, SUMMARY, ...)                                                        \
  static constexpr kzoo_variant kzoo_variant_table[] = {__VA_ARGS__};                        \
  extern "C" __attribute__((visibility("default"))) const kzoo_plugin KZOO_PLUGIN_SYMBOL;    \
  const kzoo_plugin KZOO_PLUGIN_SYMBOL = {sizeof(kzoo_plugin),                               \
                                          KZOO_ABI_MINOR,                                    \
                                          KZOO_TARGET_DEVICE,                                \
                                          ID,                                                \
                                          SUMMARY,                                           \
                                          KZOO_BUILD_INFO,                                   \
                                          kzoo_variant_table,                                \
                                          sizeof(kzoo_variant_table) / sizeof(kzoo_variant), \
                                          sizeof(kzoo_variant),                              \
                                          KZOO_NATIVE,                                       \
                                          0}
