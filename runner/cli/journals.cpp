#include "cli/journals.hpp"

#include "input/diagnostics.hpp"
#include "os/printable.hpp"
#include "storage/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

// In the current directory: where journals are written without --journal.
constexpr const char* kResultsFolder = "results";

// The journals' names begin with the date.
std::vector<fs::path> newest_first() {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kResultsFolder, ignored))
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  std::ranges::sort(files, std::ranges::greater{});
  return files;
}

}  // namespace

fs::path journal_name(const results::document& head) {
  std::string when = head.started,
              device = head.devices.size() > 1 ? head.experiment.device : head.device.id;
  std::erase(when, 'Z');
  std::erase(device, ':');
  return fmt::format("{}/{}_{}_{}", kResultsFolder, file_name_from(when),
                     file_name_from(head.experiment.file.stem().string()), device);
}

fs::path find_interrupted(const std::string& name, const std::string& experiment) {
  if (!name.empty()) return name;
  const std::string wanted = fs::path(experiment).stem().string();
  for (const fs::path& file : newest_first()) {
    try {
      const results::document d = storage::read_journal_file(file).results;
      if (!d.complete() && (wanted.empty() || d.experiment.file.stem() == wanted)) return file;
    } catch (const input::invalid&) {
      // Not a journal, although it ends in .jsonl.
    }
  }
  input::refuse("--resume", fmt::format("{}/ here has no journal of an interrupted run{}; name one",
                                        kResultsFolder, wanted.empty() ? "" : " of " + wanted));
}

}  // namespace kzoo::cli
