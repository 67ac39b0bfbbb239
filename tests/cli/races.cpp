// A wrong kernel of the simulator: the judge looks for what is wrong in its memory accesses.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/text.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

using namespace kzoo::test;
namespace fs = std::filesystem;

namespace {

// Tiles in shared memory, with a barrier after each tile has been read or not.
std::string tiled(const std::string& barrier, const std::string& term) {
  return R"(#include <kzoo/plugin.hpp>

__global__ void tiled_kernel(kzoo::gemm<float> g) {
  __shared__ float a[16][16], b[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < g.k; k += 16) {
    a[y][x] = row < g.m && k + x < g.k ? g.a_at(row, k + x) : 0;
    b[y][x] = col < g.n && k + y < g.k ? g.b_at(k + y, col) : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += )" +
         term + ";\n    " + barrier + R"(
  }
  if (row < g.m && col < g.n) g.store(row, col, sum);
}

struct tiled {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    const dim3 block(16, 16), grid(kzoo::ceil_div(g.n, 16), kzoo::ceil_div(g.m, 16));
    kzoo::launch({.grid = grid, .block = block, .stream = stream}, tiled_kernel, g);
  }
};

KZOO_PLUGIN("mine", "Tiles", kzoo::variant<tiled>("16x16", "in shared memory"));
)";
}

// Of the only line with this text.
std::string line_number(const std::string& text, const std::string& what) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return std::to_string(1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n'));
}

}  // namespace

TEST_CASE("a race of a source that is wrong is named with both its lines", "[cli]") {
  const scratch_folder folder;
  const environment cache("XDG_CACHE_HOME", (folder.path() / "cache").string());
  const std::string text = tiled("", "a[y][i] * b[i][x]");
  const std::string file = folder.write("mine.cu", text);
  const std::string race = "race in shared memory, mine.cu:" + line_number(text, "a[y][x] =") +
                           " and mine.cu:" + line_number(text, "sum +=") + ": threads ";
  const auto ran = runner("quick --device cpu --sizes 100 --no-journal --json - --plugins " + file);
  INFO(ran.err);
  REQUIRE(ran.code == 1);
  for (const auto& cell : ran.json().at("cells")) {
    CHECK(cell.at("verdict") == "wrong");
    const std::string reason = cell.at("reason");
    CHECK_THAT(reason, ContainsSubstring("elements of C") && ContainsSubstring(race) &&
                           ContainsSubstring("put __syncthreads() between"));
    CHECK_THAT(reason, ContainsSubstring(" (on 16x16x17 f32"));  // the smallest with two tiles
  }
  const auto shown = runner("quick --device cpu --sizes 100 --no-journal --plugins " + file);
  CHECK_FALSE(contains(shown.out, " xray "));  // nothing is left to look for
  const auto validated = runner("validate --device cpu " + file);
  CHECK(validated.code == 1);
  CHECK_THAT(validated.out, ContainsSubstring("fail     memory accesses  " + race));
}

TEST_CASE("a wrong source without a race is not blamed for one", "[cli]") {
  const scratch_folder folder;
  const environment cache("XDG_CACHE_HOME", (folder.path() / "cache").string());
  const std::string file =
      folder.write("mine.cu", tiled("__syncthreads();", "a[y][i] * b[i][x] + 1"));
  const auto ran = runner("quick --device cpu --sizes 40 --no-journal --json - --plugins " + file);
  REQUIRE(ran.code == 1);
  const auto& cell = ran.json().at("cells").at(0);
  CHECK(cell.at("verdict") == "wrong");
  CHECK_FALSE(contains(cell.at("reason"), "race"));
  CHECK_THAT(cell.at("checks").dump(),
             ContainsSubstring("no race and nothing uninitialised or out of bounds on 16x16x16"));
}

TEST_CASE("a wrong source that does not compile for the search keeps its own reason", "[cli]") {
  const scratch_folder folder;
  const environment cache("XDG_CACHE_HOME", (folder.path() / "cache").string());
  const std::string file =
      folder.write("mine.cu", "#ifdef __SANITIZE_THREAD__\n#error not like this\n#endif\n" +
                                  tiled("", "a[y][i] * b[i][x]"));
  const auto ran = runner("quick --device cpu --sizes 40 --no-journal --plugins " + file);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("elements of C") && !ContainsSubstring("race in shared") &&
                          ContainsSubstring(" xray "));
}

TEST_CASE("a library is searched for races where its analysed build is there", "[cli][hostile]") {
  const scratch_folder folder;
  fs::create_directories(folder.path() / "cpu");
  fs::copy(hostile_plugin("cpu", "flaws"), folder.path() / "cpu" / "flaws.so");
  const std::string run =
      "quick --device cpu --sizes 64x64x32 --no-journal --plugins flaws:no_barrier --plugin-dir " +
      folder.path().string();
  const auto without = runner(run);
  CHECK(without.code == 1);
  CHECK_THAT(without.out, ContainsSubstring("wrong flaws:no_barrier") &&
                              !ContainsSubstring("race in shared") && ContainsSubstring(" xray "));
  // Builds it, in the tree.
  run_hostile("xray quick --sizes 64x64x32 --cell flaws:no_barrier");
  fs::create_directories(folder.path() / "cpu-xray");
  fs::copy(fs::path(hostile_folder()) / "cpu-xray" / "flaws.so",
           folder.path() / "cpu-xray" / "flaws.so");
  const auto with = runner(run);
  CHECK(with.code == 1);
  CHECK_THAT(with.out, ContainsSubstring("; race in shared memory, flaws.cu:") &&
                           !ContainsSubstring(" xray "));
}
