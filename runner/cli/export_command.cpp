// `runner export`: tuned kernels as a project that needs no kernel-zoo.

#include "cli/commands.hpp"
#include "cli/output_files.hpp"
#include "compile/exported_project.hpp"
#include "compile/run_compiler.hpp"
#include "input/diagnostics.hpp"
#include "os/assets.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "os/places.hpp"
#include "os/sha256.hpp"
#include "os/text.hpp"
#include "report/page.hpp"
#include "results/plugin.hpp"
#include "storage/documents_json.hpp"
#include "storage/results_json.hpp"

#include <kzoo/type_names.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;
using compile::exported_choice;
using compile::exported_project;
using compile::exported_unit;
using results::tuned;
using results::tuned_kernel;
using results::tuned_plugin;

// Targets of make, words of CMake, and libraries that libNAME.so would replace in the linker.
constexpr std::array<std::string_view, 37> kReserved{
    "all",    "clean",     "help",      "test",     "install", "package", "shared", "static",
    "module", "object",    "interface", "imported", "alias",   "c",       "m",      "dl",
    "rt",     "util",      "pthread",   "resolv",   "gcc",     "gcc_s",   "cuda",   "cudart",
    "kzoo",   "kzoo_blas", "cublas",    "cublaslt", "blas",    "cblas",   "lapack", "openblas",
    "nvrtc",  "cupti",     "curand",    "stdc",     "z"};

bool is_target_name(std::string name) {
  if (!is_c_name(name)) return false;
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kReserved, name) == kReserved.end();
}

const tuned_plugin& plugin_of(const tuned& t, const tuned_kernel& k, const std::string& file) {
  const auto found = std::ranges::find(t.plugins, k.kernel.plugin, &tuned_plugin::name);
  if (found != t.plugins.end()) return *found;
  input::refuse(
      file, "\"plugins\" does not say where {} comes from; export what `runner tune --json` wrote",
      k.kernel.plugin);
}

// Headers in other folders are not copied.
void refuse_folders(const std::string& name, const std::vector<std::string>& options) {
  static const std::regex kFolders(
      "-[IL]|-isystem|-iquote|-include|--(include-path|system-include|pre-include|library-path)");
  for (const std::string& option : options)
    if (std::regex_search(option, kFolders, std::regex_constants::match_continuous))
      input::refuse(name,
                    "is compiled with {}, whose files would not be copied; move them beside the "
                    "source, and tune it again",
                    option);
}

exported_unit of_source(const tuned_plugin& plugin, const tuned_kernel& k) {
  const std::string name = plugin.source.string();
  std::error_code fault;
  if (!fs::exists(plugin.source, fault) && !fault) input::refuse(name, "is not here any more");
  if (plugin.source.extension() == ".toml") {
    input::refuse(
        name,
        "is a manifest of compiled kernels, which have no source; export kernels that are "
        "compiled from one");
  }
  const std::string text = source::read_source(plugin.source, name);
  if (!plugin.source_sha256.empty() && sha256(text) != plugin.source_sha256)
    input::refuse(name, "has changed since it was tuned: tune it again");
  const source::description d = source::describe(plugin.source, name, text);
  if (d.function)
    input::refuse(name,
                  "its kernel is launched by {}, which takes tensors, and only plugins and kernels "
                  "with a description are exported",
                  d.function->name);
  exported_unit unit{
      "", plugin.source, compile::unit_of(d, plugin.source, k.parameters), plugin.build_args,
      "", plugin.missing};
  refuse_folders(name, unit.code.settings.options);
  refuse_folders(name, unit.options);
  return unit;
}

exported_unit of_zoo(const tuned_plugin& plugin) {
  const auto sources = plugin_sources();
  const auto found = sources.find(plugin.name);
  const bool is_authors = results::is_authors({plugin.name, plugin.file, {}, "", ""}, {});
  if (found == sources.end() || is_authors) {
    input::refuse(plugin.file.string(),
                  "is a library, whose source is not known: tune the source, as in `runner tune "
                  "./mine.cu`");
  }
  const fs::path source = fs::canonical(found->second);
  return {
      "", source, {zoo_settings(source), "", {}, {}}, {}, fs::canonical(data_folder() / "plugins")};
}

