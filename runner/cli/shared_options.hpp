#pragma once

#include "cli/commands.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kzoo::cli {

// An option whose value the help calls `value`.
template <class T>
CLI::Option* add_value(CLI::App& app, const char* flag, T& out, const char* value,
                       const char* help) {
  return app.add_option(flag, out, help)->type_name(value);
}
// An empty value counts as none.
inline CLI::Option* add_value(CLI::App& app, const char* flag, std::optional<std::string>& out,
                              const char* value, const char* help) {
  const auto set = [&out](const std::string& given) {
    if (!given.empty()) out = given;
  };
  return app.add_option_function<std::string>(flag, set, help)->type_name(value);
}
// For output other than the command's tables.
void add_file(CLI::App& app, const char* flag, std::string& name, const char* help);
void add_words(CLI::App& app, const char* flag, std::vector<std::string>& words, const char* help);

void add_build_args(CLI::App& app, std::vector<std::string>& build_args);
void add_plugin_folders(CLI::App& app, common_options& o);
void add_common(CLI::App& app, common_options& o);
// Returns FILE.
CLI::Option* add_experiment(CLI::App& app, experiment_options& o, const char* name = "FILE",
                            const char* help = "Experiment file; also looked up under configs/");
// The simulator of each worker reads the setting.
void add_schedule(CLI::App& app);
void add_tier(CLI::App& app, experiment_options& o);
void add_cells(CLI::App& app, std::vector<std::string>& cells);
void add_show_errors(CLI::App& app, bool& show_errors);
void add_shown(CLI::App& app, report::shown_options& shown);
void add_output(CLI::App& app, output_options& o);
CLI::Option* add_trust_folders(CLI::App& app, bool& trust);

}  // namespace kzoo::cli
