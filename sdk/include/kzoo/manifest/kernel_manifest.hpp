// A manifest describes kernels without the SDK: how to launch them, and which GEMMs they compute.
// The runner reads it from TOML; docs/compiled-kernels.md has the keys.
#pragma once

#include <kzoo/abi.h>
#include <kzoo/layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::manifest {

// Names in expressions, in the order of their values: a problem's sizes and leading dimensions in
// elements, the number of SMs, of groups, and of the products of a batch, and the elements from one
// product to the next.
inline constexpr std::array<std::string_view, 12> kVariables{
    "M",   "N",      "K",     "lda",      "ldb",      "ldc",
    "SMs", "groups", "batch", "stride_a", "stride_b", "stride_c"};

// A kernel's argument for a parameter. operand: the address of an operand besides A, B and C.
enum class argument_kind { a, b, c, workspace, null, alpha, beta, value, tensor_map, operand };
// accumulator: f32, or f64 or i32 if C has this type. i8 and i16 only occur as parameters of a
// source's kernels, not in manifests.
enum class number_type { accumulator, i32, i64, f16, bf16, f32, f64, i8, i16 };

struct argument {
  argument_kind kind{};
  number_type type{};      // of alpha, beta and values; others are pointers or tensor maps
  std::string expression;  // of a value
  // A tensor map's index in the manifest, or an operand's index in the problem.
  std::size_t map = 0;
};

// An epilogue stage of the kernel, as in kzoo_stage.
struct epilogue_stage {
  kzoo_stage_kind kind{};
  std::string operand;  // its name, if it adds or multiplies
  kzoo_type type = 0;   // of its elements; 0: C's type, for a factor f32
  double low = 0, high = 0;
};

// A tensor map that the host makes for each call: the matrix, as TMA reads or writes it.
struct tensor_map {
  std::string name;
  argument_kind matrix{};              // a, b or c
  std::array<std::uint32_t, 2> box{};  // elements: along memory, across
  std::uint32_t swizzle = 0;           // bytes: 0, 32, 64 or 128
};

// A kernel with one kind of launch.
struct kernel_variant {
  std::string id, summary, entry;  // entry: the kernel's name in the file
  kzoo_type type_a = KZOO_F32, type_b = KZOO_F32, type_c = KZOO_F32;
  kzoo_precision precision = KZOO_COMPUTE_FP32;
  kzoo::layout layout = kzoo::layout::nn;
  std::array<std::string, 3> grid{"1", "1", "1"}, block{"1", "1", "1"};  // expressions
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::string dynamic_shared = "0", workspace = "0";  // expressions: bytes
  std::array<std::uint32_t, 3> multiples{1, 1, 1};    // of M, N and K
  std::uint32_t row_bytes = 1;                        // rows start at multiples of it
  std::uint32_t compute_capability = 0;
  bool reads_c = false;  // even if beta is 0: C is set to zero before it
  bool nondeterministic = false;
  std::vector<epilogue_stage> epilogue;
  // Rows of A (columns of B) and elements of K that share a scale; 0 and 0: no scales.
  std::array<std::uint32_t, 2> scale_block_a{}, scale_block_b{};
  bool groups = false;  // grouped GEMM
  std::vector<argument> arguments;
};

// Neighbours with one id are one variant, for several types and layouts.
struct kernel_manifest {
  std::string id, summary;
  std::string kernel;  // the file with the kernels
  std::string build;   // how they were compiled; "": unknown
  std::vector<tensor_map> maps;
  std::vector<kernel_variant> variants;
};

}  // namespace kzoo::manifest
