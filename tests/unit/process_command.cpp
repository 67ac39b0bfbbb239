// Other programs that are run.
#include "process/command.hpp"

#include "support/catch.hpp"
#include "support/program.hpp"

#include <csignal>
#include <sstream>

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

namespace {

using kzoo::process::confinement;
using kzoo::process::run_confined;

std::string confined_shell(const std::string& text, const confinement& c = {.most_processes = 99}) {
  return run_confined({"bash", "-c", text}, {}, c, 60).output;
}

}  // namespace

TEST_CASE("a confined program has a clean environment", "[process]") {
  const kzoo::test::environment secret("KZOO_TOKEN", "not-to-be-seen"),
      key("NVIDIA_API_KEY", "nor"), other("SOMETHING", "nor"), ours("KZOO_RANKS", "7"),
      openmp("OMP_NUM_THREADS", "3");
  const std::string all = confined_shell("env; cat /proc/$PPID/environ /proc/*/environ");
  for (const char* hidden : {"not-to-be-seen", "NVIDIA_API_KEY", "SOMETHING"})
    CHECK_THAT(all, !ContainsSubstring(hidden));
  for (const char* passed : {"PATH=", "KZOO_RANKS=7", "OMP_NUM_THREADS=3", "TMPDIR="})
    CHECK_THAT(all, ContainsSubstring(passed));
  const kzoo::test::environment asked("KZOO_PASS", "NVIDIA_API_KEY,SOME*");
  const std::string more = confined_shell("env");
  CHECK_THAT(more, ContainsSubstring("NVIDIA_API_KEY=nor") && ContainsSubstring("SOMETHING=nor") &&
                       !ContainsSubstring("not-to-be-seen"));
}

TEST_CASE("a confined program changes and reaches nothing but what it is given", "[process]") {
  const kzoo::test::scratch_folder given, other;
  const std::string own = given.path().string(), foreign = other.path().string();
  const confinement c{.writable = {given.path()}, .most_processes = 99};
  CHECK(confined_shell("echo a >" + own + "/a && cat " + own + "/a", c) == "a\n");
  CHECK(confined_shell("echo b >$TMPDIR/b && cat $TMPDIR/b", c) == "b\n");
  CHECK_THAT(confined_shell("echo c >" + foreign + "/c", c),
             ContainsSubstring("Permission denied"));
  CHECK(std::filesystem::is_empty(foreign));
  CHECK(confined_shell("echo d >/dev/null && head -c 3 /dev/zero | wc -c", c) == "3\n");
  CHECK(confined_shell("printf name >/proc/$$/task/$$/comm; cat /proc/$$/comm; true", c) ==
        "name\n");
  for (const char* refused :
       {"echo e >/dev/ptmx", "cat </dev/ptmx", "echo f >/proc/$PPID/comm",
        "echo f >/proc/sys/kernel/hostname", "cat /dev/kmsg",
        "mknod $TMPDIR/g c 1 3 && echo h >$TMPDIR/g", "exec 3<>/dev/udp/127.0.0.1/53"}) {
    INFO(refused);
    CHECK_THAT(confined_shell(refused, c), ContainsSubstring("ermi"));  // EPERM or EACCES
  }
}

TEST_CASE("a confined program starts processes only where it may", "[process]") {
  CHECK(run_confined({"bash", "-c", "echo $BASHPID"}, {}, {}, 60).code == 0);
  CHECK_THAT(run_confined({"bash", "-c", "sleep 0 & echo no"}, {}, {}, 60).output,
             ContainsSubstring("fork"));
  const auto many =
      run_confined({"bash", "-c", "while sleep 60 & do :; done"}, {}, {.most_processes = 50}, 60);
  CHECK(how_it_failed(many, 60) == "started more than 50 processes and was given up");
}

// As a compiler's plugin may start them.
TEST_CASE("what a confined program leaves behind is ended", "[process]") {
  const auto ran = run_confined({"bash", "-c",
                                 "sleep 600 & echo $!; setsid bash -c 'sleep 600 & echo $!; (sleep "
                                 "600 >/dev/null 2>&1 & echo $!)' & wait $!"},
                                {}, {.most_processes = 20}, 60);
  CHECK(how_it_failed(ran, 60) == "ended with code 0");
  std::istringstream left(ran.output);
  int count = 0;
  for (pid_t process = 0; left >> process; ++count) {
    INFO(process);
    CHECK(kill(process, 0) == -1);
  }
  CHECK(count == 3);
}

TEST_CASE("a confined program is given up at its limits", "[process]") {
  const std::string fill = "x=.; while :; do x=$x$x; done";
  const auto one = run_confined({"bash", "-c", fill}, {}, {.data_bytes = 200'000'000}, 60);
  CHECK_THAT(one.output, ContainsSubstring("cannot allocate"));
  const auto all = run_confined({"bash", "-c", "for i in 1 2 3; do (" + fill + ") & done; wait"},
                                {}, {.held_bytes = 200'000'000, .most_processes = 9}, 60);
  CHECK(how_it_failed(all, 60) == "needed more than 0.2 GB of memory and was given up");
  const auto burns =
      run_confined({"bash", "-c", "while :; do :; done"}, {}, {.cpu_seconds = 1}, 60);
  CHECK_THAT(how_it_failed(burns, 60), ContainsSubstring("SIGXCPU"));
  const auto writes = run_confined({"bash", "-c", "head -c 2000000 /dev/zero >$TMPDIR/long"}, {},
                                   {.file_bytes = 1'000'000, .most_processes = 9}, 60);
  CHECK_THAT(writes.output, ContainsSubstring("File size limit exceeded"));
  const auto refused =
      run_confined({"bash", "-c", "head -c 2000000 /dev/zero >$TMPDIR/long"}, {},
                   {.file_bytes = 1'000'000, .longer_writes_fail = true, .most_processes = 9}, 60);
  CHECK_THAT(refused.output, ContainsSubstring("File too large"));
  const auto prints = run_confined({"bash", "-c", "echo begin; printf %099999d; echo end"}, {},
                                   {.kept_output = 100}, 60);
  CHECK_THAT(prints.output, Catch::Matchers::StartsWith("begin\n") &&
                                Catch::Matchers::EndsWith("end\n") &&
                                ContainsSubstring("[99909 bytes are left out]"));
  CHECK(prints.output.size() < 200);
}
