#include "setup/options.hpp"

#include "core/kernel_name.hpp"
#include "experiment/load.hpp"
#include "os/places.hpp"

#include <algorithm>
#include <filesystem>

namespace kzoo::setup {

std::string stored_name(const std::string& name) {
  const auto file = as_file(name);
  if (!file) return name;
  return std::filesystem::absolute(file->path).lexically_normal().string() +
         (file->variant.empty() ? "" : ':' + file->variant);
}

results::overrides overrides_of(const common_options& common, const experiment_options& options) {
  results::overrides over = options.over;
  over.build_args = common.build_args;
  std::ranges::transform(over.plugins, over.plugins.begin(), stored_name);
  if (over.baseline) over.baseline = stored_name(*over.baseline);
  return over;
}

results::experiment load_experiment(const common_options& common,
                                    const experiment_options& options) {
  return experiment::load(experiment::find_file(options.file, config_path()),
                          overrides_of(common, options));
}

}  // namespace kzoo::setup
