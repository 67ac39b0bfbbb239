#include "core/problem.hpp"

#include "support/catch.hpp"

using namespace kzoo;

TEST_CASE("types have a name, a size and a kind", "[problem]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16, KZOO_I32})
    CHECK(type_from_name(type_name(type)) == type);
  CHECK(type_from_name("f64") == 0);
  CHECK(type_from_name("") == 0);
  CHECK(type_name(99) == "unknown type");
  CHECK(type_size(KZOO_F32) == 4);
  CHECK(type_size(KZOO_F16) == 2);
  CHECK(type_size(KZOO_BF16) == 2);
  CHECK(type_size(KZOO_I32) == 4);
  CHECK(type_size(99) == 0);
  CHECK(is_integer(KZOO_I32));
  CHECK_FALSE(is_integer(KZOO_F32));
  CHECK_FALSE(is_integer(99));
  CHECK(default_fill(KZOO_I32) == fill::integers);
  CHECK(default_fill(KZOO_BF16) == fill::uniform);
}

TEST_CASE("precisions have a name", "[problem]") {
  CHECK(precision_name(KZOO_COMPUTE_FP32) == "fp32");
  CHECK(precision_name(KZOO_COMPUTE_TF32) == "tf32");
  CHECK(precision_name(KZOO_COMPUTE_FP16) == "fp16");
  CHECK(precision_name(KZOO_COMPUTE_BF16) == "bf16");
  CHECK(precision_name(KZOO_COMPUTE_INT32) == "int32");
  CHECK(precision_name(KZOO_COMPUTE_FP32_SPLIT) == "fp32_split");
  CHECK(precision_name(0) == "unknown precision");
}

TEST_CASE("a problem's name says what is not the default", "[problem]") {
  problem p{512, 256, 128};
  CHECK(shape_name(p) == "512x256x128");
  CHECK(problem_name(p) == "512x256x128 f32");
  p.alpha = 0.7;
  p.beta = -1;
  p.padding = 3;
  p.data = fill::integers;
  p.seed = 7;
  CHECK(problem_name(p) == "512x256x128 f32 alpha=0.7 beta=-1 padding=3 fill=integers seed=7");
  p = {4, 4, 4, KZOO_I32};
  p.data = fill::integers;
  CHECK(problem_name(p) == "4x4x4 i32");
}

TEST_CASE("a plugin sees leading dimensions with the padding", "[problem]") {
  problem p{5, 6, 7, KZOO_BF16, 2.0, 0.5};
  p.padding = 3;
  const kzoo_problem abi = to_abi(p);
  CHECK(abi.struct_size == sizeof(kzoo_problem));
  CHECK(abi.m == 5);
  CHECK(abi.n == 6);
  CHECK(abi.k == 7);
  CHECK(abi.lda == 10);
  CHECK(abi.ldb == 12);
  CHECK(abi.ldc == 15);
  CHECK(abi.type_a == KZOO_BF16);
  CHECK(abi.type_b == KZOO_BF16);
  CHECK(abi.type_c == KZOO_BF16);
  CHECK(abi.layout_a == KZOO_ROW_MAJOR);
  CHECK(abi.alpha == 2.0);
  CHECK(abi.beta == 0.5);
  CHECK(abi.alignment == kMatrixAlignment);
  CHECK(p.flops() == 420.0);
}
