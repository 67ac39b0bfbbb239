// `runner tune`: spaces of parameters, the search for the best point, and what comes of it.

#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/text.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace kzoo::test;

namespace {

// A product on the host that is computed TIMES times: which point is the fastest is known.
constexpr const char* kProduct = R"(
#include <kzoo/plugin.hpp>
#ifndef TIMES
#define TIMES 1
#endif
#if defined(TILE) && TILE < 1
#error "no tile"
#endif
static_assert(TIMES != 5, "five times is too much");
struct product {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t) const {
    for (volatile int forever = TIMES; forever == 7; forever = 7) continue;
    for (int i = 0; i < g.m; ++i)
      for (int j = 0; j < g.n; ++j) {
        float sum = 0;
        for (volatile int again = 0; again < TIMES; again = again + 1) {
          sum = 0;
          for (int k = 0; k < g.k; ++k) sum += g.a_at(i, k) * g.b_at(k, j);
        }
        g.store(i, j, sum);
      }
  }
};
KZOO_PLUGIN("mine", "A product", kzoo::variant<product>("any", "again and again"));
)";

constexpr const char* kSpace = "// kzoo: native options=-O2\n// kzoo: tune TIMES=3,1\n";

struct tuning_bench {
  scratch_folder folder;
  environment cache{"XDG_CACHE_HOME", shared_cache().string()};

  std::string source(const std::string& lines) const {
    return shell_word(folder.write("mine.cpp", lines + kProduct));
  }
  run_result runner(const std::string& arguments) const {
    return kzoo::test::runner(arguments, in(folder));
  }
  run_result tune(const std::string& lines, const std::string& options) const {
    return runner("tune " + source(lines) + " --device cpu " + options);
  }
  void check_refused(const std::string& lines, const std::vector<std::string>& words) const {
    INFO(lines);
    kzoo::test::check_refused("tune " + source(lines) + " --device cpu --sizes 32", words,
                              in(folder));
  }
};

std::size_t rounds_of(const nlohmann::json& cell) {
  std::vector<int> rounds = cell.at("time").at("rounds");
  rounds.erase(std::ranges::unique(rounds).begin(), rounds.end());
  return rounds.size();
}

}  // namespace

TEST_CASE("tune finds the fastest point, and spends little time on the others") {
  const tuning_bench b;
  const auto tuned = b.tune(kSpace, "--sizes 64,48x64x80 --json tuned.json --journal j.jsonl");
  INFO(tuned.out << tuned.err);
  REQUIRE(tuned.code == 0);
  // The last thing that is printed.
  const std::string end = tuned.out.substr(tuned.out.find("best per problem"));
  CHECK(count_of(end, "mine:TIMES1") == 2);
  CHECK(contains(end, "cost: 2 points, compiled in"));
  CHECK(contains(end, "2 of them stopped early as slower"));

  const auto best = nlohmann::json::parse(read_text(b.folder.path() / "tuned.json"));
  CHECK(best.at("schema") == "kzoo.tuned/1");
  CHECK(best.at("problems").size() == 2);
  for (const auto& p : best.at("problems")) {
    const auto& first = p.at("ranked").at(0);
    CHECK(first.at("variant") == "TIMES1");
    CHECK(first.at("parameters") == nlohmann::json{{"TIMES", 1}});
    CHECK(first.at("options") == nlohmann::json{"-DTIMES=1"});
    CHECK(first.at("interval_ms").at(0) <= first.at("median_ms"));
    CHECK(p.at("ranked").at(1).at("stopped_by") == "slower");
    CHECK(p.at("ties").empty());
  }
  CHECK(contains(best.at("plugins").at(0).at("source").get<std::string>(), "mine.cpp"));

  // The whole run is stored as any other, and those that were stopped are marked wherever they are
  // shown.
  const auto run = b.runner("report j.jsonl --json").json();
  std::map<std::string, std::size_t> rounds;
  for (const auto& cell : run.at("cells")) {
    const std::string variant = cell.at("variant");
    rounds[variant] += rounds_of(cell);
    CHECK(cell.at("verdict") == "pass");
    CHECK((cell.at("time").at("stopped_by") == "slower") == (variant != "TIMES1"));
  }
  CHECK(rounds.at("TIMES3") < rounds.at("TIMES1"));
  const auto report = b.runner("report j.jsonl --sort name");
  CHECK(count_of(report.out, "stopped early ") >= 2);
  CHECK(report.out.find("mine:TIMES1 ") < report.out.find("mine:TIMES3 "));
  const auto slowest = b.runner("report j.jsonl");  // of tuning: by time
  CHECK(slowest.out.find("mine:TIMES1 ") < slowest.out.find("mine:TIMES3 "));
  CHECK(contains(report.out, "best per problem"));

  // As the exhaustive run, which spends as many rounds on each.
  const auto all = b.runner("tune --device cpu --sizes 64 --no-journal nothing.toml");
  CHECK(all.code == 2);
  const auto exhaustive =
      b.runner("tune.toml --device cpu --sizes 64 --no-journal --json - --plugins ./mine.cpp");
  INFO(exhaustive.err);
  std::map<double, std::string> by_time;
  for (const auto& cell : exhaustive.json().at("cells")) {
    by_time[cell.at("time").at("median_ms")] = cell.at("variant");
    CHECK(cell.at("time").at("stopped_by") != "slower");
    CHECK(rounds_of(cell) >= 10);
  }
  CHECK(by_time.begin()->second == "TIMES1");
}

