#pragma once
// Where journals are, and which of them belongs to an interrupted run.

#include "storage/journal.hpp"

#include <filesystem>
#include <string>

namespace kzoo::cli {

// Of the current directory: where journals go unless --journal says otherwise.
inline constexpr const char* kResultsFolder = "results";

// "results/2026-11-20T23-41-07_ladder_cuda0.jsonl", or with a number where that is there already.
std::filesystem::path journal_name(const results::document& head);

struct interrupted_run {
  std::filesystem::path file;
  storage::journal_content journal;
};

// The journal `name`; where it is "", the newest under kResultsFolder that has cells left to run,
// of `experiment` unless that is "". Throws experiment::invalid.
interrupted_run find_interrupted(const std::string& name, const std::string& experiment);

}  // namespace kzoo::cli
