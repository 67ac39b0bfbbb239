#pragma once
// A Slurm of its own on this machine, with three nodes (slurm_cluster.sh). The programs of Slurm
// use it as long as the object lives.

#include "support/program.hpp"

#include <string>

namespace kzoo::test {

class slurm_cluster {
 public:
  // Skips the test where Slurm is missing, or does not start.
  slurm_cluster();
  ~slurm_cluster();

  // What a command prints.
  static std::string ask(const std::string& command);
  // Kills a node's slurmd, and the slurmstepd above a process on it, which runs on. Slurm then
  // takes the node for lost.
  void lose_node_of(int pid) const;

 private:
  scratch_folder folder_;
  environment config_;
};

}  // namespace kzoo::test