TEST_CASE("a point that does not compile is a cell that says so") {
  const tuning_bench b;
  const std::string space = "// kzoo: native options=-O2\n// kzoo: tune TIMES=1,5\n";
  const auto tuned = b.tune(space, "--sizes 16 --no-journal");
  INFO(tuned.out << tuned.err);
  CHECK(tuned.code == 0);
  CHECK(contains(tuned.out, "error mine:TIMES5: does not compile: "));
  CHECK(contains(tuned.out, "five times is too much"));
  CHECK(contains(tuned.out, "(1 do not compile)"));
  // A run has been asked for this kernel.
  CHECK(b.runner("quick --device cpu --no-journal --plugins ./mine.cpp").code == 1);
  // One alone is what its name says.
  const auto one = b.runner("quick --device cpu --no-journal --json - --plugins ./mine.cpp:TIMES1");
  CHECK(one.code == 0);
  for (const auto& cell : one.json().at("cells")) CHECK(cell.at("variant") == "TIMES1");
  check_refused("quick --device cpu --plugins ./mine.cpp:TIMES7",
                {"names no point of the space", "TIMES1"}, in(b.folder));
}

TEST_CASE("an experiment may give a plugin another space") {
  const tuning_bench b;
  b.source(kSpace);
  b.folder.write("e.toml",
                 "plugins = ['./mine.cpp']\nproblem = {sizes = [16]}\n[tune.mine]\n"
                 "TIMES = '1..4 by 1'\nrestrictions = ['TIMES % 2 == 1', 'TIMES > 1']\n");
  const auto tuned = b.runner("tune e.toml --device cpu --no-journal --json -");
  INFO(tuned.err);
  REQUIRE(tuned.code == 0);
  CHECK(tuned.json().at("cost").at("points") == 1);
  CHECK(tuned.json().at("problems").at(0).at("ranked").at(0).at("variant") == "TIMES3");

  b.folder.write("other.toml", "plugins = ['./mine.cpp']\n[tune.mien]\nTIMES = [1]\n");
  // Before anything is compiled.
  b.folder.write("mine.cpp", "#include <kzoo/plugin.hpp>\n#error \"compiled\"\n");
  const auto refused = [&](const std::string& lines, const std::vector<std::string>& words) {
    b.folder.write("other.toml", lines);
    check_refused("tune other.toml --device cpu --sizes 8", words, in(b.folder));
  };
  refused("plugins = ['./mine.cpp']\n[tune.mien]\nTIMES = [1]\n",
          {"other.toml:2:", "tune.mien is for a plugin that is named by its source",
           "write [tune.mine]"});
  refused("plugins = ['./mine.cpp']\n[tune.'./mine.cpp']\nTIMES = [1]\n",
          {"other.toml:2:", "tune.\"./mine.cpp\" is for a plugin", "write [tune.mine]"});
  refused("plugins = ['serial']\n[tune.'./mine.cpp']\nTIMES = [1]\n",
          {"such as plugins = [\"./mine.cu\"], and none is"});
}

