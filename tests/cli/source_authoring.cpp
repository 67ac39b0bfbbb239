// `runner new` and `runner watch`.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

#include <csignal>
#include <filesystem>
#include <string>

using namespace kzoo::test;
namespace fs = std::filesystem;

namespace {

struct workplace {
  scratch_folder folder;
  environment cache{"XDG_CACHE_HOME", (folder.path() / "cache").string()};

  run_result run(const std::string& arguments) const { return runner(arguments, in(folder)); }
  std::string text(const std::string& file) const { return read_text(folder.path() / file); }
};

}  // namespace

TEST_CASE("a new plugin compiles and is right") {
  const workplace w;
  const auto made = w.run("new first");
  CHECK(made.code == 0);
  CHECK(contains(made.out,
                 shell_word(runner_program()) + " run quick --plugins first/first.cu,naive"));
  CHECK(contains(w.text("first/first.cu"), "KZOO_PLUGIN(\"first\""));
  const auto ran = w.run("quick --device cpu --sizes 17 --no-journal --plugins first/first.cu");
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "first:16x16"));
}

TEST_CASE("a new plugin can begin with the source of another, and is complete") {
  const workplace w;
  REQUIRE(w.run("new mine --from double_buffer").code == 0);
  CHECK(contains(w.text("mine/mine.cu"), "KZOO_PLUGIN(\"mine\""));
  CHECK(fs::exists(w.folder.path() / "mine" / "fp32" / "common" / "tile_loader.hpp"));
  const auto ran =
      w.run("quick --device cpu --sizes 32 --no-journal --quiet --plugins mine/mine.cu");
  INFO(ran.err);
  CHECK(ran.code == 0);

  const auto hopper = w.run("new hopper --from wgmma --out project");
  REQUIRE(hopper.code == 0);
  CHECK(contains(hopper.out, " run tensor --sizes 128 --plugins project/hopper.cu,wgmma "));
  CHECK(contains(hopper.out, " watch project/hopper.cu tensor --sizes 128 "));
  CHECK(w.text("project/hopper.cu").starts_with("// kzoo: arch=90a-real\n"));
  CHECK(contains(w.text("project/CMakeLists.txt"),
                 "kzoo_add_plugin(NAME hopper SOURCES hopper.cu ARCH 90a-real)"));
  REQUIRE(w.run("new blas --from cublas --out blas").code == 0);
  CHECK(contains(w.text("blas/CMakeLists.txt"),
                 "(NAME blas SOURCES blas.cpp DEVICES cuda LINK CUDA::cublas CUDA::cublasLt)"));
}

TEST_CASE("`new` refuses what it would overwrite, and names that are none") {
  const workplace w;
  w.folder.write("taken", "");
  fs::create_directory(w.folder.path() / "full");
  w.folder.write("full/x", "");
  CHECK(contains(w.run("new full").err, "is there already"));
  for (const char* name : {"a/b", "mine.cu", "-- -dash"})
    CHECK(contains(w.run(std::string("new ") + name).err, "a plugin's name is made of letters"));
  w.folder.write("file", "");
  CHECK(contains(w.run("new mine --out file/mine").err,
                 "file/mine: error: cannot be made: Not a directory; choose another place"));
  const auto unknown = w.run("new mine --from smen");
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "there is no source of a plugin 'smen'; did you mean 'smem'?"));
  CHECK_FALSE(fs::exists(w.folder.path() / "mine"));
}

TEST_CASE("`watch` runs a source whenever it is saved, and keeps the last good result") {
  const workplace w;
  REQUIRE(w.run("new mine").code == 0);
  const fs::path source = w.folder.path() / "mine" / "mine.cu";
  const std::string right = read_text(source);
  background_run watching({"watch", source.string(), "quick", "--device", "cpu", "--sizes", "16"},
                          w.folder.path());
  const auto saved = [&](const std::string& text, const std::string& word, bool error) {
    // As editors do: another file is put in its place.
    w.folder.write("mine/new", text);
    fs::rename(w.folder.path() / "mine" / "new", source);
    return eventually([&] { return contains(error ? watching.err() : watching.out(), word); });
  };
  const auto with = [&](const std::string& line) {
    std::string text = right;
    return text.replace(text.find("float sum = 0;"), 14, line);
  };
  REQUIRE(eventually([&] { return contains(watching.out(), "mine: 3 pass\n"); }));
  CHECK(saved(with("flaot sum = 0;"), "the last good result stays: mine: 3 pass", true));
  CHECK(contains(watching.err(), "mine.cu:9:3: error: "));
  CHECK(saved("// kzoo: nosuch\n" + right, "nosuch", true));
  CHECK(saved(with("float sum = 1;"), "mine: 3 wrong; mine:16x16 on ", false));
  saved(with("float sum = 0; sum += g.k > 9999;"), "", false);
  CHECK(eventually([&] { return count_of(watching.out(), "mine: 3 pass\n") == 2; }));
  CHECK(saved(with("float sum = 0; sum += g.k > 9999;  // as it was"), "the same machine code",
              false));
  watching.send(SIGINT);
  CHECK(watching.wait().code == 128 + SIGINT);
}
