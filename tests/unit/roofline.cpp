// The roofline floor of a problem, and times below it.
#include "roofline/roofline.hpp"

#include "support/catch.hpp"

using namespace kzoo;
using roofline::resource;
using test::ContainsSubstring;

namespace {

roofline::measured_peak made(resource r, double rate) { return {r, "made", {rate, 0}, 0, {}}; }

// 1 TFLOP/s in fp32, 8 on tensor cores; 100 GB/s; an L2 of 1 MB.
roofline::peaks made_peaks() {
  roofline::peaks c;
  c.facts["l2_bytes"] = "1000000";
  c.all = {made(resource::fp32, 0.5e12), made(resource::fp32, 1e12),  made(resource::tf32, 8e12),
           made(resource::fp16, 12e12),  made(resource::read, 100e9), made(resource::copy, 80e9)};
  return c;
}

double floor_ms(const problem& p, kzoo_precision declared, bool cold = true) {
  return roofline::floor_of(made_peaks(), p, declared, cold).value().ms;
}

}  // namespace

TEST_CASE("the floor uses the peak of the declared precision", "[roofline]") {
  const problem p = sized(1000, 1000, 1000);
  CHECK(floor_ms(p, KZOO_COMPUTE_FP32) == Approx(2.0));
  CHECK(floor_ms(p, KZOO_COMPUTE_TF32) == Approx(0.25));
  // Three fp16 products.
  CHECK(floor_ms(p, KZOO_COMPUTE_FP32_SPLIT) == Approx(0.5));
  CHECK(made_peaks().peak(KZOO_COMPUTE_FP32_SPLIT) == Approx(4e12));
  // Parts keep that promise as well, so no kernel is refused that multiplies them.
  CHECK(floor_ms(p, KZOO_COMPUTE_FP32_NORMWISE) == Approx(0.5));
  // The peak is the better of two microbenchmarks. There is no floor without one and with warm
  // caches.
  CHECK(made_peaks().peak(KZOO_COMPUTE_FP32) == 1e12);
  CHECK_FALSE(made_peaks().peak(KZOO_COMPUTE_BF16));
  CHECK_FALSE(roofline::floor_of(made_peaks(), p, KZOO_COMPUTE_BF16, false));
  CHECK_FALSE(roofline::floor_of({}, p, KZOO_COMPUTE_FP32, true));
}

TEST_CASE("a batch needs as much of everything as its products, but a shared operand once",
          "[roofline]") {
  problem p = sized(1000, 1000, 1000);
  p.batch = 8;
  CHECK(floor_ms(p, KZOO_COMPUTE_FP32) == Approx(16.0));
  p = sized(100, 100, 1);
  p.batch = 1000;  // A and B are 0.4 MB each, C is 40 MB, of which 1 MB stays in the L2
  CHECK(floor_ms(p, KZOO_COMPUTE_FP32) == Approx(1e3 * (0.8e6 + 39e6) / 100e9));
  p.batch_shared = shared_operand::a;
  CHECK(floor_ms(p, KZOO_COMPUTE_FP32) == Approx(1e3 * (0.4e6 + 400 + 39e6) / 100e9));
}

TEST_CASE("groups without rows need no B, and two 4-bit weights one byte", "[roofline]") {
  problem p = sized(10, 1000, 1000);
  p.groups = 10;
  const double others = 40e3 + 44, weights = 40e6;  // A and the offsets; every B. C stays in the L2
  CHECK(floor_ms(p, KZOO_COMPUTE_FP32) == Approx(1e3 * (others + weights) / 100e9));
  p.group_rows = data::group_rows::half_empty;
  CHECK(floor_ms(p, KZOO_COMPUTE_FP32) == Approx(1e3 * (others + weights / 2) / 100e9));
  problem narrow = sized(1, 2000, 1000, {KZOO_F16, KZOO_I4, KZOO_F16});
  narrow.layout = layout::nt;
  narrow.scale_block_b = {1, 100};
  CHECK(floor_ms(narrow, KZOO_COMPUTE_FP16) == Approx(1e3 * (2e3 + 1e6 + 80e3) / 100e9));
}

TEST_CASE("only arithmetic that was measured has a peak", "[roofline]") {
  roofline::peaks measured = made_peaks();
  measured.all.push_back(made(resource::int32, 3e12));
  problem p = sized(1000, 1000, 1000);
  CHECK(roofline::peak_of(measured, p, KZOO_COMPUTE_TF32) == 8e12);
  CHECK(roofline::peak_of(measured, p, KZOO_COMPUTE_INT32) == 3e12);
  CHECK_FALSE(roofline::peak_of(measured, p, KZOO_COMPUTE_FP8));
  p.dtype = KZOO_I8;  // tensor cores may multiply these
  CHECK_FALSE(roofline::peak_of(measured, p, KZOO_COMPUTE_INT32));
  // The memory bounds them all the same.
  CHECK(roofline::floor_of(measured, p, KZOO_COMPUTE_INT32, true)->resource == resource::read);
}

TEST_CASE("memory traffic limits only with cold caches", "[roofline]") {
  const problem thin = sized(1000, 1000, 1);  // 2 MFLOP; A and B are 8 kB, C is 3 MB over the L2
  CHECK(floor_ms(thin, KZOO_COMPUTE_FP32, false) == Approx(0.002));
  CHECK(floor_ms(thin, KZOO_COMPUTE_FP32) == Approx(1e3 * (8e3 + 3e6) / 100e9));
  const auto f = roofline::floor_of(made_peaks(), thin, KZOO_COMPUTE_FP32, true);
  CHECK(f->resource == resource::read);
  CHECK(roofline::text_of(*f) == "3.01 MB at the measured 100 GB/s");
}

TEST_CASE("a C that fits in the L2 may stay there, and is read where beta is not 0", "[roofline]") {
  problem p = sized(500, 500, 1);  // C is 1 MB, A and B 4 kB, half a million operations
  CHECK(floor_ms(p, KZOO_COMPUTE_FP32) == Approx(0.0005));
  p.beta = 1;
  CHECK(floor_ms(p, KZOO_COMPUTE_FP32) == Approx(1e3 * (4e3 + 1e6) / 100e9));
  p.padding = 1000;  // the padding need not be read
  CHECK(floor_ms(p, KZOO_COMPUTE_FP32) == Approx(1e3 * (4e3 + 1e6) / 100e9));
  p.alpha = 0;  // nor A and B
  CHECK_FALSE(roofline::floor_of(made_peaks(), p, KZOO_COMPUTE_FP32, true));
}

TEST_CASE("a time below the floor by more than the tolerance is impossible", "[roofline]") {
  const auto f = roofline::floor_of(made_peaks(), sized(1000, 1000, 1000), KZOO_COMPUTE_FP32, true);
  CHECK_FALSE(roofline::is_below(2.0, *f));
  CHECK_FALSE(roofline::is_below(1.961, *f));
  CHECK(roofline::is_below(1.959, *f));
  CHECK_THAT(roofline::why_impossible(0.5, *f, KZOO_COMPUTE_FP32),
             ContainsSubstring("500 us is less than the 2.00 ms that 2.00 GFLOP at the measured "
                               "1.00 TFLOP/s") &&
                 ContainsSubstring("all its work while it is timed?") &&
                 ContainsSubstring("the measured peaks are out of date") &&
                 ContainsSubstring("fewer multiplications") && ContainsSubstring("\"report\""));
}