TEST_CASE("the baseline may be a point of the source that is tuned") {
  const tuning_bench b;
  for (const char* baseline : {"mine:TIMES3", "./mine.cpp:TIMES3"}) {
    const auto tuned =
        b.tune(kSpace, std::string("--sizes 16 --no-journal --json - --baseline ") + baseline);
    INFO(tuned.err);
    REQUIRE(tuned.code == 0);
    const auto& ranked = tuned.json().at("problems").at(0).at("ranked");
    REQUIRE(ranked.size() == 1);
    CHECK(ranked.at(0).at("variant") == "TIMES1");
    CHECK(ranked.at(0).at("speedup_over_baseline") > 1);
  }
}

// Those that the SDK's headers have themselves, too.
TEST_CASE("a parameter has any name, in the runner and in an exported project") {
  const tuning_bench b;
  const auto tuned = b.tune(
      "// kzoo: native options=-O2\n// kzoo: tune T=5,1 A=1 P=1 row=1 value=1 types=1\n"
      "#define TIMES (T * A * P * row * value * types)\n",
      "--sizes 16 --no-journal --json tuned.json");
  INFO(tuned.out << tuned.err);
  REQUIRE(tuned.code == 0);
  CHECK(contains(tuned.out, "(1 do not compile)"));
  // As the user counts them.
  CHECK(contains(tuned.out, "does not compile: " + (b.folder.path() / "mine.cpp:12:").string()));
  REQUIRE(b.runner("export tuned.json --out fastest").code == 0);
  const std::string make = "make -C " + shell_word(b.folder.path() / "fastest") + " >/dev/null";
  CHECK(std::system(make.c_str()) == 0);
}

TEST_CASE("a space of which no point compiles is refused as a whole") {
  const tuning_bench b;
  b.check_refused("// kzoo: native\n// kzoo: tune TIMES=5 TILE=4,8\n",
                  {"mine.cpp:11:", "five times is too much",
                   "none of 2 points compiles; this is said of TIMES5_TILE4"});
}

TEST_CASE("kernels of the simulator are judged at every point, and cannot be ranked") {
  const tuning_bench b;
  const std::string kernel = R"(
template <int BM>
__global__ void product(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                        float* C) {
  const int row = blockIdx.y * BM + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  float& c = C[row * N + col];
  c = alpha * sum + (beta == 0 ? 0 : beta * c);
}
)";
  b.folder.write("bare.cu", kernel);
  b.folder.write("bare.toml",
                 "entry = 'product<BM>'\ngrid = ['N / 32', 'M / BM']\nblock = [32, 'BM']\n"
                 "granularity = ['BM', 32, 1]\n"
                 "arguments = ['M', 'N', 'K', 'alpha', 'A', 'B', 'beta', 'C']\n"
                 "tune = {BM = {from = 8, to = 9, step = 6}}\n");
  const auto tuned = b.runner("tune ./bare.cu --device cpu --sizes 64 --no-journal");
  INFO(tuned.out << tuned.err);
  CHECK(tuned.code == 1);
  CHECK(contains(tuned.out, "bare:BM8"));
  CHECK(contains(tuned.out, "1 pass"));
  CHECK(contains(tuned.out, "no best on 64x64x64 f32: its kernels ran in the simulator"));
  const auto compiled = tuned.err.find("compiled 1 point");
  REQUIRE(compiled != std::string::npos);
  CHECK(tuned.err.find("bare.cu runs in the simulator, which") < compiled);
  const auto hurried =
      b.runner("tune ./bare.cu --device cpu --sizes 64 --no-journal --budget 0.1s");
  CHECK(contains(hurried.out, "no best on 64x64x64 f32: its kernels ran in the simulator"));
  const auto seen = b.runner("xray quick --sizes 64 --cell ./bare.cu:BM8 --json -");
  INFO(seen.err);
  REQUIRE(seen.code == 0);
  CHECK(seen.json().at("cells").at(0).at("launches").at(0).at("block") == nlohmann::json{32, 8, 1});
}

