// Folders of the user's.
#include "os/folders.hpp"

#include "support/catch.hpp"
#include "support/program.hpp"

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
