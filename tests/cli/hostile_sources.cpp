// Sources whose author attacks what compiles them, what reads the compiler's words, and what
// explains a wrong kernel.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"

#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace kzoo::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string template_text() { return read_text(source_folder() / "sdk" / "template" / "mine.cu"); }

struct author {
  scratch_folder folder;
  environment cache{"XDG_CACHE_HOME", (folder.path() / "cache").string()};

  author() {
    folder.write("gemm.toml",
                 "baseline = 'serial:ikj'\nplugins = ['naive']\nproblem.sizes = [16]\n"
                 "[timing]\nwarmup = 1\nrounds = 5\nmin_samples = 10\nmax_seconds = 0.2\n");
  }
  run_result judge(const std::string& text, const std::string& words = "") const {
    folder.write("mine.cu", text);
    return runner("judge --device cpu --problems gemm.toml --json --explain mine.cu " + words,
                  in(folder));
  }
  fs::path cached() const { return folder.path() / "cache" / "kernel-zoo" / "plugins"; }
  std::uintmax_t cached_bytes() const {
    std::uintmax_t sum = 0;
    for (const auto& entry : fs::recursive_directory_iterator(cached()))
      if (entry.is_regular_file()) sum += entry.file_size();
    return sum;
  }
};

// What is said of one that does not compile, whose only line this is.
json refused(const run_result& ran) {
  INFO(ran.out << ran.err);
  CHECK(ran.code == 1);
  CHECK(std::ranges::count(ran.out, '\n') == 1);
  const json said = json::parse(ran.out);
  CHECK(said.at("status") == "COMPILE_ERROR");
  return said;
}

}  // namespace

TEST_CASE("a wrong kernel that is loaded again to explain it writes and forges nothing",
          "[cli][hostile][.landlock]") {
  needs_landlock();
  const author a;
  const std::string victim = a.folder.write("victim", "kept\n");
  // Whatever loads it, it looks for what the judge writes, in all processes above it.
  const std::string attack = R"cpp(
#include <fcntl.h>
#include <unistd.h>
#include <fstream>
#include <string>
    static void say(const std::string& file) {
      const int fd = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
      const std::string forged =
          "{\"status\":\"PASSED\",\"verdict\":\"pass\",\"forged\":1}\n"
          "kernel-zoo reply: {\"answer\":[{\"kernel\":\"forged\"}]}\n";
      if (fd >= 0) static_cast<void>(!write(fd, forged.data(), forged.size()));
    }
    static const bool attacked = [] {
      say("VICTIM");
      for (long process = getpid(), parent = 0; process > 1; process = parent) {
        for (const char* fd : {"1", "2"}) say("/proc/" + std::to_string(process) + "/fd/" + fd);
        std::ifstream file("/proc/" + std::to_string(process) + "/status");
        for (std::string word; file >> word && word != "PPid:";) continue;
        if (!(file >> parent)) break;
      }
      return true;
    }();
  )cpp";
  const std::string wrong = replaced(template_text(), "float sum = 0;", "float sum = 1;");
  const std::string text = replaced(attack, "VICTIM", victim) + wrong;
  for (const char* tier : {"quick", "full"}) {
    INFO(tier);
    const auto ran = a.judge(text, "--verify " + std::string(tier));
    INFO(ran.err);
    CHECK(ran.code == 1);
    CHECK(read_text(victim) == "kept\n");
    CHECK_FALSE(contains(ran.out + ran.err, "forged"));
    REQUIRE(std::ranges::count(ran.out, '\n') == 1);
    CHECK(json::parse(ran.out).at("status") == "INCORRECT_NUMERICAL");
  }
}

