#include "core/problem.hpp"
#include "report/report.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/text.hpp"

using namespace kzoo;
using test::count_of;

namespace {

// The kernel `fast` beside `base`, twice as fast, on the first problem alone.
results::document with_precision(kzoo_precision fast, kzoo_precision base = KZOO_COMPUTE_FP32) {
  results::document d = test::made_document();
  d.experiment.problems.resize(1);
  d.cells.resize(3);
  d.planned = 3;
  d.cells[0].declared = base;
  d.cells[1].declared = fast;
  return d;
}

}  // namespace

TEST_CASE("a precision is lower by its sums, its inputs, their range or its bound", "[problem]") {
  const element_types f32 = KZOO_F32;
  // From the lowest on.
  constexpr std::array kInOrder{
      KZOO_COMPUTE_FP16_SUMS, KZOO_COMPUTE_FP8,           KZOO_COMPUTE_BF16, KZOO_COMPUTE_FP16,
      KZOO_COMPUTE_TF32,      KZOO_COMPUTE_FP32_NORMWISE, KZOO_COMPUTE_FP32, KZOO_COMPUTE_FP64};
  for (std::size_t i = 0; i < kInOrder.size(); ++i) {
    for (std::size_t j = 0; j < kInOrder.size(); ++j)
      CHECK(is_less_precise(kInOrder[i], kInOrder[j], f32) == (i < j));
  }
  CHECK_FALSE(is_less_precise(KZOO_COMPUTE_FP32_SPLIT, KZOO_COMPUTE_FP32, f32));
  CHECK_FALSE(is_less_precise(KZOO_COMPUTE_FP32, KZOO_COMPUTE_FP32_SPLIT, f32));
  CHECK_FALSE(is_less_precise(0, KZOO_COMPUTE_FP32, f32));
}

TEST_CASE("a precision that holds every input is no lower one", "[problem]") {
  for (const kzoo_precision holds : {KZOO_COMPUTE_FP16, KZOO_COMPUTE_TF32})
    CHECK_FALSE(is_less_precise(holds, KZOO_COMPUTE_FP32, KZOO_F16));
  CHECK(is_less_precise(KZOO_COMPUTE_BF16, KZOO_COMPUTE_FP16, KZOO_F16));
  CHECK(is_less_precise(KZOO_COMPUTE_FP16_SUMS, KZOO_COMPUTE_FP16, KZOO_F16));
  CHECK_FALSE(is_less_precise(KZOO_COMPUTE_BF16, KZOO_COMPUTE_FP32, KZOO_BF16));
  CHECK(is_less_precise(KZOO_COMPUTE_FP16, KZOO_COMPUTE_FP32, KZOO_BF16));  // its range
  CHECK(is_less_precise(KZOO_COMPUTE_FP8, KZOO_COMPUTE_FP32, KZOO_E4M3));   // its sums
  CHECK_FALSE(is_less_precise(KZOO_COMPUTE_FP32, KZOO_COMPUTE_FP64, KZOO_I32));
}

TEST_CASE("a problem takes the precision of its types, and less only where it says so",
          "[problem]") {
  problem p;
  for (const kzoo_precision enough :
       {KZOO_COMPUTE_FP32, KZOO_COMPUTE_FP32_SPLIT, KZOO_COMPUTE_FP64})
    CHECK(takes(p, enough));
  for (const kzoo_precision less :
       {KZOO_COMPUTE_TF32, KZOO_COMPUTE_BF16, KZOO_COMPUTE_FP16_SUMS, KZOO_COMPUTE_FP32_NORMWISE})
    CHECK_FALSE(takes(p, less));
  p.allow.add(KZOO_COMPUTE_BF16);
  CHECK(takes(p, KZOO_COMPUTE_BF16));
  CHECK_FALSE(takes(p, KZOO_COMPUTE_TF32));  // each is named
  CHECK(taken_names(p) == "fp32 or bf16");

  const auto takes_of = [](kzoo_type type, kzoo_precision declared) {
    return takes(sized(8, 8, 8, type), declared);
  };
  CHECK(takes_of(KZOO_F16, KZOO_COMPUTE_FP16));
  CHECK(takes_of(KZOO_F16, KZOO_COMPUTE_FP32));
  CHECK_FALSE(takes_of(KZOO_F16, KZOO_COMPUTE_FP16_SUMS));
  CHECK_FALSE(takes_of(KZOO_BF16, KZOO_COMPUTE_FP16_SUMS));
  CHECK_FALSE(takes_of(KZOO_F64, KZOO_COMPUTE_FP32));
  CHECK(takes_of(KZOO_I32, KZOO_COMPUTE_INT32));
  CHECK_FALSE(takes(sized(8, 8, 8, {KZOO_E4M3, KZOO_E4M3, KZOO_F32}), KZOO_COMPUTE_FP8));
}

