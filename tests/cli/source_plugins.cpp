// Plugins that are named by their source: compiled, kept, and run.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

using namespace kzoo::test;
namespace fs = std::filesystem;

namespace {

const std::string kRun = "run quick --device cpu --sizes 16 --no-journal --quiet ";

std::string template_text() { return read_text(source_folder() / "sdk" / "template" / "mine.cu"); }

// A folder of the author's, and a cache that is empty at first.
struct author {
  scratch_folder folder;
  environment cache{"XDG_CACHE_HOME", (folder.path() / "cache").string()};

  fs::path cached() const { return folder.path() / "cache" / "kernel-zoo" / "plugins"; }
};

}  // namespace

TEST_CASE("a source is compiled once, and again when it or what it includes changes") {
  const author a;
  a.folder.write("value.hpp", "constexpr float kZero = 0;\n");
  const std::string file = a.folder.write(
      "mine.cu",
      replaced(replaced(template_text(), "float sum = 0;", "float sum = kZero;"),
               "#include <kzoo/plugin.hpp>", "#include <kzoo/plugin.hpp>\n#include \"value.hpp\""));
  const auto first = runner(kRun + "--plugins " + file + ",naive:8x8");
  INFO(first.err);
  CHECK(first.code == 0);
  CHECK(contains(first.err, "compiled " + file + " for cpu"));
  CHECK_FALSE(contains(runner(kRun + "--plugins " + file).err, "compiled"));

  a.folder.write("value.hpp", "constexpr float kZero = 1;\n");
  const auto wrong = runner(kRun + "--plugins " + file);
  CHECK(contains(wrong.err, "compiled"));
  CHECK(wrong.code == 1);

  a.folder.write("value.hpp", "constexpr float kZero = 0;\n");
  const auto back = runner(kRun + "--plugins " + file);
  CHECK_FALSE(contains(back.err, "compiled"));  // both are kept
  CHECK(back.code == 0);

  for (const auto& entry : fs::directory_iterator(a.cached()))
    CHECK_FALSE(entry.path().filename().string().starts_with("new."));
}

TEST_CASE("what a source contains is compiled once, wherever it is and whatever it is called") {
  const author a;
  const std::string text = replaced(template_text(), "#include <kzoo/plugin.hpp>",
                                    "#include <kzoo/plugin.hpp>\n#include \"value.hpp\"");
  const auto is_compiled = [&](const std::string& name, const std::string& header) {
    const fs::path folder = a.folder.path() / fs::path(name).parent_path();
    fs::create_directories(folder);
    a.folder.write((folder.lexically_relative(a.folder.path()) / "value.hpp").string(), header);
    const auto ran = runner(kRun + "--plugins " + a.folder.write(name, text));
    INFO(ran.err);
    CHECK(ran.code == 0);
    return contains(ran.err, "compiled ");
  };
  CHECK(is_compiled("one/mine.cu", "// 1\n"));
  CHECK_FALSE(is_compiled("two/mine.cu", "// 1\n"));
  CHECK_FALSE(is_compiled("two/other/mine.cu", "// 1\n"));
  CHECK(is_compiled("three/mine.cu", "// 2\n"));
  CHECK_FALSE(is_compiled("one/mine.cu", "// 1\n"));
  CHECK_FALSE(is_compiled("one/other.cpp", "// 1\n"));
}

TEST_CASE("a source is not taken for one that finds other headers in its folder") {
  const author a;
  const std::string text = replaced(template_text(), "#include <kzoo/plugin.hpp>",
                                    "#include <cfloat>\n#include <kzoo/plugin.hpp>");
  for (const std::string folder : {"one", "two"}) {
    fs::create_directories(a.folder.path() / folder);
    if (folder == "two") a.folder.write("two/cfloat", "#error this one is found first\n");
    const auto ran = runner(kRun + "--plugins " + a.folder.write(folder + "/mine.cu", text));
    CHECK(ran.code == (folder == "one" ? 0 : 2));
  }
}

TEST_CASE("a damaged entry of the cache is compiled again") {
  const author a;
  const std::string file = a.folder.write("mine.cu", template_text());
  REQUIRE(runner(kRun + "--plugins " + file).code == 0);
  for (const auto& entry : fs::recursive_directory_iterator(a.cached()))
    if (entry.path().filename() == "mine.so") fs::resize_file(entry.path(), 4096);
  const auto again = runner(kRun + "--plugins " + file);
  INFO(again.out << again.err);
  CHECK(again.code == 0);
  CHECK(contains(again.err, "compiled " + file + " for cpu"));
  CHECK_FALSE(contains(runner(kRun + "--plugins " + file).err, "compiled"));
}

