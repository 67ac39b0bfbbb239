#include "core/problem.hpp"

#include "core/operands.hpp"

#include "support/catch.hpp"

using namespace kzoo;

TEST_CASE("types have a name, a size and a kind", "[problem]") {
  for (const element_types& types : kElementTypes)
    CHECK(types_from_name(types_name(types)) == types);
  CHECK_FALSE(types_from_name("f128"));
  CHECK_FALSE(types_from_name("f32->f16"));
  CHECK_FALSE(types_from_name(""));
  CHECK(types_name(KZOO_F64) == "f64");
  CHECK(types_name({KZOO_BF16, KZOO_BF16, KZOO_F32}) == "bf16->f32");
  CHECK(types_name({KZOO_I8, KZOO_I8, KZOO_I32}) == "i8->i32");
  CHECK(types_name({KZOO_E4M3, KZOO_E5M2, KZOO_BF16}) == "e4m3*e5m2->bf16");
  CHECK(type_name(99) == "unknown type");
  CHECK(type_size(KZOO_F32) == 4);
  CHECK(type_size(KZOO_F16) == 2);
  CHECK(type_size(KZOO_BF16) == 2);
  CHECK(type_size(KZOO_I32) == 4);
  CHECK(type_size(KZOO_F64) == 8);
  for (const kzoo_type type : {KZOO_I8, KZOO_E4M3, KZOO_E5M2}) CHECK(type_size(type) == 1);
  CHECK(type_size(99) == 0);
  CHECK(is_integer(KZOO_I32));
  CHECK(is_integer(element_types{KZOO_I8, KZOO_I8, KZOO_I32}));
  CHECK_FALSE(is_integer(KZOO_F32));
  CHECK_FALSE(is_integer(kzoo_type{99}));
  CHECK(default_fill(KZOO_I32) == fill::integers);
  CHECK(default_fill(KZOO_BF16) == fill::uniform);
}

TEST_CASE("precisions have a name", "[problem]") {
  CHECK(precision_name(KZOO_COMPUTE_FP32) == "fp32");
  CHECK(precision_name(KZOO_COMPUTE_TF32) == "tf32");
  CHECK(precision_name(KZOO_COMPUTE_FP16) == "fp16");
  CHECK(precision_name(KZOO_COMPUTE_BF16) == "bf16");
  CHECK(precision_name(KZOO_COMPUTE_INT32) == "int32");
  CHECK(precision_name(KZOO_COMPUTE_FP64) == "fp64");
  CHECK(precision_name(KZOO_COMPUTE_FP16_SUMS) == "fp16 sums");
  CHECK(precision_name(KZOO_COMPUTE_FP8) == "fp8");
  CHECK(precision_name(KZOO_COMPUTE_FP32_SPLIT) == "fp32_split");
  CHECK(precision_name(KZOO_COMPUTE_FP32_NORMWISE) == "fp32_normwise");
  CHECK(precision_name(0) == "unknown precision");
}

TEST_CASE("a fill may have a number", "[problem]") {
  for (const fill f : kFills) {
    const filling one{f, parameter_of(f).most};
    CHECK(filling_from_name(filling_name(one)) == one);
  }
  CHECK(filling_from_name("sparse:0.25") == filling(fill::sparse, 0.25));
  CHECK(filling_name({fill::few_bits, 3}) == "few_bits:3");
  for (const char* bad : {"", "sparse", "sparse:", "sparse:1.5", "sparse:-0.1", "sparse:nan",
                          "few_bits:2.5", "few_bits:24", "uniform:1", "powers:x", "sparse:0.5 "}) {
    INFO(bad);
    CHECK_FALSE(filling_from_name(bad));
  }
  problem p{8, 8, 8};
  p.data = {fill::sparse, 0.9};
  CHECK(problem_name(p) == "8x8x8 f32 fill=sparse:0.9");
  p.data = fill::probe;
  p.data.spread = 20;
  CHECK(problem_name(p) == "8x8x8 f32 fill=probe*2^-20");
}

