#include "cli/command_line.hpp"
#include "compile/run_compiler.hpp"
#include "microbenchmarks/measure.hpp"
#include "profile/ncu.hpp"
#include "ranks/dispatch.hpp"
#include "setup/plan.hpp"
#include "worker/worker.hpp"
#include "xray/analysis.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace {

// If the caller closed stdin, stdout or stderr, no socket or shared memory may get its number.
void fill_standard_descriptors() {
  int fd = 0;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO) close(fd);
}

int compile_for_caller(int argc, char** argv) try {
  return kzoo::compile::compiler_main(argv[2], {argv + 3, argv + argc});
} catch (const std::exception& fault) {
  std::fprintf(stderr, "error: %s\n", fault.what());
  return kzoo::cli::exit_code_of(fault);
}

// KZOO_CALLER: the process without which nobody would read the outcome.
void end_with_caller() {
  const char* caller = std::getenv("KZOO_CALLER");
  if (caller == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (std::to_string(getppid()) != caller) std::raise(SIGTERM);
  unsetenv("KZOO_CALLER");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == kzoo::worker::kWorkerCommand)
    return kzoo::worker::worker_main(argc > 2 ? argv[2] : "");
  fill_standard_descriptors();
  if (argc > 2 && argv[1] == kzoo::microbenchmarks::kProductsCommand)
    return kzoo::microbenchmarks::time_products(argv[2]);
  if (argc > 2 && argv[1] == kzoo::profile::kProfiledCommand)
    return kzoo::profile::profiled_main(argv[2]);
  if (argc > 2 && argv[1] == kzoo::xray::kAnalysedCommand)
    return kzoo::xray::analysed_main(argv[2]);
  end_with_caller();
  std::signal(SIGCHLD, SIG_DFL);  // if inherited as ignored, workers' exit statuses would be lost
  if (argc > 1 && argv[1] == kzoo::ranks::kRankCommand)
    return kzoo::ranks::rank_main(kzoo::setup::plan_of_rank);
  if (argc > 3 && argv[1] == kzoo::compile::kCompilerCommand) return compile_for_caller(argc, argv);
  const int code = kzoo::cli::command_line(argc, argv);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("error: the output could not be written\n", stderr);
    return code == 0 ? kzoo::cli::kNotWritten : code;
  }
  return code;
}
