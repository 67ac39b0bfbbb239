// Sources whose author attacks what compiles them, what reads the compiler's words, and what
// explains a wrong kernel.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"

#include <nlohmann/json.hpp>

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
    return runner("judge --device cpu --problems gemm.toml --json mine.cu " + words, in(folder));
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

TEST_CASE("a source that includes what has no end is given up", "[cli][hostile]") {
  const author a;
  for (const char* line : {"#include \"/dev/zero\"\n", "#include \"/dev/tty\"\n"}) {
    INFO(line);
    const json said = refused(a.judge(line + template_text(), "--verify quick"));
    CHECK(said.at("reason").get<std::string>().size() < 30000);
    if (contains(line, "zero"))
      CHECK(contains(said.at("reason"), "needed more than"));
    else
      CHECK(contains(said.at("reason"), "Permission denied"));
  }
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
  CHECK(contains(ran.err, "KZOO_CACHE_GB: error: expected how many GB"));
}
