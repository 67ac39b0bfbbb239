#include "cli/journals.hpp"

#include "core/printable.hpp"
#include "input/diagnostics.hpp"
#include "input/read_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

interrupted_run open_journal(const fs::path& file) {
  constexpr input::file_kind kJournal{"a journal", ".jsonl", 1024};
  const std::string text = input::read_file(file, kJournal);
  if (!storage::is_journal(text)) {
    throw input::invalid(input::error_text(file.string(), "is not the journal of a run"));
  }
  return {file, storage::read_journal(text, file.string())};
}

// The journals' names begin with the date.
std::vector<fs::path> newest_first() {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kResultsFolder, ignored)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::ranges::sort(files, std::ranges::greater{});
  return files;
}

}  // namespace

fs::path journal_name(const results::document& head) {
  std::string when = head.started,
              device = head.devices.size() > 1 ? head.experiment.device : head.device.id;
  std::erase(when, 'Z');
  std::erase(device, ':');
  const std::string name =
      fmt::format("{}/{}_{}_{}", kResultsFolder, file_name_from(when),
                  file_name_from(head.experiment.file.stem().string()), device);
  fs::path file = name + ".jsonl";
  for (int i = 2; fs::exists(file); ++i) file = fmt::format("{}_{}.jsonl", name, i);
  return file;
}

interrupted_run find_interrupted(const std::string& name, const std::string& experiment) {
  if (!name.empty()) return open_journal(name);
  const std::string wanted = fs::path(experiment).stem().string();
  for (const fs::path& file : newest_first()) {
    try {
      interrupted_run found = open_journal(file);
      const results::document& d = found.journal.results;
      if (!d.complete() && (wanted.empty() || d.experiment.file.stem() == wanted)) return found;
    } catch (const input::invalid&) {
      // Not a journal, although it ends in .jsonl.
    }
  }
  throw input::invalid(
      fmt::format("--resume: error: {}/ here has no journal of an interrupted run{}; name one",
                  kResultsFolder, wanted.empty() ? "" : " of " + wanted));
}

}  // namespace kzoo::cli
