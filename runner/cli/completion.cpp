// Completions that a shell offers for a word of the command line.

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "core/kernel_name.hpp"
#include "core/problem.hpp"
#include "experiment/load.hpp"
#include "os/files.hpp"
#include "os/places.hpp"
#include "setup/plan.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;
using word_list = std::vector<std::string>;

constexpr double kLoadVariantsSeconds = 5;

// The words of a line as a shell splits it. The last word, at the cursor, may be "".
word_list split_line(std::string_view line) {
  word_list all(1);
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && (c == ' ' || c == '\t')) {
      if (!all.back().empty()) all.emplace_back();
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      all.back() += line[++i];
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      all.back() += c;
    }
  }
  return all;
}

// Offers folders, and files with a suffix, in the folder of the typed word.
void offer_files(word_list& found, const std::string& typed,
                 std::initializer_list<const char*> suffixes) {
  const std::string folder = typed.substr(0, typed.rfind('/') + 1);
  std::error_code ignored;
  for (const fs::path& path : paths_in(folder.empty() ? "." : folder)) {
    const std::string name = folder + path.filename().string();
    if (fs::is_directory(path, ignored))
      found.push_back(name + '/');
    else if (std::ranges::any_of(suffixes, [&](const char* s) { return name.ends_with(s); }))
      found.push_back(name);
  }
}

void offer_plugins(word_list& found, const std::string& typed, const common_options& options) {
  if (typed.find('/') != std::string::npos || typed.starts_with('.'))
    return offer_files(found, typed, {".cu", ".cpp", ".so", ".toml"});
  const run::plugin_discovery plugins = setup::discover_plugins(options);
  const std::size_t colon = typed.find(':');
  for (const run::plugin_file& file : plugins.files()) {
    if (colon == std::string::npos) {
      found.push_back(file.name);
    } else if (file.name == typed.substr(0, colon)) {
      const auto plugin = setup::clients_for(options, kLoadVariantsSeconds)(file.file)->open();
      for (const auto& v : plugin.variants) found.push_back(file.name + ':' + v.id);
    }
  }
  if (colon == std::string::npos) offer_files(found, typed, {".cu", ".cpp", ".so"});
}

// Offers values of the option or positional argument, if they are known.
void offer_values(word_list& found, const CLI::Option& argument, const std::string& typed,
                  const common_options& options, const option_values& values) {
  const std::string option = argument.get_single_name();
  if (option == "plugins" || option == "cell" || option == "PLUGIN" || option == "baseline") {
    offer_plugins(found, typed, options);
  } else if (option == "FILE") {
    found = experiment::known_experiments(config_path());
    offer_files(found, typed, {".toml"});
  } else if (option == "SOURCE_OR_FILE") {
    found = experiment::known_experiments(config_path());
    offer_files(found, typed, {".toml", ".cu", ".cpp"});
  } else if (option == "RESULT" || option == "resume") {
    offer_files(found, typed, {".json", ".jsonl"});
    if (typed.find('/') == std::string::npos) offer_files(found, "results/", {".json", ".jsonl"});
  } else if (option == "out") {
    offer_files(found, typed, {});
  } else if (option == "SOURCE") {
    offer_files(found, typed, {".cu", ".cpp"});
  } else if (option == "dtype") {
    for (const element_types& t : kElementTypes) found.push_back(types_name(t));
  } else if (option == "from") {
    for (const auto& [name, source] : plugin_sources()) found.push_back(name);
  } else if (const auto own = values.find(&argument); own != values.end()) {
    found = own->second;
    std::ranges::replace(found, "cuda:N", "cuda:0");
  }
}

// Options of the app and of its groups.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  const auto own = app.get_options([](const CLI::Option*) { return true; });
  std::vector<const CLI::Option*> all(own.begin(), own.end());
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!group->get_name().empty()) continue;
    const auto more = options_of(*group);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

bool takes_value(const CLI::Option& o) { return o.get_type_size_max() > 0; }

const CLI::Option* option_called(const CLI::App& app, const std::string& word) {
  return word.starts_with("-") ? app.get_option_no_throw(word) : nullptr;
}

// The argument at the cursor: an option's value or a positional argument.
const CLI::Option* argument_at_cursor(const CLI::App& app, const word_list& given) {
  std::size_t before = 0;
  for (std::size_t i = 0; i + 1 < given.size(); ++i) {
    const CLI::Option* option = option_called(app, given[i]);
    if (option != nullptr && takes_value(*option)) {
      if (i + 2 == given.size()) return option;
      ++i;
    } else if (!given[i].starts_with("-")) {
      ++before;
    }
  }
  for (const CLI::Option* o : options_of(app)) {
    if (!o->get_positional()) continue;
    const auto most = static_cast<std::size_t>(std::max(1, o->get_items_expected_max()));
    if (before < most) return o;
    before -= most;
  }
  return nullptr;
}

// Needs no quotes in a shell.
bool is_plain(const std::string& word) { return is_identifier(word, ",:/=@+~"); }

// Keeps words that begin with the typed word, and puts the kept text in front of them.
word_list matching(word_list found, const std::string& kept, const std::string& typed) {
  std::erase_if(found, [&](const std::string& w) { return !w.starts_with(typed) || !is_plain(w); });
  for (std::string& w : found) w.insert(0, kept);
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

}  // namespace

word_list completions(const CLI::App& runner, const option_values& values, std::string_view line) {
  word_list given = split_line(line);
  if (given.size() < 2) return {};
  given.erase(given.begin());
  const auto commands = runner.get_subcommands([](const CLI::App*) { return true; });
  const auto named = [&](const std::string& name) {
    const auto at = std::ranges::find(commands, name, &CLI::App::get_name);
    return at == commands.end() ? nullptr : *at;
  };
  const bool is_first = given.size() == 1;
  std::string typed = given.back();
  word_list words;
  const CLI::App* app = is_first ? nullptr : named(given.front());
  if (app != nullptr) given.erase(given.begin());
  if (app == nullptr) app = named("run");  // `runner FILE`
  if (is_first)
    for (const CLI::App* c : commands) words.push_back(c->get_name());

  common_options options;
  for (std::size_t i = 0; i + 2 < given.size(); ++i)
    if (given[i] == "--plugin-dir") options.plugin_folders.push_back(given[i + 1]);

  std::string kept;
  const CLI::Option* argument = argument_at_cursor(*app, given);
  const std::size_t equals = typed.find('=');
  if (typed.starts_with("--") && equals != std::string::npos) {
    argument = option_called(*app, typed.substr(0, equals));
    kept = typed.substr(0, equals + 1);
    typed.erase(0, equals + 1);
  } else if (typed.starts_with("-")) {
    for (const CLI::Option* o : options_of(is_first ? runner : *app))
      for (const std::string& name : o->get_lnames()) words.push_back("--" + name);
    return matching(std::move(words), "", typed);
  }
  if (argument == nullptr) return matching(std::move(words), kept, typed);
  if (const std::size_t comma = typed.rfind(','); comma != std::string::npos) {
    kept += typed.substr(0, comma + 1);
    typed.erase(0, comma + 1);
  }
  word_list offered;
  offer_values(offered, *argument, typed, options, values);
  words.insert(words.end(), offered.begin(), offered.end());
  return matching(std::move(words), kept, typed);
}

}  // namespace kzoo::cli
