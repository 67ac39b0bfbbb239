// The tables of a profile.
#include "report/launches.hpp"

#include "profile/ncu.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

using namespace kzoo;
using kzoo::test::ContainsSubstring;

namespace {

// Source D3's kernel at width 32, which has these figures there.
profile::document made_profile() {
  profile::document d;
  d.experiment = "/x/blocks.toml";
  d.device.id = "cuda:0";
  d.device.name = "Some GPU";
  d.ncu_version = "2025.3.1.0";
  profile::profiled c{"coalesced", "32x32", sized(32, 32, 32), profile::counters{}, {}, ""};
  profile::launch l;
  l.kernel = "void coalesced_kernel<float>(kzoo::gemm<T1>)";
  l.block = {32, 32, 1};
  l.metrics = {{profile::metric::kTime, 4416},           {profile::metric::kLoadRequests, 2048},
               {profile::metric::kLoadSectors, 5120},    {profile::metric::kStoreRequests, 32},
               {profile::metric::kLoadWavefronts, 3072}, {profile::metric::kStoreSectors, 128},
               {profile::metric::kCopyRequests, 0},      {profile::metric::kCopySectors, 0},
               {profile::metric::kOccupancy, 49.96},     {profile::metric::kFfma, 34359738368.0}};
  for (const auto& [words, name] : profile::metric::stalls()) l.metrics[name] = 0.25;
  for (const auto& [words, name] : profile::metric::stalls()) {
    if (words == "long scoreboard") l.metrics[name] = 17.5;
    if (words == "lg throttle") l.metrics[name] = 2;
  }
  c.found->launches = {l};
  c.found->missing = {profile::metric::kTensor};
  d.cells.push_back(c);
  return d;
}

std::string text_of(const profile::document& d) {
  report::page p(report::medium::text);
  report::add_profile(p, d);
  return p.take();
}

}  // namespace

TEST_CASE("a profile shows counts exactly, and what warps wait on", "[report]") {
  auto d = made_profile();
  const std::string text = text_of(d);
  INFO(text);
  CHECK_THAT(text, ContainsSubstring(
                       "      2048     5120          2.50        32      128           4.00 "));
  CHECK_THAT(text, ContainsSubstring(" 1.50\n"));
  CHECK_THAT(text, ContainsSubstring("4.42 us"));
  CHECK_THAT(text, ContainsSubstring("50.0%"));
  CHECK_THAT(text, ContainsSubstring("34.4 G"));
  CHECK_THAT(text, ContainsSubstring("long scoreboard 17.50  lg throttle 2.00"));
  CHECK_THAT(
      text,
      ContainsSubstring(
          "coalesced:32x32: left out, since this ncu does not have them on this GPU: sm__pipe_tensor"));
  CHECK_THAT(text, !ContainsSubstring("cp.async"));  // nobody has any
  CHECK_THAT(text, !ContainsSubstring("#1"));

  d.cells[0].found->launches.push_back(d.cells[0].found->launches[0]);
  CHECK_THAT(text_of(d), ContainsSubstring("coalesced:32x32 #2"));
}

TEST_CASE("a cell that was not profiled has its reason, and a report its place", "[report]") {
  auto d = made_profile();
  d.cells.push_back({"naive", "8x8", sized(32, 32, 32), {}, verdict::crashed, "SIGSEGV"});
  d.cells[0].found->report = "/tmp/x.ncu-rep";
  CHECK_THAT(text_of(d), ContainsSubstring("crashed naive:8x8: SIGSEGV"));
  CHECK_THAT(text_of(d), ContainsSubstring("coalesced:32x32: ncu's report is /tmp/x.ncu-rep"));

  const auto json = nlohmann::ordered_json::parse(profile::to_text(d));
  CHECK(json.at("schema") == "kzoo.profile/1");
  const auto& launch = json.at("cells").at(0).at("launches").at(0);
  CHECK(launch.at("metrics").at(profile::metric::kLoadSectors) == 5120);
  CHECK(launch.at("block") == nlohmann::ordered_json{32, 32, 1});
  CHECK(json.at("cells").at(1).at("verdict") == "crashed");
}

TEST_CASE("a kernel's name is cut to what tells it apart", "[report]") {
  CHECK(report::kernel_text("void tile<(int)8, float>(gemm<T2>, int)") == "tile<8, float>");
  CHECK(report::kernel_text("(anonymous namespace)::f(void (*)(int))") == "f");
  CHECK(report::kernel_text("sm80_xmma_gemm_f32f32") == "sm80_xmma_gemm_f32f32");
  CHECK(report::kernel_text(std::string(100, 'x')) == std::string(59, 'x') + "…");
}
