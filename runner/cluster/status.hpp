#pragma once
// The progress of an experiment's shards, from their journals and Slurm.

#include "cluster/slurm.hpp"
#include "cluster/submission.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::cluster {

// `failed`: it has ended, and cells are missing. `unknown`: unfinished, and Slurm cannot be asked.
enum class progress { done, running, queued, failed, unknown };
inline constexpr std::array kProgress{progress::done, progress::running, progress::queued,
                                      progress::failed, progress::unknown};
std::string_view progress_name(progress p);

struct shard_status {
  cluster::progress progress{};
  std::size_t cells = 0, planned = 0;  // planned 0: there is no journal yet
  std::string node;
  std::string why;  // Slurm's reason, and the end of a failed shard's log
};

std::vector<shard_status> status_of(const submission& s, const known_job& known);

}  // namespace kzoo::cluster