TEST_CASE("a compiler's errors are shown with the author's lines, and nothing runs") {
  const author a;
  const std::string file =
      a.folder.write("bad.cu", replaced(template_text(), "float sum = 0;", "flaot sum = 0;"));
  const auto ran = runner(kRun + "--plugins naive:8x8," + file);
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, "bad.cu:9:3: error: "));
  CHECK(contains(ran.err, "error: " + file + " does not compile for cpu"));
  CHECK_FALSE(contains(ran.err, "note:"));
  CHECK(ran.out.empty());
}

TEST_CASE("a compiler that has no room to write is no fault of the source") {
  const author a;
  const std::string file = a.folder.write("mine.cu", template_text());
  const auto ran = runner(kRun + "--plugins " + file, "ulimit -f 20;");
  CHECK(ran.code == 5);
  CHECK(contains(
      ran.err, "error: the compiler could not write its output: files may not become that large"));
  CHECK(contains(ran.err, a.folder.path().string()));
  CHECK_FALSE(contains(ran.err, "does not compile"));
}

TEST_CASE("what the simulator does not have is said in a sentence") {
  const author a;
  const auto said = [&](const std::string& line) {
    const std::string file = a.folder.write(
        "mine.cu", replaced(template_text(), "float sum = 0;", "float sum = 0; " + line));
    const auto ran = runner(kRun + "--plugins " + file);
    CHECK(ran.code == 2);
    INFO(ran.err);
    return contains(ran.err, "mine.cu:9: note: ") ? ran.err : "";
  };
  CHECK(contains(said("extern __shared__ float tile[];"), "kzoo::dynamic_shared<T>()"));
  CHECK(contains(said("mine_kernel<<<1, 1>>>(g);"), "kzoo::launch("));
  CHECK(contains(said("asm volatile(\"bar.sync 0;\" :: \"q\"(sum));"), "inline PTX"));
}

TEST_CASE("a kernel's pointer that is not const is said in a sentence that names the argument") {
  const author a;
  const std::string text = replaced(template_text(), "mine_kernel(kzoo::gemm<float> g) {",
                                    "mine_kernel(kzoo::gemm<float> g, float* b) {");
  const std::string file =
      a.folder.write("mine.cu", replaced(text, "mine_kernel, g);", "mine_kernel, g, g.b);"));
  const auto ran = runner(kRun + "--plugins " + file);
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, "launch_argument<2, float*, const float*"));
  CHECK(contains(ran.err, "make the kernel's parameter a pointer to const as well"));
  constexpr long kFewLines = 25;
  CHECK(std::ranges::count(ran.err, '\n') < kFewLines);
}

TEST_CASE("the first lines of a source, and --build-args, have options for the compiler") {
  const author a;
  const std::string text =
      replaced(template_text(), "float sum = 0;", "float sum = FIRST + SECOND;");
  const std::string file = a.folder.write(
      "mine.cu", "// A kernel.\n// kzoo: options=-DFIRST=1 libraries=cublas\n" + text);
  const auto ran = runner(kRun + "--build-args=-DSECOND=-1 --plugins " + file);
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(runner(kRun + "--build-args=-DSECOND=1 --plugins " + file).code == 1);  // another sum

  const std::string misspelt = a.folder.write("mine.cu", "// kzoo: option=-DFIRST=1\n" + text);
  const auto refused = runner(kRun + "--plugins " + misspelt);
  CHECK(refused.code == 2);
  CHECK(
      contains(refused.err, "mine.cu:1:10: error: unknown key 'option'; did you mean 'options'?"));
}

TEST_CASE("nothing is run from a cache that others may write to") {
  const author a;
  const std::string file = a.folder.write("mine.cu", template_text());
  REQUIRE(runner(kRun + "--plugins " + file).code == 0);
  const auto refused = [&] {
    const auto ran = runner(kRun + "--plugins " + file);
    return ran.code == 2 &&
           contains(ran.err, "error: nothing is run from " + a.cached().string()) &&
           contains(ran.err, "every user can write to") && contains(ran.err, "XDG_CACHE_HOME");
  };
  for (const fs::path& open : {a.cached(), a.cached().parent_path(), a.folder.path()}) {
    INFO(open.string());
    const fs::perms before = fs::status(open).permissions();
    fs::permissions(open, fs::perms::others_write, fs::perm_options::add);
    CHECK(refused());
    fs::permissions(open, before);
  }
  CHECK(runner(kRun + "--plugins " + file).code == 0);
  if (geteuid() != 0) return;  // only root gives files away
  constexpr uid_t kSomeoneElse = 65534;
  REQUIRE(chown(a.cached().c_str(), kSomeoneElse, kSomeoneElse) == 0);
  const auto foreign = runner(kRun + "--plugins " + file);
  CHECK(foreign.code == 2);
  CHECK(contains(foreign.err, "belongs to another user (uid 65534)"));
}

