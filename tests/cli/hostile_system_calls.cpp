// Plugins that have the operating system help them: what a worker may ask of it.
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <string>

using namespace kzoo::test;

TEST_CASE("a worker that cannot be halted in a call or a fault takes its time", "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran = run_plugins(
      folder,
      "'system_calls:honest', 'system_calls:holds_mprotect', 'system_calls:takes_pages_away'",
      "128", "rounds = 5", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 0);
  const auto cells = ran.json().at("cells");
  const auto ms = [&](std::size_t i) {
    return cells.at(i).at("time").at("median_ms").get<double>();
  };
  for (const std::size_t i : {1, 2}) {
    INFO(cells.at(i).dump(1));
    CHECK(cells.at(i).at("verdict") == "pass");
    CHECK(ms(i) > 0.3 * ms(0));  // with its trick it is faster by a factor of 10
  }
}

TEST_CASE("calls that halt a thread, or hinder others, are refused", "[cli][hostile]") {
  const auto ran =
      run_hostile("quick --device cpu --sizes 8 --plugins system_calls:tries_refused_calls");
  INFO(ran.out << ran.err);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("system_calls:tries_refused_calls: it: nothing"));
}

TEST_CASE("what a kernel changes of the runner's own process is set back and said",
          "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran = run_plugins(folder, "'system_calls:hinders_runner', 'native:honest'", "24, 25",
                               "rounds = 3", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 0);
  for (const auto& cell : ran.json().at("cells")) {
    INFO(cell.dump(1));
    CHECK(cell.at("verdict") == "pass");
    // A worker of root's has lost its privileges, and so its say in what root's processes do.
    const bool guilty = cell.at("plugin") == "system_calls" && geteuid() != 0;
    REQUIRE(cell.at("checks").size() == (guilty ? 1 : 0));
    if (!guilty) continue;
    CHECK(cell.at("checks").at(0).at("check") == "runner");
    // What is left of its calls: the others are refused.
    CHECK_THAT(cell.at("checks").at(0).at("detail").get<std::string>(),
               ContainsSubstring("set back after each turn: processors"));
  }
  if (geteuid() == 0) return;
  CHECK_THAT(ran.err, ContainsSubstring("hinders system_calls:hinders_runner: changes settings of "
                                        "the runner's own process"));
}
