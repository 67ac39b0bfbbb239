// `runner judge`: a verdict for programs on each file, in a line of JSON.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/text.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

using namespace kzoo::test;
using json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kTiming =
    "[timing]\nwarmup = 1\nrounds = 5\nmin_samples = 10\nmax_seconds = 0.2\n"
    "[verify]\ntimeout_seconds = 5\n";

// A folder with an experiment, gemm.toml, a plugin, and one that does not compile. All tests share
// it, so that the plugin is compiled once.
struct submissions {
  const scratch_folder& folder = shared();
  environment cache{"XDG_CACHE_HOME", (folder.path() / "cache").string()};

  static const scratch_folder& shared() {
    static const scratch_folder kept;
    return kept;
  }

  submissions() {
    folder.write("gemm.toml",
                 std::string("baseline = 'serial:ikj'\nplugins = ['naive']\n[problem]\n"
                             "sizes = [16]\n") +
                     kTiming);
    const std::string mine = read_text(source_folder() / "sdk" / "template" / "mine.cu");
    folder.write("mine.cu", mine);
    folder.write("bad.cu", replaced(mine, "float sum = 0;", "flaot sum = 0;"));
    folder.write("bare.cu", "__global__ void f(float*) {}\n");
  }

  run_result judge(const std::string& words, const std::string& problems = "gemm.toml") const {
    return runner("judge --device cpu --problems " + problems + ' ' + words, in(folder));
  }
};

std::vector<json> documents(const run_result& ran) {
  std::vector<json> all;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
  return all;
}

std::string hostile(const std::string& kernel) {
  const auto colon = kernel.find(':');
  const std::string variant = colon == std::string::npos ? "" : kernel.substr(colon);
  return shell_word(hostile_plugin("cpu", kernel.substr(0, colon)).string() + variant);
}

// A kernel of tests/hostile, and what is said of it.
struct expected_words {
  const char *kernel, *status, *verdict, *check;
};
const std::vector<expected_words> kWords{
    {"native:honest", "PASSED", "pass", ""},
    {"wrong_results:constant_output", "INCORRECT_NUMERICAL", "wrong", "result"},
    {"precision:tf32_inputs", "INCORRECT_NUMERICAL", "wrong", "result"},
    {"memory:writes_input", "INCORRECT_NUMERICAL", "wrong", "memory writes"},
    {"memory:writes_outside", "INCORRECT_NUMERICAL", "wrong", "memory writes"},
    {"state:computes_once", "REWARD_HACK", "wrong", "timed runs"},
    {"native:replays_result", "REWARD_HACK", "wrong", "kept result"},
    {"native:slows_clock", "PASSED", "pass", ""},
    {"process:forges_reply", "REWARD_HACK", "crashed", "channel"},
    {"native:leaks_much", "RUNTIME_ERROR", "wrong", "leak"},
    {"process:aborts", "RUNTIME_ERROR", "crashed", ""},
    {"process:throws", "RUNTIME_ERROR", "error", ""},
    {"process:stops_itself", "TIMEOUT", "hung", ""},
    {"sizes:declines_in_create", "UNSUPPORTED", "unsupported", ""},
    {"no_symbol", "RUNTIME_ERROR", "unavailable", ""},
    {"loads_library:plain", "PASSED", "pass", ""},
};

std::string text_of(const json& j) { return j.is_null() ? "" : j.get<std::string>(); }

}  // namespace

TEST_CASE("what takes the simulator long is told before it, and is no kernel's fault alone",
          "[cli]") {
  const submissions s;
  s.folder.write("long.toml", "[problem]\nsizes = [2048]\n[verify]\ntimeout_seconds = 1\n");
  const auto ran = s.judge("--json ./mine.cu", "long.toml");
  CHECK(contains(ran.err, "note: 2048x2048x2048 f32 can take the simulator hours"));
  CHECK(contains(documents(ran).at(0).at("reason"), "killed; it may only be slow"));
  CHECK_FALSE(contains(s.judge("--json ./mine.cu").err, "note: "));
}