TEST_CASE("runners at the same time compile the same source without harm") {
  const author a;
  const std::string file = a.folder.write("mine.cu", template_text());
  const std::vector<std::string> arguments{"run", "quick",   "--device",     "cpu",       "--sizes",
                                           "16",  "--quiet", "--no-journal", "--plugins", file};
  background_run first(arguments, a.folder.path()), second(arguments, a.folder.path());
  CHECK(first.wait().code == 0);
  CHECK(second.wait().code == 0);
}

TEST_CASE("an experiment file names sources relative to itself") {
  const author a;
  fs::create_directory(a.folder.path() / "kernels");
  a.folder.write("kernels/mine.cu", template_text());
  const std::string experiment =
      a.folder.write("e.toml",
                     "plugins = ['naive:8x8', './kernels/mine.cu:16x16']\nbaseline = 'mine'\n"
                     "[problem]\nm = 16\nn = 16\nk = 16\n");
  const auto ran = runner("run " + experiment + " --device cpu --no-journal --json -");
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  const auto& plugins = ran.json().at("plugins");
  CHECK(plugins.at(1).at("name") == "mine");
  CHECK(plugins.at(1).at("source") == (a.folder.path() / "kernels" / "mine.cu").string());
}

TEST_CASE("a description keeps its lines, of which lists show the first") {
  const author a;
  std::string text = replaced(template_text(), "\"My first kernel\"",
                              "\"First line\\n  second\\tline\\x1b[31m\\n\"");
  text = replaced(text, "kzoo::variant<mine>(\"16x16\", \"",
                  "kzoo::variant<mine>(\"16x16\", \"Of it\\nmore ");
  const std::string file = a.folder.write("mine.cu", text);
  const std::string described = runner("describe " + file + ":16x16").out;
  INFO(described);
  CHECK(contains(described, "  summary   First line\n              second line\\x1b[31m\n"));
  CHECK(contains(described, "  16x16\n    Of it\n    more "));
  const auto listed = runner("list " + file + " 'naiv*'");
  INFO(listed.out);
  CHECK(contains(listed.out, "First line\n"));
  CHECK(contains(listed.out, "\nnaive "));
  CHECK_FALSE(contains(listed.out, "smem"));
  CHECK(contains(runner("list naiv").err, "there is no plugin 'naiv'; did you mean 'naive'?"));
  CHECK(contains(runner("list ./nothing.cu").err, "there is no file ./nothing.cu"));
}

TEST_CASE("a file is a plugin in every command that names plugins") {
  const author a;
  const std::string file = a.folder.write("mine.cu", template_text());
  CHECK(
      contains(runner("check quick --device cpu --plugins " + file).out, "1 variant of 1 plugin"));
  CHECK(contains(runner("describe " + file).out, "My first kernel"));
  const auto validated = runner("validate --device cpu --tier quick " + file + ":16x16");
  CHECK(validated.code == 0);
  CHECK(contains(validated.out, "ok: 1 pass"));
  const auto none = runner("validate --device cpu --tier quick " + file + ":8x8");
  CHECK(contains(none.err, "mine has no variant '8x8'"));
}

TEST_CASE("xray counts the accesses of a source, by its lines") {
  const author a;
  const std::string file = a.folder.write("mine.cu", template_text());
  const auto ran = runner("xray quick --cell " + file + ":16x16@64");
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(contains(ran.err, "compiled " + file + " for cpu-xray"));
  CHECK(contains(ran.out, "mine.cu:10, global load"));

  const std::string named =
      a.folder.write("own.toml", "plugins = [\"./mine.cu\"]\n[problem]\nsizes = [64]\n");
  const auto by_name = runner("xray " + named + " --cell mine:16x16@64");
  INFO(by_name.err);
  CHECK(by_name.code == 0);
  CHECK(contains(by_name.out, "mine:16x16"));
}

TEST_CASE("files that cannot be plugins are refused") {
  const author a;
  const std::string file = a.folder.write("mine.cu", template_text());
  const auto refused = [&](const std::string& plugins, const std::string& words) {
    const auto ran = runner(kRun + "--plugins " + plugins);
    INFO(ran.err);
    CHECK(ran.code == 2);
    CHECK(contains(ran.err, words));
  };
  refused("nothing.cu", "nothing.cu");
  refused(file + ",mine", "two plugins are called mine");
  fs::create_directory(a.folder.path() / "other");
  refused(file + ',' + a.folder.write("other/mine.cu", template_text()),
          "two plugins are called mine");
  refused(a.folder.path().string() + '/', "has no CMakeLists.txt");
  refused("'" + a.folder.write("my kernel.cu", template_text()) + "'", "rename the file");
}

