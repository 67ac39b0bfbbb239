#include <kzoo/manifest/launch_plan.hpp>

#include <kzoo/error.hpp>
#include <kzoo/manifest/expression.hpp>
#include <kzoo/stages.hpp>
#include <kzoo/type_names.hpp>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

namespace kzoo::manifest {
namespace {

[[noreturn]] void decline(const std::string& why) { throw error(KZOO_UNSUPPORTED, why); }

// Indices in kVariables.
enum variable { kLda = 3, kLdb, kLdc, kBatch = 8, kStrideA, kStrideB, kStrideC };

bool has(const kernel_variant& v, argument_kind kind) {
  return std::ranges::any_of(v.arguments, [&](const argument& a) { return a.kind == kind; });
}

bool uses(const std::string& text, variable name) {
  return expression::parse(text, kVariables).uses(name);
}

// Whether an argument depends on the variable, so that the kernel can know it.
bool knows(const kernel_variant& v, variable name) {
  return std::ranges::any_of(v.arguments, [&](const argument& a) {
    return a.kind == argument_kind::value && uses(a.expression, name);
  });
}

void check_distances(const kernel_variant& v, const kzoo_problem& p) {
  struct distance {
    argument_kind pointer;
    variable name;
    std::int64_t given, packed;
    const char* of;
  };
  const bool a_transposed = is_a_transposed(v.layout), b_transposed = is_b_transposed(v.layout);
  const auto check = [&](std::initializer_list<distance> all) {
    for (const distance& d : all)
      if (d.given != d.packed && has(v, d.pointer) && !knows(v, d.name))
        decline("its arguments do not have " + std::string(kVariables[d.name]) + ", so it needs " +
                d.of + " that follow each other without a gap");
  };
  check({{argument_kind::a, kLda, p.lda, a_transposed ? p.m : p.k, "rows"},
         {argument_kind::b, kLdb, p.ldb, b_transposed ? p.k : p.n, "rows"},
         {argument_kind::c, kLdc, p.ldc, p.n, "rows"}});
  if (p.batch <= 1) return;
  check({{argument_kind::a, kStrideA, p.stride_a, p.lda * (a_transposed ? p.k : p.m), "A"},
         {argument_kind::b, kStrideB, p.stride_b, p.ldb * (b_transposed ? p.n : p.k), "B"},
         {argument_kind::c, kStrideC, p.stride_c, p.ldc * p.m, "C"}});
}

void check_batch(const kernel_variant& v, const kzoo_problem& p) {
  if (p.batch <= 1) return;
  if (!knows(v, kBatch) &&
      !std::ranges::any_of(v.grid, [](const std::string& blocks) { return uses(blocks, kBatch); }))
    decline(
        "it computes one product at a time, not a batch: batch is not in its grid or arguments");
  if (p.stage_count > 0) decline("it takes one product with an epilogue, not a batch");
  if (has(v, argument_kind::tensor_map)) decline("its tensor maps are of one product, not a batch");
}

// Checks an operand's type, and that its rows are contiguous: no argument tells their distance.
bool is_operand(const epilogue_stage& own, const kzoo_problem& p, const kzoo_operand& x) {
  const kzoo_type type = own.type == 0 ? usual_operand_type(own.kind, p.type_c) : own.type;
  if (own.operand != x.name || x.type != type) return false;
  if (x.ld != x.cols) decline("it needs a " + own.operand + " whose rows follow without a gap");
  return true;
}

void check_epilogue(const kernel_variant& v, const kzoo_problem& p) {
  if (v.epilogue.empty() && p.stage_count > 0)
    decline("it computes alpha A B + beta C, and nothing after it");
  bool is_same = p.stage_count == v.epilogue.size();
  for (std::size_t i = 0; is_same && i < v.epilogue.size(); ++i) {
    const epilogue_stage& own = v.epilogue[i];
    const kzoo_stage& given = p.epilogue[i];
    is_same = own.kind == given.kind && own.low == given.low && own.high == given.high &&
              (!has_operand(own.kind) || is_operand(own, p, p.operands[given.operand]));
  }
  if (!is_same) decline("it computes a product with another epilogue");
}

std::string block_name(const std::array<std::uint32_t, 2>& block) {
  return block[0] == 0 ? "none" : std::to_string(block[0]) + "x" + std::to_string(block[1]);
}

void check_scales_and_groups(const kernel_variant& v, const kzoo_problem& p) {
  using block = std::array<std::uint32_t, 2>;
  for (const auto& [name, own, given] :
       {std::tuple("A", v.scale_block_a, block{p.scale_block_a.extent, p.scale_block_a.depth}),
        std::tuple("B", v.scale_block_b, block{p.scale_block_b.extent, p.scale_block_b.depth})})
    if (own != given)
      decline(std::string("its blocks of ") + name + " that have a scale are " + block_name(own) +
              ", not " + block_name(given));
  if (v.groups != (p.groups != 0))
    decline(v.groups ? "it takes groups of rows" : "it computes one product, not groups of rows");
  const std::int64_t rows_of_b = p.layout_b == KZOO_COLUMN_MAJOR ? p.n : p.k;
  if (v.groups && p.stride_b != rows_of_b * p.ldb)
    decline("it takes groups whose B follow each other without a gap");
}

void check_problem(const kernel_variant& v, const kzoo_problem& p) {
  if (p.type_a != v.type_a || p.type_b != v.type_b || p.type_c != v.type_c) {
    decline("it computes " + type_names(v.type_a, v.type_b, v.type_c) + ", not " +
            type_names(p.type_a, p.type_b, p.type_c));
  }
  if (p.layout_c != KZOO_ROW_MAJOR) decline("only a row-major C is supported");
  if (layout_of(p) != v.layout) {
    decline("it takes layout " + std::string(layout_name(v.layout)) + ", not " +
            std::string(layout_name(layout_of(p))));
  }
  check_epilogue(v, p);
  check_scales_and_groups(v, p);
  check_batch(v, p);
  const bool scaled = (p.scale_a != 0 && p.scale_a != 1) || (p.scale_b != 0 && p.scale_b != 1);
  if ((p.alpha != 1 || scaled) && !has(v, argument_kind::alpha)) decline("it has no alpha");
  if (p.beta != 0 && !has(v, argument_kind::beta)) decline("it has no beta");
  check_distances(v, p);
}

class evaluator {
 public:
  evaluator(const kzoo_problem& p, const kzoo_device& d)
      : values_{p.m, p.n, p.k, p.lda, p.ldb, p.ldc,
                // The simulator runs one block after another.
                std::max<std::int64_t>(1, d.multiprocessors), p.groups,
                std::max<std::int64_t>(1, p.batch), p.stride_a, p.stride_b, p.stride_c} {}