TEST_CASE("a tuning that was interrupted goes on, and one whose budget is over says what is open") {
  const tuning_bench b;
  REQUIRE(b.tune(kSpace, "--sizes 16,24 --journal j.jsonl").code == 0);
  const auto lines = lines_of(b.folder.path() / "j.jsonl");
  REQUIRE(lines.size() == 5);
  std::string half;
  for (std::size_t i = 0; i < 3; ++i) half += lines[i] + '\n';
  b.folder.write("half.jsonl", half);
  const auto rest = b.runner("tune --resume half.jsonl --trust-folders --json -");
  INFO(rest.err);
  REQUIRE(rest.code == 0);
  CHECK(rest.json().at("problems").size() == 2);
  CHECK(lines_of(b.folder.path() / "half.jsonl").size() == 6);  // and that it was continued

  // Who names the source again trusts it, and says no more than that.
  b.folder.write("half.jsonl", half);
  CHECK(b.runner("tune --resume half.jsonl").code == 2);
  const auto named = b.runner("tune mine.cpp --resume half.jsonl --json again.json");
  INFO(named.err);
  CHECK(named.code == 0);
  CHECK(nlohmann::json::parse(read_text(b.folder.path() / "again.json")).at("problems").size() ==
        2);
  // A journal is exported as the outcome is.
  CHECK(b.runner("export j.jsonl --out from_journal").code == 0);
  b.source("// kzoo: native\n" + std::string(kSpace));
  const auto changed = b.runner("export j.jsonl --out from_changed");
  CHECK(changed.code == 2);
  CHECK(contains(changed.err, "has changed since it was tuned"));

  const auto none = b.tune(kSpace, "--sizes 16,24 --journal none.jsonl --budget 0.0001s");
  CHECK(none.code == 1);
  // What is finished stays so, and another budget would do nothing.
  check_refused("tune --resume none.jsonl --trust-folders --budget 60s",
                {"--budget: error: the budget of", "none.jsonl",
                 "was over before 4 of its cells were decided", "tune anew without --resume"},
                in(b.folder));
  CHECK(count_of(none.out, "no best on ") == 2);
  CHECK(contains(none.out,
                 "--budget 0.0001s was over before all 2 kernels had been judged and timed"));
}

TEST_CASE("a budget counts compiling, which ends at half of it") {
  const tuning_bench b;
  const std::string space = "// kzoo: native\n// kzoo: tune TILE=1,2,3,4,6,7,8,9 TIMES=1\n";
  const auto tuned = b.tune(space, "--sizes 16 --journal few.jsonl --budget 1s --json tuned.json");
  INFO(tuned.out << tuned.err);
  const auto cost = nlohmann::json::parse(read_text(b.folder.path() / "tuned.json")).at("cost");
  CHECK(cost.at("points").get<int>() + cost.at("left_out").get<int>() == 8);
  CHECK(cost.at("left_out") > 0);
  CHECK(contains(tuned.out, " more are left out, as half of the budget was over)"));
  check_refused("tune --resume few.jsonl --trust-folders",
                {"--resume: error: half of the budget of", "tune anew"}, in(b.folder));
}