// The variant's id in a build of its configuration alone, unless it is the only variant.
std::optional<std::string> variant_in_unit(const tuned_kernel& k, const std::string& point) {
  if (point.empty()) return k.kernel.variant;
  const std::size_t end = k.kernel.variant.size() - std::min(k.kernel.variant.size(), point.size());
  if (end == 0) return std::nullopt;
  return k.kernel.variant.substr(0, end - 1);
}

// Whether the exported function calls one kernel for both problems: the first problem's.
bool is_same_call(const problem& x, const problem& y) {
  return x.dtype == y.dtype && x.layout == y.layout && x.m == y.m && x.n == y.n && x.k == y.k &&
         x.batch == y.batch;
}

std::vector<results::tuned_problem> exported_problems(const tuned& t) {
  std::vector<results::tuned_problem> kept;
  for (const results::tuned_problem& each : t.problems) {
    const auto is_known = [&](const auto& other) {
      return is_same_call(each.problem, other.problem);
    };
    if (!each.ranked.empty() && std::ranges::none_of(kept, is_known)) kept.push_back(each);
  }
  return kept;
}

// Reads the output of `runner tune --json`, or the run's journal.
tuned read_outcome(const fs::path& file) {
  const bool is_journal = file.extension() == ".jsonl";
  return is_journal ? results::tuned_of(storage::read(file)) : storage::read_tuned(file);
}

// Removes everything about the machine of the run.
tuned for_others(tuned t) {
  t.host.clear();
  for (tuned_plugin& p : t.plugins) {
    p.file.clear();
    p.source = p.source.filename();
  }
  t.experiment = t.experiment.filename();
  return t;
}

// The GPU's architecture: with its specific instructions if this build has them, else with PTX.
std::vector<std::string> architectures_of(const tuned& t, const compile::recipe& toolchain) {
  std::string name = t.compute_capability;
  std::erase(name, '.');
  const std::string own = name + "a-real";
  return {std::ranges::find(toolchain.architectures, own) != toolchain.architectures.end() ? own
                                                                                           : name};
}

exported_project project_of(const tuned& t, const std::string& file, std::string name) {
  exported_project p{std::move(name), {}, {}, {}};
  std::map<std::pair<std::string, std::string>, std::size_t> known;  // by plugin and configuration
  for (const results::tuned_problem& each : t.problems) {
    const tuned_kernel& best = each.ranked.front();
    if (!each.problem.epilogue.empty())
      input::refuse(file,
                    "{} has an epilogue, and an exported function computes alpha A B + beta C",
                    problem_name(each.problem));
    const tuned_plugin& plugin = plugin_of(t, best, file);
    const std::string point = results::point_name(best.parameters);
    const auto [unit, is_new] = known.try_emplace({plugin.name, point}, p.units.size());
    if (is_new) {
      std::string unit_name = point.empty() ? plugin.name : plugin.name + '_' + point;
      while (std::ranges::count(p.units, unit_name, &exported_unit::name) > 0) unit_name += '_';
      p.units.push_back(plugin.source.empty() ? of_zoo(plugin) : of_source(plugin, best));
      p.units.back().name = std::move(unit_name);
    }
    p.choices.push_back({each.problem, unit->second, variant_in_unit(best, point),
                         best.kernel.name(), best.precision});
  }
  if (p.choices.empty()) {
    input::refuse(file,
                  "has no kernel that was timed, and so none to export; `runner tune` says why");
  }
  return p;
}