TEST_CASE("no output replaces what a command reads, its journal or another output") {
  const author a;
  const auto source = "#include \"value.hpp\"\n" + template_text();
  a.folder.write("mine.cu", source);
  a.folder.write("value.hpp", "");
  a.folder.write("mine.toml", "");
  fs::create_symlink("mine.cu", a.folder.path() / "link");
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    check_refused(arguments, {words}, in(a.folder));
  };
  const std::string kOf = " --device cpu --sizes 8 --plugins mine.cu:16x16 ";
  for (const char* input : {"mine.cu", "./value.hpp", "mine.toml", "link"})
    for (const char* flag : {"--json", "--csv", "--md", "--junit"})
      refused(fmt::format("run quick{}--no-journal {} {}", kOf, flag, input),
              fmt::format("{} {}: error: cannot be written: it is the input file", flag, input));
  refused("tune mine.cu --device cpu --sizes 8 --no-journal --json mine.cu",
          "--json mine.cu: error: cannot be written: it is the input file");
  refused("xray quick --cell mine.cu:16x16@64 --html mine.cu", "it is the input file");
  refused("validate --device cpu --tier quick mine.cu:16x16 --json mine.cu",
          "it is the input file");
  CHECK(read_text(a.folder.path() / "mine.cu") == source);
  refused("run quick" + kOf + "--json j.jsonl --journal ./j.jsonl",
          "--json j.jsonl: error: cannot be written: it is the journal");
  refused("run quick" + kOf + "--no-journal --json o --csv ./o",
          "--csv ./o: error: cannot be written: --json is written there");
  const auto nowhere =
      runner("run quick" + kOf + "--no-journal --json /dev/null --csv /dev/null", in(a.folder));
  INFO(nowhere.err);
  CHECK(nowhere.code == 0);
}

TEST_CASE("stored results do not make the runner compile what they name") {
  const author a;
  const std::string file = a.folder.write("mine.cu", template_text());
  const std::string stored = (a.folder.path() / "stored.json").string();
  REQUIRE(runner(kRun + "--plugins " + file + " --json " + stored).code == 0);
  const auto refused = runner("rerun --quiet --no-journal " + stored);
  CHECK(refused.code == 2);
  CHECK(contains(refused.err,
                 "names a file to load as a plugin: " + file + "; pass --trust-folders"));
  CHECK(runner("rerun --quiet --no-journal --trust-folders " + stored).code == 0);

  const std::string experiment = a.folder.write(
      "e.toml", "plugins = ['naive:8x8']\nbaseline = 'mine.cu'\n[problem]\nsizes = [16]\n");
  REQUIRE(runner("run " + experiment + " --device cpu --no-journal --json " + stored).code == 0);
  CHECK(contains(runner("rerun --quiet --no-journal " + stored).err,
                 "to load as a plugin: mine.cu;"));

  REQUIRE(runner(kRun + "--plugins naive:8x8 --build-args=-DX=1 --json " + stored).code == 0);
  CHECK(contains(runner("rerun --quiet --no-journal " + stored).err,
                 "names options of the compiler: -DX=1"));
}

TEST_CASE("what a compiler is made to run can write only what is compiled",
          "[cli][hostile][.landlock]") {
  needs_landlock();
  const author a;
  const std::string victim = a.folder.write("results.json", "kept\n");
  const std::string attack = "echo gone >" + victim + "; touch " + a.cached().string() + "/new; ";
  const std::string wrapper = a.folder.write("wrapper", "#!/bin/sh\n" + attack + "exec \"$@\"\n");
  fs::permissions(wrapper, fs::perms::owner_all);
  const std::string file =
      a.folder.write("mine.cu", "// kzoo: options=-wrapper," + wrapper + "\n" + template_text());
  REQUIRE(runner("new project --out " + (a.folder.path() / "project").string()).code == 0);
  const std::string rules = read_text(a.folder.path() / "project" / "CMakeLists.txt");
  a.folder.write("project/CMakeLists.txt",
                 rules + "execute_process(COMMAND sh -c \"" + attack + "\")\n");
  for (const std::string& plugin : {file, (a.folder.path() / "project/").string()}) {
    const auto ran = runner(kRun + "--plugins " + plugin);
    INFO(ran.err);
    CHECK(ran.code == 0);
    CHECK(read_text(victim) == "kept\n");
    CHECK_FALSE(fs::exists(a.cached() / "new"));
  }
}