TEST_CASE("a sample of a space is compiled, the same one each time") {
  const tuning_bench b;
  const std::string space = "// kzoo: native\n// kzoo: tune TILE=1,2,3,4,6,7,8,9 TIMES=1\n";
  const auto cost = [&] {
    const auto tuned =
        b.tune(space, "--sizes 16 --no-journal --budget 60s --sample 3 --json tuned.json");
    INFO(tuned.out << tuned.err);
    CHECK(contains(tuned.out, "cost: 3 points"));
    CHECK(contains(tuned.out, "(5 more of the space were not drawn)"));
    return nlohmann::json::parse(read_text(b.folder.path() / "tuned.json")).at("cost");
  };
  CHECK(cost().at("not_drawn") == 5);
  CHECK(cost().at("from_cache") == 3);
  check_refused("tune mine.cpp --sizes 16 --sample 0", {"--sample"}, in(b.folder));
}

TEST_CASE("a point that hangs costs its own limit, and not the budget") {
  const tuning_bench b;
  b.source("// kzoo: native options=-O2\n// kzoo: tune TIMES=7,1\n");
  b.folder.write("e.toml",
                 "plugins = ['./mine.cpp']\nproblem = {sizes = [16]}\n"
                 "verify = {timeout_seconds = 6}\ntiming = {rounds = 5, max_seconds = 0.1}\n");
  b.runner("run e.toml --device cpu --no-journal");  // so that the points are compiled
  const auto tuned = b.runner("tune e.toml --device cpu --no-journal --budget 5s --json t.json");
  INFO(tuned.out << tuned.err);
  CHECK(contains(tuned.out, "1 hung"));
  const auto best = nlohmann::json::parse(read_text(b.folder.path() / "t.json")).at("problems");
  REQUIRE(best.at(0).at("ranked").size() == 1);
  CHECK(best.at(0).at("ranked").at(0).at("variant") == "TIMES1");
}

TEST_CASE("check reads a space, and compiles none of its points") {
  const tuning_bench b;
  b.folder.write("mine.cpp", std::string("// kzoo: native\n// kzoo: tune TIMES=3,1 TILE=1,2,4\n") +
                                 "#error \"this is compiled\"\nint both = TIMES * TILE;\n");
  const auto experiment = [&](const std::string& more) {
    b.folder.write("e.toml", "plugins = ['./mine.cpp']\nproblem = {sizes = [16, 32]}\n" + more);
  };
  experiment("");
  const auto checked = b.runner("check e.toml --device cpu");
  CHECK(checked.out ==
        "./mine.cpp: its space has 6 points, which a run compiles and a check does not\n"
        "e.toml: ok, 0 variants of 0 plugins and 6 points on 2 problems = 12 cells on cpu\n");
  CHECK(checked.err.empty());
  CHECK(checked.code == 0);
  experiment("[tune.mine]\nTIMES = [1]\nTILE = [2]\nrestrictions = ['TIMES > 1']\n");
  kzoo::test::check_refused("check e.toml --device cpu", {"e.toml:"}, in(b.folder));
  experiment("[tune.yours]\nTIMES = [1]\n");
  kzoo::test::check_refused("check e.toml --device cpu", {"write [tune.mine]"}, in(b.folder));
}

