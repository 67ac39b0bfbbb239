#pragma once
// How far the shards of an experiment are, from their journals and from Slurm.

#include "cluster/slurm.hpp"
#include "cluster/submission.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::cluster {

// `failed`: it has ended, and cells are missing. `unknown`: it is not finished, and Slurm cannot be
// asked.
enum class progress { done, running, queued, failed, unknown };
inline constexpr std::array kProgress{progress::done, progress::running, progress::queued,
                                      progress::failed, progress::unknown};
std::string_view progress_name(progress p);

struct shard_status {
  cluster::progress progress{};
  std::size_t cells = 0, planned = 0;  // planned 0: there is no journal yet
  std::string node;
  std::string why;  // what Slurm says, and how the log ends where it has failed
};

// One for each shard.
std::vector<shard_status> status_of(const submission& s, const known_job& known);

}  // namespace kzoo::cluster