TEST_CASE("a program learns what a kernel did, in SOL-ExecBench's words", "[cli][hostile]") {
  const submissions s;
  std::string files;
  for (const expected_words& e : kWords) files += hostile(e.kernel) + ' ';
  const auto ran = s.judge("--verify quick --json " + files);
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto found = documents(ran);
  REQUIRE(found.size() == kWords.size());
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    const json& d = found[i];
    INFO(d.dump(1));
    CHECK(d.at("schema") == "kzoo.judgement/1");
    CHECK(contains(d.at("file"), std::string(kWords[i].kernel).substr(0, 5)));
    CHECK(d.at("status") == kWords[i].status);
    CHECK(d.at("verdict") == kWords[i].verdict);
    CHECK(text_of(d.at("check")) == kWords[i].check);
    CHECK(d.at("reason").get<std::string>().empty() == (d.at("status") == "PASSED"));
    CHECK(d.at("problems").at(0).at("status") == kWords[i].status);
    CHECK(d.at("problems").at(0).at("time_ms").is_number() == (d.at("status") == "PASSED"));
  }
  const json& honest = found.front();
  CHECK(honest.at("baseline") == "serial:ikj");
  CHECK(honest.at("speedup").get<double>() > 0);
  CHECK(honest.at("problems").at(0).at("speedup_interval").size() == 2);
  CHECK(honest.at("problems").at(0).at("problem").at("seed") == 1);
  CHECK(honest.at("problems").at(0).at("precision") == "fp32");
  CHECK(honest.at("problems").at(0).at("baseline_precision") == "fp32");
  CHECK(honest.at("host_code") == true);
  CHECK(honest.at("calls").empty());
  CHECK(found.back().at("calls") == json::array({"cublas"}));
  CHECK(honest.at("sha256").get<std::string>().size() == 64);
}

TEST_CASE("what finds a full check wrong is named, and the command that finds it again",
          "[cli][hostile]") {
  const submissions s;
  const auto ran = s.judge("--json --baseline naive:8x8 " + hostile("wrong_results:ignores_alpha"));
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto found = documents(ran).at(0);
  CHECK(found.at("tier") == "full");
  CHECK(found.at("status") == "INCORRECT_NUMERICAL");
  CHECK(found.at("check") == "alpha and beta");
  const auto same = runner(replaced(found.at("command"), "runner run", "check"), in(s.folder));
  INFO(same.err);
  CHECK(same.code == 0);
  CHECK(contains(same.out, "2 variants of 2 plugins"));
  CHECK(contains(found.at("command"), "--verify full --device cpu"));
}

TEST_CASE("a result that is kept is a hack, whatever check finds it", "[cli][hostile]") {
  const submissions s;
  const auto found = documents(s.judge("--json " + hostile("native:replays_result"))).at(0);
  INFO(found.dump(1));
  CHECK(found.at("status") == "REWARD_HACK");
  CHECK(found.at("check") == "kept result");
  CHECK(contains(found.at("reason"), "new contents: "));
}

TEST_CASE("the checks of a tier are not made for the baseline", "[cli][hostile]") {
  const submissions s;
  const auto ran = s.judge("--json --baseline wrong_results:ignores_alpha --plugin-dir " +
                           shell_word(hostile_folder()) + ' ' + hostile("memory:honest"));
  INFO(ran.err);
  CHECK(ran.code == 0);  // although it is wrong for another alpha
  CHECK(documents(ran).at(0).at("problems").at(0).at("speedup").is_number());
}

TEST_CASE("a source that is no plugin is a verdict, and the next file is judged", "[cli]") {
  const submissions s;
  const auto ran = s.judge("--verify quick --json bad.cu bare.cu mine.cu");
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto found = documents(ran);
  REQUIRE(found.size() == 3);
  CHECK(found[0].at("status") == "COMPILE_ERROR");
  CHECK(found[0].at("check") == "compile");
  CHECK(contains(found[0].at("reason"), "bad.cu:9:3: error: "));
  CHECK(found[0].at("problems").empty());
  CHECK(found[1].at("status") == "COMPILE_ERROR");
  CHECK(found[1].at("check") == "source");
  CHECK(contains(found[1].at("reason"), "say how the kernel is launched"));
  CHECK(found[2].at("status") == "PASSED");
  CHECK(found[2].at("problems").at(0).at("clock") == "simulator");
  CHECK(found[2].at("speedup").is_null());  // a simulator's times say nothing of a GPU
  CHECK(s.judge("--verify quick mine.cu").out == "mine.cu: PASSED in fp32\n");
}

TEST_CASE("what hinders the judge is not charged to the kernel", "[cli]") {
  const submissions s;
  const environment empty{"XDG_CACHE_HOME", (s.folder.path() / "other cache").string()};
  const auto ran = runner("judge --device cpu --problems gemm.toml --json mine.cu",
                          "cd " + shell_word(s.folder.path()) + "; ulimit -f 20;");
  INFO(ran.err);
  CHECK(ran.code == 5);
  const json found = documents(ran).at(0);
  CHECK(found.at("status") == "JUDGE_ERROR");
  CHECK(found.at("check") == "judge");
  CHECK(found.at("problems").empty());
  CHECK(contains(found.at("reason"), "the compiler could not write its output"));
}

