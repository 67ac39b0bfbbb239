#include "cli/earlier_result.hpp"

#include "compare/compare.hpp"
#include "input/diagnostics.hpp"
#include "storage/read.hpp"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRead = 20;  // a journal may take a second to read

std::vector<fs::path> last_written_beside(const fs::path& file) {
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  std::error_code fault;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
    std::error_code ignored;
    const fs::path& other = at->path();
    const bool named = other.extension() == ".json" || other.extension() == ".jsonl";
    if (!named || !at->is_regular_file(ignored) || fs::equivalent(other, file, ignored)) continue;
    all.emplace_back(at->last_write_time(ignored), other);
  }
  std::ranges::sort(all, std::ranges::greater{});
  std::vector<fs::path> files;
  for (std::size_t i = 0; i < std::min(all.size(), kMostRead); ++i) files.push_back(all[i].second);
  return files;
}

bool has_run_before(const results::document& then, const results::document& now,
                    const std::string& plugin) {
  if (then.started >= now.started || !compare::incomparable(then, now).empty()) return false;
  const compare::comparison both = compare::compare(then, now, 0);
  return std::ranges::any_of(both.pairs, [&](const compare::pair& p) {
    return p.before != nullptr && p.after != nullptr && p.after->kernel.plugin == plugin;
  });
}

}  // namespace

std::optional<earlier_result> find_earlier(const fs::path& file, const results::document& now,
                                           const std::string& plugin) {
  std::optional<earlier_result> newest;
  for (const fs::path& other : last_written_beside(file)) {
    try {
      results::document then = storage::read(other);
      if (newest && then.started <= newest->results.started) continue;
      if (has_run_before(then, now, plugin)) newest = {other, std::move(then)};
    } catch (const input::invalid&) {
      // Only its name suggests a result.
    }
  }
  return newest;
}

}  // namespace kzoo::cli
