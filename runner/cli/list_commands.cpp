#include "cli/setup.hpp"
#include "core/output.hpp"
#include "core/printable.hpp"
#include "core/verdict.hpp"
#include "devices/devices.hpp"
#include "report/table.hpp"
#include "report/terminal.hpp"

#include "input/invalid.hpp"
#include "input/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace kzoo::cli {
namespace {

using report::style;
using report::table;

// Long enough to load any library; `list` and `describe` run nothing.
constexpr double kLoadSeconds = 30;

// A plugin file with its description, or why there is none.
struct described {
  run::plugin_file file;
  std::optional<results::plugin_description> plugin;
  std::string problem;
};

described load(const run::plugin_file& file, const run::host_factory& make_host) {
  try {
    return {file, make_host(file.file)->open(), ""};
  } catch (const failure& f) {
    return {file, std::nullopt, f.what()};
  }
}

std::string types_of(const results::plugin_description& d) {
  std::set<std::string> types;
  for (const auto& v : d.variants) {
    for (const auto& s : v.signatures) {
      types.insert(types_name(s.dtype));
    }
  }
  return fmt::format("{}", fmt::join(types, " "));
}

std::string variants_of(const results::plugin_description& d) {
  std::vector<std::string> ids;
  for (const auto& v : d.variants) ids.push_back(v.id);
  return fmt::format("{}", fmt::join(ids, " "));
}

}  // namespace

int list(const common_options& options) {
  const run::plugin_discovery plugins = discover_plugins(options);
  if (plugins.files().empty()) {
    print_to(stderr, "error: no plugins found; build them, or name a folder with --plugin-dir\n");
    return kBadInput;
  }
  const bool colour = report::wants_colour(stdout);
  const run::host_factory make_host = hosts_for(options, kLoadSeconds);
  table t;
  t.add_column("plugin", table::align::left);
  t.add_column("device", table::align::left);
  t.add_column("types", table::align::left);
  t.add_column("variants", table::align::left);
  t.add_column("", table::align::left);
  for (const std::string& name : plugins.names()) {
    for (const run::plugin_file& file : plugins.files()) {
      if (file.name != name) continue;
      const described d = load(file, make_host);
      const char* folder_kind = file.kind == 0 ? "?" : devices::kind_name(file.kind);
      if (d.plugin) {
        t.add_row({{name},
                   {devices::kind_name(d.plugin->device)},
                   {types_of(*d.plugin)},
                   {variants_of(*d.plugin)},
                   {d.plugin->summary, style::dim}});
      } else {
        t.add_row({{name},
                   {folder_kind},
                   {},
                   {"unavailable", style::bad},
                   {file.file.string() + ": " + d.problem, style::bad}});
      }
    }
    for (const auto& [missing, kind] : plugins.not_built()) {
      if (missing != name) continue;
      t.add_row(
          {{name},
           {kind == 0 ? "" : devices::kind_name(kind)},
           {},
           {"not built", style::dim},
           {kind == 0 ? "cannot be built here" : fmt::format("./zoo build {} builds it", name),
            style::dim}});
    }
  }
  print_to(stdout, "{}", t.str(colour, ""));
  return kOk;
}

int describe(const describe_options& options) {
  results::experiment named;
  named.plugins = {{options.plugin, {"describe", 0, 0}}};
  named.overridden.build_args = options.build_args;
  const run::plugin_discovery plugins = discover_plugins(options, named, devices::find("auto"));
  const std::string plugin = named.plugins.front().text;
  const bool colour = report::wants_colour(stdout);
  bool any = false, usable = true;
  for (const run::plugin_file& file : plugins.files()) {
    if (file.name != plugin) continue;
    any = true;
    const described d = load(file, hosts_for(options, kLoadSeconds));
    print_to(stdout, "{}\n  file      {}\n", report::styled(plugin, style::bold, colour),
             printable(file.file.string()));
    if (!d.plugin) {
      usable = false;
      print_to(stdout, "  {}: {}\n\n", report::styled("unavailable", style::bad, colour),
               printable(d.problem));
      continue;
    }
    print_to(stdout, "  id        {}\n  device    {}{}\n  summary   {}\n  build     {}\n",
             d.plugin->id, devices::kind_name(d.plugin->device),
             d.plugin->device != KZOO_CPU ? ""
             : d.plugin->native           ? ", native"
                                          : ", simulated",
             d.plugin->summary, d.plugin->build_info);
    table t;
    t.add_column("variant", table::align::left);
    t.add_column("types", table::align::left);
    t.add_column("needs", table::align::left);
    t.add_column("", table::align::left);
    for (const auto& v : d.plugin->variants) {
      std::vector<std::string> types;
      for (const auto& s : v.signatures) {
        types.push_back(fmt::format("{} in {}", types_name(s.dtype), precision_name(s.compute)));
      }
      t.add_row({{v.id},
                 {fmt::format("{}", fmt::join(types, ", "))},
                 {v.compute_capability == 0 ? "" : fmt::format("sm_{}", v.compute_capability)},
                 {v.summary, style::dim}});
    }
    print_to(stdout, "{}\n", t.str(colour));
  }
  for (const auto& [name, kind] : plugins.not_built()) {
    if (any || name != plugin) continue;
    print_to(stderr, "error: {} {}\n", name,
             kind == 0 ? "cannot be built here"
                       : fmt::format("is not built: ./zoo build {} builds it", name));
    return kBadInput;
  }
  if (!any) {
    const std::string near = input::nearest(plugin, plugins.names());
    print_to(stderr, "error: there is no plugin '{}'{}\n  plugins: {}\n", plugin,
             near.empty() ? "" : fmt::format("; did you mean '{}'?", near),
             fmt::join(plugins.names(), ", "));
    return kBadInput;
  }
  return usable ? kOk : kSomeCellFailed;
}

}  // namespace kzoo::cli
