#pragma once
// A private Slurm with three nodes (slurm_cluster.sh), for Slurm's programs while this lives.

#include "support/program.hpp"

#include <string>

namespace kzoo::test {

class slurm_cluster {
 public:
  // Skips the test if Slurm is missing or does not start.
  slurm_cluster();
  ~slurm_cluster();

  // The output of a command.
  static std::string ask(const std::string& command);
  // Kills a node's slurmd and the process's slurmstepd, but not the process. The node is then lost.
  void lose_node_of(int pid) const;

 private:
  scratch_folder folder_;
  environment config_;
};

}  // namespace kzoo::test