  // The value; if it is not between `least` and `most`, the reason names it by `what`.
  std::int64_t operator()(const std::string& text, const char* what, std::int64_t least,
                          std::int64_t most) const {
    std::int64_t value = 0;
    try {
      value = expression::parse(text, kVariables).evaluate(values_);
    } catch (const expression_fault& fault) {
      decline(std::string(what) + ": " + fault.what());
    }
    if (value < least || value > most) {
      decline(std::string(what) + " = " + text + " is " + std::to_string(value) + ", not " +
              std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
  }

 private:
  std::array<std::int64_t, kVariables.size()> values_;
};

// The range of a parameter's type, signed or unsigned; 32 bits are signed.
std::pair<std::int64_t, std::int64_t> range_of(number_type type) {
  using i32 = std::numeric_limits<std::int32_t>;
  using i64 = std::numeric_limits<std::int64_t>;
  switch (type) {
    case number_type::i8: return {-0x80, 0xff};
    case number_type::i16: return {-0x8000, 0xffff};
    case number_type::i32: return {i32::min(), i32::max()};
    default: return {i64::min(), i64::max()};
  }
}

}  // namespace

launch_plan plan_launch(const kernel_variant& v, const kzoo_problem& p, const kzoo_device& d) {
  using i32 = std::numeric_limits<std::int32_t>;
  using i64 = std::numeric_limits<std::int64_t>;
  check_problem(v, p);
  const evaluator evaluate(p, d);
  launch_plan plan;
  // CUDA's limits of grids and blocks.
  constexpr std::array<std::int64_t, 3> kMostBlocks{i32::max(), 65535, 65535};
  constexpr std::array<std::int64_t, 3> kMostThreads{1024, 1024, 64};
  constexpr std::array kGrid{"grid.x", "grid.y", "grid.z"};
  constexpr std::array kBlock{"block.x", "block.y", "block.z"};
  for (std::size_t i = 0; i < 3; ++i) {
    plan.grid[i] = static_cast<std::uint32_t>(evaluate(v.grid[i], kGrid[i], 1, kMostBlocks[i]));
    plan.block[i] = static_cast<std::uint32_t>(evaluate(v.block[i], kBlock[i], 1, kMostThreads[i]));
  }
  plan.dynamic_shared =
      static_cast<std::size_t>(evaluate(v.dynamic_shared, "dynamic_shared", 0, i32::max()));
  plan.workspace = static_cast<std::size_t>(evaluate(v.workspace, "workspace", 0, i64::max()));
  for (const argument& a : v.arguments) {
    const auto [least, most] = range_of(a.type);
    plan.values.push_back(
        a.kind != argument_kind::value ? 0 : evaluate(a.expression, "an argument", least, most));
  }
  return plan;
}

}  // namespace kzoo::manifest