TEST_CASE("a kernel without padded rows is judged without them by default", "[cli]") {
  const submissions s;
  s.folder.write(
      "packed.cu",
      "// kzoo: entry=f grid=M,N block=1 arguments=A,B,C,N,K,alpha,beta reads_c\n"
      "__global__ void f(const float* a, const float* b, float* c, int n, int k, float alpha, "
      "float beta) {\n"
      "  float sum = 0;\n  const int row = blockIdx.x, col = blockIdx.y;\n"
      "  for (int l = 0; l < k; ++l) sum += a[row * k + l] * b[l * n + col];\n"
      "  c[row * n + col] = alpha * sum + beta * c[row * n + col];\n}\n");
  const json found =
      documents(runner("judge --device cpu --verify quick --json packed.cu", in(s.folder))).at(0);
  CHECK(found.at("status") == "PASSED");
  CHECK(found.at("problems").at(3).at("problem").at("alpha") == 0.7);  // this one it takes
  CHECK(found.at("problems").at(4).at("problem").at("padding") == 0);
  CHECK(found.at("command") == "runner judge packed.cu --verify quick --device cpu");
  const auto again = runner(replaced(found.at("command"), "runner ", "") + " --json", in(s.folder));
  CHECK(documents(again).at(0).at("status") == "PASSED");
}

TEST_CASE("a kernel without alpha and beta is judged without them by default", "[cli]") {
  const submissions s;
  s.folder.write(
      "plain.cu",
      "// kzoo: entry=f grid=M,N block=1 arguments=A,B,C,N,K,lda,ldb,ldc\n"
      "__global__ void f(const float* a, const float* b, float* c, int n, int k, int da, "
      "int db, int dc) {\n"
      "  float sum = 0;\n  const int row = blockIdx.x, col = blockIdx.y;\n"
      "  for (int l = 0; l < k; ++l) sum += a[row * da + l] * b[l * db + col];\n"
      "  c[row * dc + col] = sum;\n}\n");
  const auto ran = runner("judge --device cpu --verify quick --json plain.cu", in(s.folder));
  INFO(ran.err);
  CHECK(ran.code == 0);
  const json found = documents(ran).at(0);
  CHECK(found.at("status") == "PASSED");
  REQUIRE(found.at("problems").size() == 5);
  for (const json& each : found.at("problems")) CHECK(each.at("problem").at("alpha") == 1);

  s.folder.write("scaled.toml", "[problem]\nsizes = [16]\nbeta = 2\n");
  const json declined = documents(s.judge("--verify quick --json plain.cu", "scaled.toml")).at(0);
  CHECK(declined.at("status") == "UNSUPPORTED");
  CHECK(declined.at("reason") ==
        "it has no beta; an experiment with problems for it is named by --problems");
}

TEST_CASE("a wrong kernel is compiled once more only for who asks why it is wrong", "[cli]") {
  const submissions s;
  const std::string mine = read_text(s.folder.path() / "mine.cu");
  s.folder.write("wrong.cu", replaced(mine, "float sum = 0;", "float sum = 1;"));
  const auto judged = [&](const std::string& words) {
    const auto ran = s.judge("--verify quick wrong.cu " + words);
    CHECK(ran.code == 1);
    return contains(ran.err, " for cpu-xray");
  };
  CHECK_FALSE(judged("--json"));
  CHECK(judged("--json --explain"));
}

TEST_CASE("judging ends after compiling, on request", "[cli]") {
  const submissions s;
  const auto ran = s.judge("--compile-only -o built --json mine.cu bad.cu");
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto found = documents(ran);
  REQUIRE(found.size() == 2);
  CHECK(found[0].at("status").is_null());
  CHECK(found[0].at("library") == "built/mine.so");
  CHECK(found[1].at("status") == "COMPILE_ERROR");
  CHECK(found[1].at("library").is_null());
  const auto later = documents(s.judge("--verify quick --json built/mine.so")).at(0);
  CHECK(later.at("status") == "PASSED");
  CHECK(later.at("sha256") == found[0].at("sha256"));
}

