#include "cli/commands.hpp"

#include "core/kernel_name.hpp"
#include "input/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace kzoo::cli {
namespace {

// For sources, with the problems of the command line.
constexpr const char* kExperiment = "tune";

// "60s", "1.5h", "90" seconds.
double seconds_in(std::string_view text) {
  double number = 0;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(stop - text.data()));
  const double factor = unit == "h" ? 3600 : unit == "m" ? 60 : unit.empty() || unit == "s" ? 1 : 0;
  constexpr double kMost = 1e7;
  if (fault != std::errc{} || !(number * factor > 0 && number * factor < kMost)) {
    input::refuse("--budget",
                  fmt::format("expected a time such as 60s, 5m or 1.5h, more than 0 and "
                              "less than {:.0f} s, found {}",
                              kMost, input::in_quotes(text)));
  }
  return number * factor;
}

// Whether it names a plugin and not an experiment.
bool is_source(const std::string& name) {
  const auto file = as_file(name);
  return file && !file->path.ends_with(".toml") &&
         (!file->variant.empty() || std::filesystem::is_directory(file->path) ||
          std::filesystem::path(file->path).has_extension());
}

// Names a kernel by its plugin's source: "./mine.cu:BM64" for "mine:BM64".
std::string by_source(const std::string& kernel, const std::vector<std::string>& plugins) {
  if (as_file(kernel)) return kernel;
  const std::size_t end = std::min(kernel.find(':'), kernel.size());
  for (const std::string& plugin : plugins) {
    const auto file = as_file(plugin);
    if (!file || std::filesystem::is_directory(file->path)) continue;
    if (std::filesystem::path(file->path).stem() == kernel.substr(0, end))
      return file->path + kernel.substr(end);
  }
  return kernel;
}

}  // namespace

run_options tuning_run(const tune_options& given) {
  run_options options = given;
  results::overrides& over = options.over;
  over.tune = true;
  if (!given.budget.empty()) over.budget_seconds = seconds_in(given.budget);
  if (is_source(given.file)) {
    if (over.sizes.empty() && !given.resume) {
      input::refuse("--sizes",
                    fmt::format("which problems is {} to be tuned for? Name their sizes, "
                                "such as --sizes 1024,4096x11008x4096",
                                given.file));
    }
    over.plugins.insert(over.plugins.begin(), given.file);
    options.file = kExperiment;
  }
  if (!over.baseline) return options;
  over.baseline = by_source(*over.baseline, over.plugins);
  // A baseline must run to be compared with.
  if (!over.plugins.empty() && std::ranges::count(over.plugins, *over.baseline) == 0)
    over.plugins.push_back(*over.baseline);
  return options;
}

int tune(const tune_options& options) { return run(tuning_run(options)); }

}  // namespace kzoo::cli
