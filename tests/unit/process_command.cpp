// Other programs that are run.
#include "process/command.hpp"

#include "support/catch.hpp"
#include "support/program.hpp"

using kzoo::process::how_it_failed;
using kzoo::process::run_command;

TEST_CASE("a program that fails and one that is given up are told apart", "[process]") {
  CHECK(how_it_failed(run_command({"false"}, {}, 60), 60) == "ended with code 1");
  CHECK(how_it_failed(run_command({"sleep", "60"}, {}, 0.25), 0.25) ==
        "took 0.25 seconds and was given up");
}

// A shell between here and there passes on the last of two.
TEST_CASE("a setting replaces the environment's", "[process]") {
  const kzoo::test::environment outer("KZOO_PLACE", "outer");
  const auto ran = run_command({"env"}, {"KZOO_PLACE=inner"}, 60);
  CHECK_THAT(ran.output,
             ContainsSubstring("KZOO_PLACE=inner\n") && !ContainsSubstring("KZOO_PLACE=outer"));
}