// Adds a kernel that takes every size. Its own size is so far from all others that it is asked
// last.
void add_fallback(bool is_cuda, exported_project& p) {
  const kernel_id kernel = is_cuda ? kernel_id{"every_type", "naive"} : kernel_id{"serial", "ijk"};
  constexpr std::int64_t kFarAway = std::int64_t{1} << 60;
  std::vector<exported_choice> added;
  for (const exported_choice& c : p.choices) {
    problem largest = c.problem;
    largest.m = largest.n = largest.k = kFarAway;
    const auto is_known = [&](const exported_choice& a) {
      return is_same_call(a.problem, largest);
    };
    if (std::ranges::none_of(added, is_known))
      added.push_back({largest, p.units.size(), kernel.variant, kernel.name(),
                       usual_precision(largest.dtype.a)});
  }
  tuned_plugin zoo;
  zoo.name = kernel.plugin;
  p.units.push_back(of_zoo(zoo));
  p.units.back().name = "fallback_" + kernel.plugin;
  std::ranges::move(added, std::back_inserter(p.choices));
}

// The text about headers that sources were compiled without.
std::string left_out_text(const exported_project& p) {
  std::string text;
  std::set<fs::path> told;
  for (const exported_unit& u : p.units)
    if (told.insert(u.source).second)
      text += compile::missing_header_notes(u.source.filename().string(), u.missing);
  return text;
}

std::string declarations_of(const exported_project& p) {
  std::string text;
  for (const holes& each : compile::exported_functions(p))
    text += each.texts.at("declaration") + ";\n";
  return text;
}

std::string readme_of(const tuned& t, const exported_project& p, bool is_cuda) {
  report::table kernels;
  constexpr auto kLeft = report::table::align::left;
  for (const results::tuned_problem& each : t.problems) {
    const tuned_kernel& best = each.ranked.front();
    kernels.add_entries({{"problem", problem_name(each.problem), kLeft},
                         {"kernel", best.kernel.name(), kLeft},
                         {"computes in", std::string(precision_name(best.precision)), kLeft},
                         {"time", time_text(best.median_ms)},
                         {t.baseline ? "speedup over " + *t.baseline : "",
                          best.speedup ? fmt::format("{:.3f}", best.speedup->value) : ""}});
  }
  return filled("export/README.md", {{{"name", p.name},
                                      {"cuda", is_cuda ? "yes" : ""},
                                      {"version", t.version},
                                      {"device", t.device.name},
                                      {"compute_capability", t.compute_capability},
                                      {"started", t.started},
                                      {"tier", std::string(name_of(t.tier))},
                                      {"kernels", kernels.markdown()},
                                      {"functions", declarations_of(p)},
                                      {"left_out", left_out_text(p)}}});
}

}  // namespace

int export_kernels(const export_options& options) {
  const fs::path folder = fs::path(options.out).lexically_normal();
  const std::string name =
      (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  if (!is_target_name(name)) {
    input::refuse("--out",
                  "the functions and the target of CMake are named after the folder: expected "
                  "letters, digits and '_', and neither a word such as 'test' nor a library's name "
                  "such as 'm', found {}",
                  input::in_quotes(name));
  }
  require_new_folder(folder);
  tuned t = read_outcome(options.file);
  t.problems = exported_problems(t);
  const bool is_cuda = t.device.id.starts_with("cuda");
  const compile::recipe toolchain = compile::read_recipe(recipe_folder(), is_cuda ? "cuda" : "cpu");
  exported_project p = project_of(t, options.file, name);
  if (options.fallback) add_fallback(is_cuda, p);
  if (is_cuda) p.architectures = architectures_of(t, toolchain);
  file_texts files = compile::exported_files(p, toolchain, data_folder() / "manifest");
  source::add_text("README.md", readme_of(t, p, is_cuda), files);
  source::add_text("tuned.json", storage::to_text(for_others(t)), files);
  source::add_text("LICENSE.kernel-zoo", input::read_file(data_folder() / "LICENSE"), files);
  write_folder(folder, files);
  print_to(stderr, "{}", left_out_text(p));
  print_to(stdout,
           "{}{}: {}; for other sizes than its own a call gets that of the most similar problem\n"
           "  make -C {}\n",
           declarations_of(p), folder.string(), counted(p.units.size(), "kernel"),
           shell_word(folder));
  return kOk;
}

}  // namespace kzoo::cli
