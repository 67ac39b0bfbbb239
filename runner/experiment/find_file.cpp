#include "experiment/find_file.hpp"

#include "input/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kzoo::experiment {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> spellings(const fs::path& name) {
  if (name.extension() == ".toml") return {name};
  return {name, fs::path(name) += ".toml"};
}

std::vector<fs::path> places(const fs::path& name, const std::vector<fs::path>& config_path) {
  std::vector<fs::path> result = spellings(name);
  if (name.is_absolute()) return result;
  for (const fs::path& folder : config_path)
    for (const fs::path& base : {folder, folder / "experiments"})
      for (const fs::path& spelling : spellings(name)) result.push_back(base / spelling);
  return result;
}

}  // namespace

std::vector<std::string> known_experiments(const std::vector<fs::path>& config_path) {
  std::vector<std::string> result;
  for (const fs::path& folder : config_path) {
    std::error_code fault;
    for (fs::directory_iterator at(folder / "experiments", fault), end; !fault && at != end;
         at.increment(fault))
      if (at->path().extension() == ".toml") result.push_back(at->path().stem().string());
  }
  std::ranges::sort(result);
  result.erase(std::ranges::unique(result).begin(), result.end());
  return result;
}

fs::path find_file(const std::string& name, const std::vector<fs::path>& config_path) {
  if (name.empty()) input::refuse("", "the name of the experiment file is empty");
  std::string looked;
  for (const fs::path& place : places(name, config_path)) {
    std::error_code fault;
    const fs::file_status status = fs::status(place, fault);
    if (fs::exists(status) && !fs::is_directory(status)) return place;
    std::string note;
    if (fs::is_directory(status))
      note = " (a directory)";
    else if (fault && status.type() != fs::file_type::not_found)
      note = fmt::format(" ({})", fault.message());
    looked += fmt::format("\n  {}{}", place.string(), note);
  }
  const std::vector<std::string> known = known_experiments(config_path);
  const std::string close = input::nearest(fs::path(name).stem().string(), known);
  std::string hint;
  if (!close.empty())
    hint = fmt::format("\ndid you mean 'experiments/{}.toml'?", close);
  else if (!known.empty())
    hint = fmt::format("\navailable experiments: {}", fmt::join(known, ", "));
  input::refuse(name, fmt::format("there is no such experiment file; looked at{}{}", looked, hint));
}

}  // namespace kzoo::experiment
