#include "cli/command_line.hpp"
#include "workers/worker.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == kzoo::workers::kWorkerCommand) return kzoo::workers::worker_main();
  return kzoo::cli::command_line(argc, argv);
}
