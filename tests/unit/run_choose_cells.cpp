// Which cells of an experiment are chosen by --cell.

#include "input/diagnostics.hpp"
#include "run/choose_cells.hpp"
#include "run/plan.hpp"

#include "support/catch.hpp"
#include "support/text.hpp"

#include <memory>

using namespace kzoo;
using kzoo::test::ContainsSubstring;
using run::choose;
using run::parse_cells;

namespace {

run::loaded_plugin made_plugin(const std::string& name, const std::vector<std::string>& variants) {
  run::loaded_plugin c;
  c.record.name = name;
  c.client = client::make_local_client(name);
  for (const std::string& id : variants) {
    results::variant_description v;
    v.id = id;
    v.signatures = {{KZOO_F32, KZOO_COMPUTE_FP32}};
    if (name == "wmma") v.signatures = {{KZOO_F16, KZOO_COMPUTE_FP32}};
    c.variants.push_back({static_cast<std::uint32_t>(c.variants.size()), v});
  }
  return c;
}

run::plan made_plan() {
  run::plan p;
  p.experiment.file = "/x/made.toml";
  p.device.id = "cuda:0";
  p.experiment.problems = {sized(64, 64, 64), sized(128, 128, 128), sized(64, 64, 64, KZOO_F16)};
  p.plugins.push_back(made_plugin("naive", {"8x8", "16x16"}));
  p.plugins.push_back(made_plugin("wmma", {"f16"}));
  return p;
}

std::string refusal_of(const run::plan& p, const std::vector<std::string>& names) {
  return test::refusal_of([&] { choose(p, parse_cells(names)); });
}

}  // namespace

TEST_CASE("a cell is named by plugin, variant and size", "[profile]") {
  const run::plan p = made_plan();
  const auto cells = choose(p, parse_cells({"wmma@64", "naive:16x16@128x128x128", "naive:8x8"}));
  REQUIRE(cells.size() == 3);
  CHECK(cells[0].plugin->record.name == "wmma");
  CHECK(cells[0].at->dtype == KZOO_F16);  // of this size the one that it has a kernel for
  CHECK(cells[1].variant->description.id == "16x16");
  CHECK(cells[1].at->m == 128);
  CHECK(cells[2].at == &p.experiment.problems[0]);
}

TEST_CASE("without names it is the first problem, and not too much of it", "[profile]") {
  run::plan p = made_plan();
  const auto cells = choose(p, {});
  REQUIRE(cells.size() == 2);  // wmma has no f32
  CHECK(cells[1].variant->description.id == "16x16");
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"})
    p.plugins.push_back(made_plugin(name, {"x", "y"}));
  CHECK_THAT(
      refusal_of(p, {}),
      ContainsSubstring("made.toml: error: 18 kernels are too many, at most 16 without --cell") &&
          ContainsSubstring("naive:8x8@64x64x64"));
  p.plugins.clear();
  CHECK_THAT(refusal_of(p, {}), ContainsSubstring("none of its plugins has a kernel"));
}

TEST_CASE("a cell that is not there is refused with what there is", "[profile]") {
  run::plan p = made_plan();
  CHECK_THAT(refusal_of(p, {"naive@64"}),
             ContainsSubstring("--cell: error: naive has 2 variants; name one") &&
                 ContainsSubstring("naive:8x8, naive:16x16"));
  CHECK_THAT(refusal_of(p, {"naive:8x8@64x64x6"}),
             ContainsSubstring("did you mean '64x64x64'?") && ContainsSubstring("--sizes 64x64x6"));
  CHECK_THAT(refusal_of(p, {"naive:8x8@"}), ContainsSubstring("after the @"));
  for (const char* name : {"naive:*", "", "@64", "naive:8x8:1"})
    CHECK_THAT(refusal_of(p, {name}), ContainsSubstring("expected a cell such as"));
  p.plugins[0].client.reset();
  p.plugins[0].record.problem = "it is broken";
  CHECK_THAT(refusal_of(p, {"naive:8x8"}), ContainsSubstring("it is broken"));
}