TEST_CASE("a tuning that is interrupted writes what is decided") {
  const tuning_bench b;
  b.source(kSpace);
  background_run run({"tune", "mine.cpp", "--device", "cpu", "--sizes", "16,1024", "--json",
                      "tuned.json", "--journal", "j.jsonl"},
                     b.folder.path());
  for (int i = 0; i < 1200 && !contains(run.err(), "16x16x16 f32 done"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  run.send(SIGINT);
  const auto ended = run.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.code == 130);
  const auto tuned = nlohmann::json::parse(read_text(b.folder.path() / "tuned.json"));
  REQUIRE(!tuned.at("problems").empty());
  CHECK(tuned.at("problems").at(0).at("ranked").at(0).at("variant") == "TIMES1");
}

TEST_CASE("what is wrong in a space is said with its place") {
  const tuning_bench b;
  const std::string native = "// kzoo: native\n// kzoo: tune ";
  b.check_refused(native + "TIMES=1,2 restrictions=TIMES>2\n",
                  {"mine.cpp:2:", "no point of the space meets its restrictions", "TIMES>2"});
  b.check_refused(native + "TIMES=1,2 restrictions=TIMSE<2\n",
                  {"mine.cpp:2:", "unknown name 'TIMSE'", "known: TIMES"});
  b.check_refused(native + "TIMES=1,two\n", {"mine.cpp:2:23", "expected a whole number", "two"});
  b.check_refused(native + "TIMES=1 WIDTH=8,16\n",
                  {"mine.cpp:2:23", "nothing uses the parameter WIDTH", "mine.cpp"});
  b.check_refused(native + "TIMES=\"1..200\" TILE=\"1..100\"\n", {"mine.cpp:2:", "20000 points"});
  b.check_refused(native + "TIMES=\"1..5000\" TILE=\"1..5000\"\n", {"25000000 combinations"});
  b.check_refused(native + "TIMES=1,2,1\n", {"1 is there twice"});
  b.check_refused(native + "M=1,2\n", {"mine.cpp:2:15", "'M' cannot be the name of a parameter"});
  b.check_refused(native + "TIMES=0,1 restrictions=4/TIMES>2\n",
                  {"division by zero", "where TIMES = 0"});
  b.check_refused("// kzoo: native tune=3\n", {"tune: expected a table of parameters"});
  const std::string source = "tune " + b.source(kSpace) + " --device cpu ";
  check_refused(source, {"--sizes: error: which problems is", "to be tuned for?"});
  for (const char* budget : {"1 week", "-3s", "0", "soon", "1e9h"})
    check_refused(source + "--sizes 8 --budget '" + budget + "'",
                  {"--budget: error: expected a time such as 60s, 5m or 1.5h, more than 0 and less "
                   "than 10000000 s"});
  check_refused(source + "--sizes 8 --sort size", {"--sort", "size"});
  check_refused(source + "--sizes 8 --baseline bogus", {"bogus"});
}

TEST_CASE("tuning holds kernels to the precision of their problem, or to what is allowed") {
  const tuning_bench b;
  const auto file = shell_word(
      b.folder.write("low.cu",
                     "// kzoo: entry=f grid=M,N block=1 precision=tf32 arguments=A,B,C,N,K\n"
                     "__global__ void f(const float* a, const float* b, float* c, int n, int k) {\n"
                     "  float sum = 0;\n  const int row = blockIdx.x, col = blockIdx.y;\n"
                     "  for (int l = 0; l < k; ++l) sum += a[row * k + l] * b[l * n + col];\n"
                     "  c[row * n + col] = sum;\n}\n"));
  const std::string command = "tune " + file + " --device cpu --sizes 16 --no-journal ";
  const auto declined = b.runner(command);
  CHECK(declined.code == 1);
  CHECK(contains(declined.out,
                 "it declares tf32, and the problem takes fp32; where tf32 is enough, "
                 "--allow \"tf32\" says so"));
  const auto allowed = b.runner(command + "--allow tf32 --json tuned.json");
  CHECK(contains(allowed.out, "pass, tf32"));
  const auto tuned = nlohmann::json::parse(read_text(b.folder.path() / "tuned.json"));
  CHECK(tuned.at("problems").at(0).at("problem").at("allow") == nlohmann::json::array({"tf32"}));
  const auto refused = b.runner(command + "--allow half");
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "--allow: error: expected a precision such as \"tf32\""));
}