TEST_CASE("a table says which kernels compute in a lower precision than the baseline", "[report]") {
  using report::medium;
  for (const medium m : {medium::text, medium::markdown, medium::html}) {
    const std::string lower = report::full_report(with_precision(KZOO_COMPUTE_BF16), m);
    CHECK(count_of(lower, "pass, bf16") == 1);
    CHECK(count_of(lower, "2.00x (bf16 vs fp32)") == 1);
    const std::string split = report::full_report(with_precision(KZOO_COMPUTE_FP32_SPLIT), m);
    CHECK(count_of(split, "pass, fp32_split") == 0);
    CHECK(count_of(split, " vs fp32") == 0);
    CHECK(count_of(split, "2.00x") == 1);
  }
}

TEST_CASE("a precision that the baseline shares is no lower one", "[report]") {
  const std::string both = report::full_report(with_precision(KZOO_COMPUTE_TF32, KZOO_COMPUTE_TF32),
                                               report::medium::text);
  CHECK(count_of(both, "pass, tf32") == 0);
  CHECK(count_of(both, "tf32 vs") == 0);
}

TEST_CASE("without a baseline the usual precision of the elements counts", "[report]") {
  results::document d = with_precision(KZOO_COMPUTE_TF32, KZOO_COMPUTE_TF32);
  d.experiment.baseline.reset();
  for (results::cell& c : d.cells) c.speedup.reset();
  CHECK(count_of(report::full_report(d, report::medium::text), "pass, tf32") == 2);
  d.experiment.baseline = selector{"base", {}};
  d.experiment.timing.enabled = false;
  for (results::cell& c : d.cells) c.time.reset();
  CHECK(count_of(report::full_report(d, report::medium::text), "pass, tf32") == 0);
}

TEST_CASE("tables of speeds alone name a lower precision beside them", "[report]") {
  results::document d = with_precision(KZOO_COMPUTE_BF16);
  using enum results::pivot_axis;
  const auto pivot_of = [&](results::pivot_value value) {
    d.experiment.pivot_table = results::pivot{kernel, shape, value};
    return report::full_report(d, report::medium::text);
  };
  CHECK(count_of(pivot_of(results::pivot_value::speedup), "2.00x (bf16 vs fp32)") == 1);
  CHECK(count_of(pivot_of(results::pivot_value::gflops), " (bf16)") == 1);
  CHECK(count_of(pivot_of(results::pivot_value::ms), "500 us (bf16)") == 1);
  for (results::cell& c : d.cells)
    if (c.time) c.time->clock = timing::clock::simulator;
  CHECK(count_of(pivot_of(results::pivot_value::ms), "1 pass (bf16)") == 1);
}

TEST_CASE("rankings and comparisons say where a speedup is over a more precise kernel",
          "[report]") {
  const results::document d = with_precision(KZOO_COMPUTE_BF16);
  const std::string ranking =
      report::ranking_text(d, "base", compare::rank(d, "base"), report::medium::text);
  CHECK(count_of(ranking, "2.00x (bf16 vs fp32)") == 1);
  const results::document before = with_precision(KZOO_COMPUTE_FP32);
  const std::string changes =
      report::comparison_text(compare::compare(before, d, 0.03), report::medium::text);
  CHECK(count_of(changes, "(bf16 vs fp32)") == 1);
}
