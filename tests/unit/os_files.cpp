// Whole files, and folders: for a while, and the user's.
#include "os/files.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"

#include <filesystem>
#include <iterator>
#include <vector>

using namespace kzoo;
using kzoo::test::ContainsSubstring;
using kzoo::test::read_text;
using kzoo::test::scratch_folder;
namespace fs = std::filesystem;

TEST_CASE("a file that cannot be written is named, with the reason", "[core]") {
  CHECK_THROWS_WITH(write_file("/dev/full", "text"),
                    ContainsSubstring("/dev/full cannot be written: No space left on device"));
  CHECK_THROWS_WITH(write_file("/nosuch/file", "text"), ContainsSubstring("No such file"));
}

TEST_CASE("a file is replaced in one step, or stays as it was", "[core]") {
  const scratch_folder folder;
  const fs::path file = folder.path() / "f";
  write_file(file, "old");
  replace_file(file, "new");
  CHECK(read_text(file) == "new");
  const fs::path taken = folder.path() / "folder";
  fs::create_directories(taken / "with something");
  CHECK_THROWS_AS(replace_file(taken, "new"), not_written);
  CHECK(fs::exists(taken / "with something"));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("a folder is listed in order, whole or by an extension, with what is below", "[core]") {
  const scratch_folder folder;
  const fs::path root = folder.path();
  for (const char* name : {"b.so", "a.so", "c.txt"}) folder.write(name, "");
  fs::create_directory(root / "d");
  folder.write("d/e.so", "");
  using paths = std::vector<fs::path>;
  CHECK(paths_in(root) == paths{root / "a.so", root / "b.so", root / "c.txt", root / "d"});
  CHECK(paths_in(root, ".so") == paths{root / "a.so", root / "b.so"});
  CHECK(paths_below(root / "d") == paths{root / "d" / "e.so"});
  CHECK(paths_below(root) ==
        paths{root / "a.so", root / "b.so", root / "c.txt", root / "d", root / "d" / "e.so"});
  CHECK(paths_in(root / "gone").empty());
}

TEST_CASE("a temporary folder is removed with what is in it", "[core]") {
  const scratch_folder folder;
  fs::path path;
  {
    const temporary_folder made(folder.path() / "t.");
    path = made.path();
    write_file(path / "f", "text");
  }
  CHECK_FALSE(fs::exists(path));
  CHECK(path.parent_path() == folder.path());
}

using kzoo::user_folder;
using kzoo::test::environment;

TEST_CASE("a folder of the user's is an absolute one", "[core]") {
  const environment home("HOME", "/home/me");
  {
    const environment given("XDG_DATA_HOME", "/data");
    CHECK(user_folder("XDG_DATA_HOME", ".local/share") == "/data");
  }
  for (const char* ignored : {"", "data"}) {
    const environment given("XDG_DATA_HOME", ignored);
    CHECK(user_folder("XDG_DATA_HOME", ".local/share") == "/home/me/.local/share");
  }
  const environment relative("HOME", "me");
  CHECK_FALSE(user_folder("KZOO_NOSUCH", ".cache"));
}
