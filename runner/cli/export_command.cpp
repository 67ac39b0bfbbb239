// `runner export`: the kernels that tuning found as a project that needs nothing of this one.

#include "cli/commands.hpp"
#include "cli/new_folder.hpp"
#include "cli/zoo_settings.hpp"
#include "compile/exported_project.hpp"
#include "input/diagnostics.hpp"
#include "input/read_file.hpp"
#include "os/number_text.hpp"
#include "os/output.hpp"
#include "os/printable.hpp"
#include "os/sha256.hpp"
#include "report/table.hpp"
#include "results/plugin.hpp"
#include "storage/tuned_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <system_error>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;
using compile::exported_choice;
using compile::exported_project;
using compile::exported_unit;
using results::tuned;
using results::tuned_kernel;
using results::tuned_plugin;

bool is_c_name(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::ranges::all_of(name,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

const tuned_plugin& plugin_of(const tuned& t, const tuned_kernel& k, const std::string& file) {
  const auto found = std::ranges::find(t.plugins, k.kernel.plugin, &tuned_plugin::name);
  if (found != t.plugins.end()) return *found;
  input::refuse(file, fmt::format("\"plugins\" does not say where {} comes from; export what "
                                  "`runner tune --json` wrote",
                                  k.kernel.plugin));
}

// The unit of a plugin that was compiled from a source of the user's.
exported_unit of_source(const tuned_plugin& plugin, const tuned_kernel& k) {
  const std::string name = plugin.source.string();
  std::error_code fault;
  if (!fs::exists(plugin.source, fault)) input::refuse(name, "is not here any more");
  if (plugin.source.extension() == ".toml") {
    input::refuse(
        name,
        "is a manifest of compiled kernels, which have no source; export kernels that are "
        "compiled from one");
  }
  if (!plugin.source_sha256.empty() && sha256_of(plugin.source) != plugin.source_sha256)
    input::refuse(name, "has changed since it was tuned: tune it again");
  const std::string text = compile::read_source(plugin.source, name);
  const compile::description d = compile::describe(plugin.source, name, text);
  return {"",
          plugin.source,
          k.parameters,
          compile::unit_of(d, plugin.source, k.parameters),
          plugin.build_args,
          ""};
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
  return {"", source,
          {}, {zoo_settings(source), {}, ""},
          {}, fs::canonical(source_folder() / "plugins")};
}

// The variant in the build of its point alone. "": the only one.
std::string variant_in_unit(const tuned_kernel& k, const std::string& point) {
  if (point.empty()) return k.kernel.variant;
  const std::size_t end = k.kernel.variant.size() - std::min(k.kernel.variant.size(), point.size());
  return end > 0 ? k.kernel.variant.substr(0, end - 1) : "";
}

exported_project project_of(const tuned& t, const std::string& file, std::string name) {
  exported_project p{std::move(name), {}, {}};
  for (const results::tuned_problem& of : t.problems) {
    if (of.ranked.empty()) continue;
    const tuned_kernel& best = of.ranked.front();
    const tuned_plugin& plugin = plugin_of(t, best, file);
    const std::string point = results::point_name(best.parameters);
    const std::string unit = point.empty() ? plugin.name : plugin.name + '_' + point;
    auto known = std::ranges::find(p.units, unit, &exported_unit::name);
    if (known == p.units.end()) {
      p.units.push_back(plugin.source.empty() ? of_zoo(plugin) : of_source(plugin, best));
      p.units.back().name = unit;
      known = std::prev(p.units.end());
    }
    p.choices.push_back({of.problem, static_cast<std::size_t>(known - p.units.begin()),
                         variant_in_unit(best, point)});
  }
  if (p.choices.empty()) {
    input::refuse(file,
                  "has no kernel that was timed, and so none to export; `runner tune` says why");
  }
  return p;
}

std::string readme_of(const tuned& t, const exported_project& p, bool is_cuda) {
  report::table kernels;
  kernels.add_columns({"problem", "kernel", "computes in"}, report::table::align::left);
  kernels.add_column("time");
  kernels.add_column(t.baseline ? "speedup over " + *t.baseline : "");
  for (const results::tuned_problem& of : t.problems) {
    if (of.ranked.empty()) continue;
    const tuned_kernel& best = of.ranked.front();
    kernels.add_row({{problem_name(of.problem)},
                     {best.kernel.name()},
                     {std::string(precision_name(best.precision))},
                     {time_text(best.median_ms)},
                     {best.speedup ? fmt::format("{:.3f}", best.speedup->value) : ""}});
  }
  return fmt::format(
      "# {0}\n\nThe fastest kernel for each of these problems, as `runner tune` of kernel-zoo {1} found "
      "on {2}\n({3}) on {4}. Each passed the checks of tier `{5}` there, and every timed run was "
      "judged.\n\n{6}\n"
      "`make` builds `lib{0}.so`{7}; `CMakeLists.txt` has the target `{0}`. `{0}.h` "
      "declares:\n\n```c\n{8}\n```\n\n"
      "A call gets the kernel of the problem in the table that is most similar, by the logarithms of "
      "its sizes; if\nthat declines, the next one's. Other sizes are computed right, and were not "
      "timed.\n\n"
      "{9}The folders `include`, `manifest` and `zoo`, as far as they are here, are from kernel-zoo, "
      "under the licence in\n`LICENSE`; sources in `kernels` are their authors'. `tuned.json` is the "
      "tuning's outcome.\n",
      p.name, t.version, t.device.name,
      t.compute_capability.empty() ? "cpu" : "compute capability " + t.compute_capability,
      t.started, tier_name(t.tier), kernels.markdown(), is_cuda ? ", with nvcc alone" : "",
      fmt::join(compile::exported_functions(p), "\n"),
      is_cuda
          ? "In a CUDA graph capture, make the same call on the same stream once before: the first "
            "one prepares the\nkernel. Workspaces are allocated in the order of the stream.\n\n"
          : "");
}

}  // namespace

int export_kernels(const export_options& options) {
  const fs::path folder = fs::path(options.out).lexically_normal();
  const std::string name =
      (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  if (!is_c_name(name)) {
    input::refuse("--out",
                  fmt::format("the functions are named after the folder: expected letters, digits "
                              "and '_', found {}",
                              input::in_quotes(name)));
  }
  require_new_folder(folder);
  const tuned t = storage::read_tuned(options.file);
  const exported_project p = project_of(t, options.file, name);
  const bool is_cuda = t.device.id.starts_with("cuda");
  const compile::recipe how = compile::read_recipe(recipe_folder(), is_cuda ? "cuda" : "cpu");
  file_texts files = compile::exported_files(p, how, source_folder() / "manifest");
  files["README.md"] = readme_of(t, p, is_cuda);
  files["tuned.json"] = storage::to_text(t);
  files["LICENSE"] = input::read_file(source_folder() / "LICENSE");
  write_folder(folder, files);
  const std::string functions = fmt::format("{}", fmt::join(compile::exported_functions(p), "\n"));
  print_to(stdout, "{}\n{}: {} {}; a call gets that of the most similar problem\n  make -C {}\n",
           functions, folder.string(), p.units.size(), p.units.size() == 1 ? "kernel" : "kernels",
           shell_word(folder));
  return kOk;
}

}  // namespace kzoo::cli