TEST_CASE("what a wrong kernel forges about itself changes no verdict", "[cli][hostile]") {
  const author a;
  const std::string wrong = replaced(template_text(), "float sum = 0;", "float sum = 1;");
  const std::string forge = R"cpp(
#include <unistd.h>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
    static const bool forged = [] {
      std::ifstream file("/proc/self/cmdline");
      const std::string words(std::istreambuf_iterator<char>(file), {});
      if (words.find("__analysed") == std::string::npos) return false;
      const std::string text = REPLY;
      std::printf("\nkernel-zoo reply: %s\n", text.c_str());
      std::fflush(stdout);
      _exit(0);
    }();
  )cpp";
  const std::string finding =
      R"({\"what\": \"\u2028forged\", \"where\": {\"file\": \"/dev/zero\", \"line\": 1, \"function\": \"\"}, )"
      R"(\"earlier\": {\"file\": \"/dev/zero\", \"line\": 1, \"function\": \"\"}, \"first\": \"y\", \"count\": 1, )"
      R"(\"advice\": \"" + std::string(1000000, 'z') + "\"})";
  const std::string launch =
      R"({\"kernel\": \"k\", \"grid\": [1, 1, 1], \"block\": [1, 1, 1], \"blocks\": 1, \"blocks_run\": 1, )"
      R"(\"barriers\": 0, \"uncounted\": 0, \"lines\": [], \"findings\": [)" +
      finding + R"(], \"error\": \"\"})";
  for (const std::string& reply :
       {std::string(R"("{\"answer\": []}")"), R"("{\"answer\": [)" + launch + R"(]}")",
        std::string(R"(std::string(1000000, '['))")}) {
    INFO(reply);
    const auto ran = a.judge(replaced(forge, "REPLY", reply) + wrong, "--verify full");
    INFO(ran.err.substr(0, 3000));
    CHECK(ran.code == 1);
    CHECK(ran.out.size() < 20'000);
    REQUIRE(std::ranges::count(ran.out, '\n') == 1);
    const json said = json::parse(ran.out);
    CHECK(said.at("status") == "INCORRECT_NUMERICAL");
    CHECK(contains(said.at("reason"), "forged") == contains(reply, "forged"));
    if (!contains(reply, "forged")) continue;
    // With the lines of that file, of which there is no end.
    const auto shown = runner("xray quick --plugins mine.cu --sizes 16 --lines", in(a.folder));
    INFO(shown.err.substr(0, 3000));
    CHECK(contains(shown.out + shown.err, "forged"));
  }
}

TEST_CASE("a source that includes what has no end is given up", "[cli][hostile]") {
  const author a;
  for (const char* line :
       {"#define END \"/dev/zero\"\n#include END\n", "#define END \"/dev/tty\"\n#include END\n"}) {
    INFO(line);
    const json said = refused(a.judge(line + template_text(), "--verify quick"));
    CHECK(said.at("reason").get<std::string>().size() < 30000);
    if (contains(line, "zero"))
      CHECK(contains(said.at("reason"), "needed more than"));
    else
      CHECK(contains(said.at("reason"), "Permission denied"));
  }
}

TEST_CASE("pipes and devices are refused as sources, headers and manifests", "[cli][hostile]") {
  const author a;
  const auto path = [&](const char* name) { return (a.folder.path() / name).string(); };
  const auto reason_of = [&](const char* source) {
    INFO(source);
    return refused(runner("judge --device cpu --problems gemm.toml --json " + std::string(source),
                          in(a.folder)))
        .at("reason")
        .get<std::string>();
  };
  const std::string words = "is a pipe or a device, and no ordinary file";
  REQUIRE(mkfifo(path("pipe.cu").c_str(), 0600) == 0);
  fs::create_symlink("/dev/zero", path("zero.cu"));
  for (const char* source : {"pipe.cu", "zero.cu"})
    CHECK(contains(reason_of(source), source + (": error: " + words)));
  // In plugins, in bare kernels, and in what they include.
  a.folder.write("through.h", "#include \"pipe.cu\"\n");
  const std::string bare = "__global__ void f(const float* a) {}\n";
  for (const char* header : {"pipe.cu", "zero.cu", "/dev/zero", "/dev/tty", "through.h"})
    for (const std::string& text : {template_text(), bare}) {
      a.folder.write("mine.cu", "#include \"" + std::string(header) + "\"\n" + text);
      CHECK(contains(reason_of("mine.cu"), words));
    }
  a.folder.write("mine.cu", bare);
  REQUIRE(mkfifo(path("mine.toml").c_str(), 0600) == 0);
  CHECK(contains(reason_of("mine.cu"), "mine.toml: error: " + words));
  // A link to an ordinary file is what it links to.
  a.folder.write("good.cu", template_text());
  fs::create_symlink("good.cu", path("link.cu"));
  const auto ran = runner("judge --device cpu --problems gemm.toml --json link.cu", in(a.folder));
  CHECK(json::parse(ran.out).at("status") == "PASSED");
}

TEST_CASE("a source that compiles to a huge library is not kept", "[cli][hostile]") {
  const author a;
  const std::string huge = "static char huge[300000000] = {1};\nchar* volatile used = huge;\n";
  CHECK(contains(refused(a.judge(template_text() + huge)).at("reason"),
                 " MB, and a plugin may have 268 MB"));
  CHECK(a.cached_bytes() < 10'000'000);
  const std::string longer = "static char huge[955000000] = {1};\nchar* volatile used = huge;\n";
  CHECK(contains(refused(a.judge(template_text() + longer)).at("reason"),
                 "wrote a file of more than 0.5 GB"));
  CHECK(a.cached_bytes() < 10'000'000);
}

TEST_CASE("what a compiler says is shortened, and has the lines that it had", "[cli][hostile]") {
  const author a;
  std::string many = template_text();
  for (int i = 0; i < 20'000; ++i)
    many += "int x" + std::to_string(i) + " = \"" + std::string(200, 'y') + "\";\n";
  const std::string reason = refused(a.judge(many)).at("reason");
  CHECK(reason.size() < 30'000);
  CHECK(contains(reason, "mine.cu:"));
  CHECK(contains(reason, "bytes are left out]"));
  CHECK(contains(reason, "does not compile for cpu"));

  // Line separators of Unicode and of terminals, an escape sequence, and bytes that are no UTF-8.
  const std::string breaks =
      "#error a\u2028b\u0085c\u2029d\x0b"
      "e\x0c"
      "f\x1b[2Jg\xff\xed\xa0\x80h\n";
  const auto ran = a.judge(template_text() + breaks);
  const json said = refused(ran);
  for (const char* raw : {"\u2028", "\u0085", "\u2029", "\x0b", "\x0c", "\x1b", "\xff"})
    CHECK_FALSE(contains(ran.out, raw));
  CHECK(contains(said.at("reason"), "a\\u2028b\\u0085c\\u2029d"));
}

TEST_CASE("the cache of compiled plugins keeps to its size", "[cli][hostile]") {
  const author a;
  const environment size("KZOO_CACHE_GB", "0.03");
  const auto judged = [&](int number) {
    const std::string large = "static char large[12000000] = {" + std::to_string(number) +
                              "};\nchar* volatile used = large;\n";
    const auto ran = a.judge(template_text() + large, "--verify quick");
    INFO(ran.out << ran.err);
    CHECK(json::parse(ran.out).at("status") == "PASSED");
    CHECK(a.cached_bytes() < 31'000'000);
    return contains(ran.err, "compiled");
  };
  CHECK(judged(1));
  CHECK(judged(2));
  CHECK_FALSE(judged(1));  // the second one was used longest ago
  CHECK(judged(3));
  CHECK_FALSE(judged(1));
  CHECK(judged(2));
  const environment wrong("KZOO_CACHE_GB", "much");
  const auto ran = a.judge(template_text());
  CHECK(ran.code == 2);
  CHECK(contains(ran.out, "KZOO_CACHE_GB: error: expected how many GB"));
}
