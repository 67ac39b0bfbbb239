// Other programs that are run.
#include "process/command.hpp"

#include "support/catch.hpp"

using kzoo::process::how_it_failed;
using kzoo::process::run_command;

TEST_CASE("a program that fails and one that is given up are told apart", "[process]") {
  CHECK(how_it_failed(run_command({"false"}, {}, 60), 60) == "ended with code 1");
  CHECK(how_it_failed(run_command({"sleep", "60"}, {}, 0.25), 0.25) ==
        "took 0.25 seconds and was given up");
}
