// What a command needs built, as ./zoo asks before it calls it.
#include "support/catch.hpp"
#include "support/program.hpp"

#include <initializer_list>
#include <string>
#include <utility>

using kzoo::test::ContainsSubstring;
using kzoo::test::runner;
using kzoo::test::scratch_folder;

namespace {

// In a folder with an experiment, steps.toml.
class asked {
 public:
  asked() {
    folder_.write("steps.toml",
                  "device = 'cuda:1'\nbaseline = 'cublas:fp32'\n"
                  "plugins = ['naive:32x32', # 'mma' is another's\n './own.cu', \"smem:*\"]\n"
                  "[problem]\nsizes = [8]\n");
    folder_.write("bare.cu",
                  "// kzoo: entry=f grid=1 block=1 arguments=C\n__global__ void f(float*) {}\n");
  }

  auto run(const std::string& words) const { return runner(words, in(folder_)); }
  std::string needs(const std::string& command) const {
    const auto answer = run("needs " + command);
    CHECK(answer.code == 0);
    CHECK(answer.err.empty());
    return answer.out;
  }

 private:
  scratch_folder folder_;
};

}  // namespace

TEST_CASE("what a command needs is in its arguments and in its experiment", "[cli]") {
  const asked a;
  const std::string steps = "device cuda\nplugin cublas\nplugin naive\nplugin smem\n";
  for (const auto& [command, wanted] : std::initializer_list<std::pair<const char*, std::string>>{
           {"steps", steps},
           {"run --layouts nt,tn --quiet steps.toml --json -", steps},
           {"check steps --verify full", steps},
           {"run steps --device=cpu --plugins mma:8x8", "device cpu\nplugin cublas\nplugin mma\n"},
           {"quick-all --device auto", "device auto\nplugins\n"},
           {"quick --plugins naive,./own.cu,'m*'", "device auto\nplugin naive\nplugins\n"},
           {"quick --plugins ./kernels.toml", "device auto\nlauncher\n"},
           {"run --sizes 64 --device cuda:2", "device cuda\nexperiment\n"},
           {"watch own.cu steps", "device cuda\nplugin cublas\n"},
           {"profile quick --cell naive:8x8@9,smem:8x8 -- --set full",
            "device cuda\nplugin naive\nplugin smem\n"},
           {"xray steps", "device cpu\nplugin cublas\nplugin naive\nplugin smem\n"},
           {"validate --layout nt mma:8x8", "device auto\ndevice cpu\nplugin mma\n"},
           {"validate mma --device cpu", "device cpu\nplugin mma\n"},
           {"profile steps -- --set full -o counters", steps},
           {"merge results/steps --by-device", ""},
           {"list", "device auto\nplugins\n"},
           {"describe naive", "device auto\nplugin naive\n"},
           {"report some.json --svg charts", "charts\n"},
           {"report some.json --md", ""},
           {"compare old.json new.json", ""},
           {"new mine", ""},
           {"compile own.cu other.cu --arch 90a -o built", "device cuda\n"},
           {"judge own.cu --problems steps.toml", "device cuda\nplugin cublas\n"},
           {"judge own.cu --problems steps.toml --device cpu --baseline naive:8x8",
            "device cpu\nplugin naive\n"},
           {"judge own.cu --compile-only", "device cuda\n"},
           {"judge bare.cu --compile-only", "device cuda\nlauncher\n"},
           {"compile kernels.toml", "device cuda\nlauncher\n"},
       }) {
    INFO(command);
    CHECK(a.needs(command) == wanted);
  }
}

TEST_CASE("what stored results need is what they were run with", "[cli]") {
  const asked a;
  REQUIRE(a.run("quick --device cpu --plugins naive:8x8 --sizes 8 --json r.json --quiet").code ==
          0);
  CHECK(a.needs("rerun r.json") == "device cpu\nplugin naive\n");
  const std::string journal = "$(ls results/*.jsonl)";
  CHECK(a.needs("run --resume " + journal) == "device cpu\nplugin naive\n");
  CHECK(a.needs("run --resume " + journal + " --plugins smem") == "device cpu\nplugin smem\n");
}

TEST_CASE("nothing is needed by a command that will be refused", "[cli]") {
  const asked a;
  for (const char* command : {"run nothing", "run --bogus", "run steps --sizes x",
                              "run steps --plguins naive", "rerun none.json", "run --resume",
                              "run --help", "--version", "bogus", "quick extra words"}) {
    INFO(command);
    CHECK(a.needs(command).empty());
  }
  CHECK_THAT(runner("needs --help").out, ContainsSubstring("plugin NAME"));
  CHECK(runner("needs").code == 2);
}
