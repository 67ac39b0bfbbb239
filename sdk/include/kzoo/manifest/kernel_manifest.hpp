// What a manifest says about kernels that are not written against the SDK: how to launch them, and
// which products they compute. The runner reads it from TOML; docs/compiled-kernels.md has the
// keys.
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

// What expressions may name, in the order of their values: a problem's sizes and leading
// dimensions, all in elements, the number of SMs, and that of groups of rows.
inline constexpr std::array<std::string_view, 8> kVariables{"M",   "N",   "K",   "lda",
                                                            "ldb", "ldc", "SMs", "groups"};

// What a kernel gets in the place of one of its parameters; operand: the address of one that the
// problem has beside A, B and C.
enum class argument_kind { a, b, c, workspace, null, alpha, beta, value, tensor_map, operand };
// accumulator: f32, or f64 or i32 where C has that type. Manifests name no i8 and i16, which
// parameters of a source's kernels may be.
enum class number_type { accumulator, i32, i64, f16, bf16, f32, f64, i8, i16 };

struct argument {
  argument_kind kind{};
  number_type type{};      // of alpha, beta and values; the others are pointers or tensor maps
  std::string expression;  // a value's
  // A tensor map's index in the manifest, or an operand's among those of the problem.
  std::size_t map = 0;
};

// What the kernel does to an element before it stores it, as kzoo_stage has it.
struct epilogue_stage {
  kzoo_stage_kind kind{};
  std::string operand;  // its name, of those that add or multiply
  kzoo_type type = 0;   // of its elements; 0: that of C, for one that multiplies f32
  double low = 0, high = 0;
};

// A tensor map that the host makes for each call: the matrix, as TMA reads or writes it.
struct tensor_map {
  std::string name;
  argument_kind matrix{};              // a, b or c
  std::array<std::uint32_t, 2> box{};  // elements: along memory, across
  std::uint32_t swizzle = 0;           // bytes: 0, 32, 64 or 128
};

// One kernel, launched in one way.
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
  bool reads_c = false;  // even where beta is 0: C is set to zero before it
  bool nondeterministic = false;
  std::vector<epilogue_stage> epilogue;
  // Of A, and of B, the rows (columns) and steps of K that have a scale; 0 and 0: there are none.
  std::array<std::uint32_t, 2> scale_block_a{}, scale_block_b{};
  bool groups = false;  // of rows
  std::vector<argument> arguments;
};

// Neighbours of one id are one variant, for several types and layouts.
struct kernel_manifest {
  std::string id, summary;
  std::string kernel;  // the file with the kernels
  std::string build;   // how they were compiled; "": it is not known
  std::vector<tensor_map> maps;
  std::vector<kernel_variant> variants;
};

}  // namespace kzoo::manifest
