#pragma once
// Epilogues: stages applied to each element of alpha A B + beta C before it is stored. A variant
// with
//
//   static constexpr bool epilogues = true;
//
// gets a kzoo::fused_gemm for problems with an epilogue; its kernel is a template over its argument
// (plugin.hpp). g.store() and g.store_inside() apply the epilogue. A kernel for one fixed epilogue
// checks it in `supports`, and takes operands by name:
//
//   static const char* supports(const kzoo_problem& p, const kzoo_device&) {
//     return kzoo::has_epilogue(p, {{KZOO_STAGE_ADD, "bias", KZOO_F32}, {KZOO_STAGE_RELU}})
//                ? nullptr
//                : "it computes bias:f32 + relu";
//   }
//   void run(const kzoo::gemm<float>& g, const kzoo_arguments& arguments) const {
//     const auto* bias = kzoo::operand<float>(problem, arguments, "bias");   // device memory

#include <kzoo/abi.h>
#include <kzoo/cuda.hpp>
#include <kzoo/element_traits.hpp>
#include <kzoo/error.hpp>
#include <kzoo/gemm.hpp>
#include <kzoo/type_names.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace kzoo {

// Applies stages to an element of alpha A B + beta C, in fp32. By value, on both devices.
struct epilogue {
  // One stage, with the address of its operand.
  struct stage {
    kzoo_stage_kind kind;               // KZOO_STAGE_ADD, …
    kzoo_type type;                     // of the operand: f32, f16 or bf16
    const void* operand;                // the caller's, in device memory
    std::ptrdiff_t row_step, col_step;  // elements; 0: the same for all rows, or all columns
    float low, high;                    // of clamp
  };
  stage stages[KZOO_MOST_STAGES];  // in the order of application
  int count;                       // of stages

  // Applies all stages to x, the element (row, col) of C; not checked.
  __host__ __device__ float operator()(float x, int row, int col) const {
    for (int i = 0; i < count; ++i) x = applied(stages[i], x, row, col);
    return x;
  }

  // Applies one stage, for kernels that know it; row and column of C, not checked.
  static __host__ __device__ float applied(const stage& s, float x, int row, int col) {
    constexpr float kRootHalf = 0.70710678f, kRootTwoByPi = 0.79788456f, kCubic = 0.044715f;
    switch (s.kind) {
      case KZOO_STAGE_ADD: return x + element(s, row, col);
      case KZOO_STAGE_MULTIPLY: return x * element(s, row, col);
      case KZOO_STAGE_RELU: return fmaxf(x, 0.0f);
      case KZOO_STAGE_GELU: return 0.5f * x * (1.0f + erff(x * kRootHalf));
      case KZOO_STAGE_GELU_TANH:
        return 0.5f * x * (1.0f + tanhf(kRootTwoByPi * (x + kCubic * x * x * x)));
      case KZOO_STAGE_SILU: return x / (1.0f + expf(-x));
      default: return fminf(fmaxf(x, s.low), s.high);
    }
  }
  // The element of a stage's operand for element (row, col) of C; not checked.
  static __host__ __device__ float element(const stage& s, int row, int col) {
    const std::ptrdiff_t at = row * s.row_step + col * s.col_step;
    switch (s.type) {
      case KZOO_F16: return static_cast<float>(static_cast<const __half*>(s.operand)[at]);
      case KZOO_BF16: return static_cast<float>(static_cast<const __nv_bfloat16*>(s.operand)[at]);
      default: return static_cast<const float*>(s.operand)[at];
    }
  }
};

// A gemm that applies an epilogue when it stores elements.
template <class T, layout kLayout = layout::nn>
struct fused_gemm : gemm<T, kLayout> {
  using typename gemm<T, kLayout>::c_type;
  using typename gemm<T, kLayout>::accumulator_type;

  epilogue finish;  // applied by store

  // Itself: a batch of one GEMM.
  __host__ __device__ const fused_gemm& operator[](int) const { return *this; }

  // Writes one finished accumulator into C: the epilogue of alpha acc + beta C.
  __host__ __device__ void store(int row, int col, accumulator_type acc) const {
    c_type& out = this->c[row * this->ldc + col];
    accumulator_type x = this->alpha * acc;
    if (this->beta != accumulator_type(0)) x += this->beta * accumulator_type(out);
    out = c_type(finish(x, row, col));
  }
  // Writes it if (row, col) exists, for a tile that crosses an edge of C.
  __host__ __device__ void store_inside(int row, int col, accumulator_type acc) const {
    if (row < this->m && col < this->n) store(row, col, acc);
  }
};

// A stage that a kernel expects: its kind, and the name and type of its operand, if any.
struct known_stage {
  kzoo_stage_kind kind;           // KZOO_STAGE_ADD, …
  const char* operand = nullptr;  // its name
  kzoo_type type = 0;             // of its elements
};
// Whether the problem's epilogue has these stages; limits of clamp are not compared.
inline bool has_epilogue(const kzoo_problem& p, std::initializer_list<known_stage> stages) {
  const auto is_same = [&](const kzoo_stage& given, const known_stage& own) {
    if (given.kind != own.kind) return false;
    const kzoo_operand& x = p.operands[given.operand];
    return own.operand == nullptr ||
           (std::string_view(own.operand) == x.name && own.type == x.type);
  };
  return std::equal(p.epilogue, p.epilogue + p.stage_count, stages.begin(), stages.end(), is_same);
}

// The operand of this name. Throws error if the problem has none.
inline const kzoo_operand& operand_named(const kzoo_problem& p, std::string_view name) {
  const auto* const end = p.operands + p.operand_count;
  const auto* const found =
      std::find_if(p.operands, end, [&](const kzoo_operand& x) { return name == x.name; });
  if (found == end)
    throw error(KZOO_UNSUPPORTED, "the problem has no operand " + std::string(name));
  return *found;
}

// Its element (0, 0), in the caller's memory. Throws error also if its elements are not T.
template <class T>
const T* operand(const kzoo_problem& p, const kzoo_arguments& arguments, std::string_view name) {
  const kzoo_operand& x = operand_named(p, name);
  if (x.type != element_traits<T>::type)
    throw error(KZOO_UNSUPPORTED,
                std::string(name) + " has elements of " + std::string(type_name(x.type)));
  return static_cast<const T*>(arguments.operands[&x - p.operands]);
}

}  // namespace kzoo
