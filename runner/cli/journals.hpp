#pragma once
// Names new journals, and finds the journal of an interrupted run.

#include "storage/journal.hpp"

#include <filesystem>
#include <string>

namespace kzoo::cli {

// "results/2026-11-20T23-41-07_ladder_cuda0", for journal::create_numbered().
std::filesystem::path journal_name(const results::document& head);

// The journal `name`; if "", the newest unfinished journal in results/, of `experiment` unless "".
// Throws input::invalid.
std::filesystem::path find_interrupted(const std::string& name, const std::string& experiment);

}  // namespace kzoo::cli