TEST_CASE("a kernel is told of a problem what is not in its matrices", "[problem]") {
  problem p = sized(8, 9, 10), q = p;
  q.data = fill::probe;
  q.data.spread = 20;
  q.seed = 7;
  q.renewed = "A";
  CHECK(p != q);
  CHECK(as_told(p) == as_told(q));
  q.beta = 1;
  CHECK(as_told(p) != as_told(q));
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

TEST_CASE("a plugin sees the type of each matrix, and scales that are not 1", "[problem]") {
  problem p = sized(4, 4, 4, {KZOO_E4M3, KZOO_E5M2, KZOO_BF16});
  kzoo_problem abi = to_abi(p);
  CHECK(abi.type_a == KZOO_E4M3);
  CHECK(abi.type_b == KZOO_E5M2);
  CHECK(abi.type_c == KZOO_BF16);
  CHECK(abi.scale_a == 0);
  p.scale_a = 0.5;
  p.scale_b = 3;
  abi = to_abi(p);
  CHECK(abi.scale_a == 0.5);
  CHECK(abi.scale_b == 3);
  CHECK(problem_name(p) == "4x4x4 e4m3*e5m2->bf16 scale_a=0.5 scale_b=3");
}

TEST_CASE("what no product of these types can have is said", "[problem]") {
  const auto why = [](const element_types& types, const auto& set) {
    problem p = sized(4, 5, 6, types);
    set(p);
    return why_not_of_types(p);
  };
  const element_types weights{KZOO_BF16, KZOO_I4, KZOO_BF16}, fp8{KZOO_E4M3, KZOO_E4M3, KZOO_BF16};
  const auto plain = [](problem&) {};
  const auto relu = [](problem& p) { p.epilogue = epilogue_from_name("relu"); };
  const auto scaled_a = [](problem& p) { p.scale_block_a = *scale_block_from_name("1x2"); };
  const auto scaled_b = [](problem& p) {
    p.scale_block_b = *scale_block_from_name("1x2");
    p.layout = layout::nt;
  };
  CHECK_FALSE(why(KZOO_F32, plain));
  CHECK_FALSE(why(KZOO_F32, relu));
  CHECK(why(KZOO_I32, relu) == "epilogues are for results of f32, f16 and bf16");
  CHECK_FALSE(why(fp8, scaled_a));
  CHECK_FALSE(why(weights, scaled_b));
  for (const auto& refused : {why(KZOO_F32, scaled_b), why(weights, scaled_a)})
    CHECK(refused == "only blocks of fp8 matrices, and of a B of i4, have scales");
  CHECK(why(weights, plain) == "rows of a B of i4 have an even number of elements");
}

TEST_CASE("a plugin sees the blocks that have a scale, and where scales are", "[problem]") {
  problem p = sized(6, 300, 200, {KZOO_E4M3, KZOO_E4M3, KZOO_BF16});
  p.scale_block_a = *scale_block_from_name("1x128");
  p.scale_block_b = *scale_block_from_name("128x64");
  p.epilogue = epilogue_from_name("relu + bias");
  CHECK(problem_name(p) ==
        "6x300x200 e4m3->bf16 epilogue=\"relu + bias\" scale_block_a=1x128 scale_block_b=128x64");
  const kzoo_problem abi = to_abi(p);
  CHECK(abi.scale_block_a.extent == 1);
  CHECK(abi.scale_block_a.depth == 128);
  CHECK(abi.scale_block_b.extent == 128);
  CHECK(abi.scale_block_b.depth == 64);
  REQUIRE(abi.operand_count == 3);
  const auto check = [&](int i, std::string_view name, std::int64_t rows, std::int64_t cols,
                         std::int64_t ld) {
    INFO(name);
    const kzoo_operand& x = abi.operands[i];
    CHECK(name == x.name);
    CHECK(x.rows == rows);
    CHECK(x.cols == cols);
    CHECK(x.ld == ld);
  };
  check(0, "scale_a", 2, 6, 8);  // side by side along M; rows start at multiples of 16 bytes
  check(1, "scale_b", 3, 4, 4);
  check(2, "bias", 1, 300, 300);
  REQUIRE(abi.stage_count == 2);
  CHECK(abi.epilogue[1].operand == 2);
  for (const char* bad : {"", "128", "0x128", "1x0", "1x", "x1", "1x128x1", "1x65537", "-1x2"})
    CHECK_FALSE(scale_block_from_name(bad));
  CHECK(scale_block_name({16, 8}) == "16x8");
}

TEST_CASE("a plugin sees groups of rows, and a B for each", "[problem]") {
  problem p = sized(40, 7, 5);
  p.groups = 3;
  p.group_rows = data::group_rows::half_empty;
  p.padding = 2;
  CHECK(problem_name(p) == "40x7x5 f32 groups=3 group_rows=half_empty padding=2");
  const kzoo_problem abi = to_abi(p);
  CHECK(abi.groups == 3);
  CHECK(abi.batch == 0);
  CHECK(abi.stride_b == 5 * (7 + 4));
  REQUIRE(abi.operand_count == 1);
  CHECK(std::string_view("offsets") == abi.operands[0].name);
  CHECK(abi.operands[0].type == KZOO_I32);
  CHECK(abi.operands[0].cols == 4);
  CHECK(operands_of(p).b.count == 3);
}

TEST_CASE("a layout says which of A and B are transposed in memory", "[problem]") {
  struct {
    layout of;
    std::int64_t lda, ldb;
    kzoo_layout a, b;
  } all[] = {{layout::nn, 10, 12, KZOO_ROW_MAJOR, KZOO_ROW_MAJOR},
             {layout::nt, 10, 13, KZOO_ROW_MAJOR, KZOO_COLUMN_MAJOR},
             {layout::tn, 8, 12, KZOO_COLUMN_MAJOR, KZOO_ROW_MAJOR},
             {layout::tt, 8, 13, KZOO_COLUMN_MAJOR, KZOO_COLUMN_MAJOR}};
  for (const auto& one : all) {
    problem p{5, 6, 7};
    p.padding = 3;
    p.layout = one.of;
    const kzoo_problem abi = to_abi(p);
    CHECK(abi.lda == one.lda);
    CHECK(abi.ldb == one.ldb);
    CHECK(abi.ldc == 15);
    CHECK(abi.layout_a == one.a);
    CHECK(abi.layout_b == one.b);
    CHECK(abi.layout_c == KZOO_ROW_MAJOR);
    CHECK(layout_of(abi) == one.of);
    p.padding = 0;
    const std::string name(layout_name(one.of));
    CHECK(problem_name(p) == "5x6x7 f32" + (one.of == layout::nn ? "" : " " + name));
  }
}

TEST_CASE("a batch has strides, which a plugin sees, and one product has none", "[problem]") {
  problem p{5, 6, 7};
  p.padding = 1;
  CHECK(to_abi(p).batch == 0);
  p.batch = 3;
  kzoo_problem abi = to_abi(p);
  CHECK(abi.batch == 3);
  CHECK(abi.stride_a == 5 * 8);
  CHECK(abi.stride_b == 7 * 8);
  CHECK(abi.stride_c == 5 * 9);
  CHECK(problem_name(p) == "5x6x7 f32 batch=3 padding=1");
  CHECK(p.flops() == 3 * 2 * 5 * 6 * 7);
  p.layout = layout::tt;
  p.batch_padding = 10;
  abi = to_abi(p);
  CHECK(abi.stride_a == 7 * 6 + 10);
  CHECK(abi.stride_b == 6 * 9 + 20);
  CHECK(abi.stride_c == 5 * 9 + 30);
  p.batch_shared = shared_operand::a;
  CHECK(to_abi(p).stride_a == 0);
  CHECK(to_abi(p).stride_b == abi.stride_b);
  p.batch_shared = shared_operand::b;
  CHECK(to_abi(p).stride_a == abi.stride_a);
  CHECK(to_abi(p).stride_b == 0);
  CHECK(problem_name(p) == "5x6x7 f32 tt batch=3 batch_padding=10 batch_shared=b padding=1");
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