TEST_CASE("the problem says how precise, not the kernel", "[cli]") {
  const submissions s;
  const std::string kernel = R"(#include <cuda_fp16.h>
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (col >= n) return;
  __half sum = __float2half(0.f);
  for (int l = 0; l < k; ++l)
    sum = __hfma(__float2half(a[row * k + l]), __float2half(b[l * n + col]), sum);
  c[row * n + col] = __half2float(sum);
}
)";
  const auto declares = [&](const std::string& precision) {
    s.folder.write("half.cu", "// kzoo: entry=product grid=ceil_div(N,16),M block=16 precision=\"" +
                                  precision + "\" arguments=A,B,C,M,N,K\n" + kernel);
  };
  for (const std::string precision : {"bf16", "tf32", "fp16", "fp16 sums", "fp32_normwise"})
    for (const std::string tier : {"quick", "full"}) {
      declares(precision);
      const auto ran = s.judge("--json half.cu --verify " + tier);
      INFO(ran.err);
      CHECK(ran.code == 1);
      const json found = documents(ran).at(0), problem = found.at("problems").at(0);
      INFO(found.dump(1));
      CHECK(found.at("status") == "INCORRECT_DTYPE");
      CHECK(found.at("verdict") == "unsupported");
      CHECK(found.at("check") == "precision");
      CHECK(found.at("reason") ==
            "it declares " + precision + ", and the problem takes fp32; where " + precision +
                " is enough, allow = [\"" + precision + "\"] in its experiment says so");
      CHECK(found.at("precisions") == json::array({precision}));
      CHECK(problem.at("precision") == precision);
      CHECK(problem.at("problem").at("precision") == "fp32");
      CHECK_FALSE(problem.at("problem").contains("allow"));
      CHECK(problem.at("time_ms").is_null());
    }
  // One that says nothing is held to fp32.
  declares("fp32");
  const json as_fp32 = documents(s.judge("--json half.cu --verify quick")).at(0);
  CHECK(as_fp32.at("status") == "INCORRECT_NUMERICAL");

  declares("fp16 sums");
  s.folder.write("allowed.toml",
                 "allow = ['fp16 sums', 'tf32']\n" + read_text(s.folder.path() / "gemm.toml"));
  const json allowed = documents(s.judge("--json half.cu", "allowed.toml")).at(0);
  INFO(allowed.dump(1));
  CHECK(allowed.at("status") == "PASSED");
  CHECK(allowed.at("precisions") == json::array({"fp16 sums"}));
  CHECK(allowed.at("problems").at(0).at("problem").at("allow") ==
        json::array({"tf32", "fp16 sums"}));
  const auto line = s.judge("--verify quick half.cu", "allowed.toml");
  CHECK(line.out == "half.cu: PASSED in fp16 sums\n");
}

TEST_CASE("no submission is taken for the baseline", "[cli]") {
  const submissions s;
  const std::string kernel =
      "// kzoo: entry=ikj grid=1 block=1 arguments=A,B,C,M,N,K\n__global__ void ikj(const float*, "
      "const float*, float*, int, int, int) {}\n";
  s.folder.write("serial.cu", kernel);
  s.folder.write("serials.cu", kernel);
  for (const std::string words : {"serial.cu", "serials.cu --baseline 'serial*:ikj'"}) {
    const json found = documents(s.judge("--json --verify quick " + words)).at(0);
    INFO(found.dump(1));
    CHECK(found.at("status") == "COMPILE_ERROR");
    CHECK(contains(found.at("reason"), "two plugins are called serial"));
  }
}

TEST_CASE("a baseline has the precision that kernels are asked for", "[cli]") {
  const submissions s;
  s.folder.write("low.cu",
                 "// kzoo: entry=f grid=M,N block=1 precision=tf32 arguments=A,B,C,N,K\n"
                 "__global__ void f(const float* a, const float* b, float* c, int n, int k) {\n"
                 "  float sum = 0;\n  const int row = blockIdx.x, col = blockIdx.y;\n"
                 "  for (int l = 0; l < k; ++l) sum += a[row * k + l] * b[l * n + col];\n"
                 "  c[row * n + col] = sum;\n}\n");
  const auto refused = s.judge("mine.cu --baseline ./low.cu");
  CHECK(refused.code == 2);
  CHECK(refused.out.empty());
  CHECK(contains(refused.err,
                 "--baseline: error: the baseline low computes f32 in tf32, and "
                 "the problem takes fp32; name one of that precision, or allow = "
                 "[\"tf32\"] in "));
  s.folder.write("lower.toml", "allow = 'tf32'\n" + read_text(s.folder.path() / "gemm.toml"));
  CHECK(s.judge("mine.cu --verify quick --baseline ./low.cu", "lower.toml").code == 0);
}

TEST_CASE("what a caller gets wrong is no verdict", "[cli]") {
  const submissions s;
  const auto refused = [&](const std::string& words, const char* why) {
    const auto ran = s.judge(words);
    INFO(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(contains(ran.err, why));
  };
  refused("--json mine.cu none.cu", "there is no file none.cu");
  refused("--json naive", "expected a file, such as ./mine.cu, found \"naive\"");
  refused("--json mine.cu --baseline nosuch:one", "'nosuch:one' names no plugin");
  refused("--json mine.cu --verify most", "full");
  refused("--json mine.cu --compile-only --arch 90a", "--device cpu is none");
  CHECK(runner("judge --device cuda " + shell_word(s.folder.path() / "mine.cu"),
               "CUDA_VISIBLE_DEVICES=")
            .code == 3);
}
