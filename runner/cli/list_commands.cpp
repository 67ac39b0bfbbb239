#include "cli/commands.hpp"
#include "core/verdict.hpp"
#include "devices/devices.hpp"
#include "devices/nvml.hpp"
#include "experiment/names.hpp"
#include "input/diagnostics.hpp"
#include "os/output.hpp"
#include "os/text.hpp"
#include "report/page.hpp"
#include "report/terminal.hpp"
#include "results/experiment.hpp"
#include "roofline/roofline.hpp"
#include "setup/peaks.hpp"
#include "setup/plan.hpp"
#include "storage/documents_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace kzoo::cli {
namespace {

using report::style;
using report::table;
constexpr auto kLeft = table::align::left, kText = table::align::text;

// Long enough to load any library; `list` and `describe` run nothing.
constexpr double kLoadSeconds = 30;

struct listed_file {
  run::plugin_file file;
  std::optional<results::plugin_description> plugin;
  std::string why_not;  // why it could not be loaded; else empty
};

listed_file load(const run::plugin_file& file, const run::client_factory& make_client) {
  try {
    return {file, make_client(file.file)->open(), ""};
  } catch (const failure& f) {
    return {file, std::nullopt, f.what()};
  }
}

std::string types_of(const results::plugin_description& d) {
  std::set<std::string> types;
  for (const auto& v : d.variants)
    for (const auto& s : v.signatures) types.insert(types_name(s.dtype));
  return joined(types, " ");
}

// The plugins named on the command line, with their selectors; no selectors: all.
struct named_plugins {
  run::plugin_discovery plugins;
  std::vector<selector> selectors;

  bool has(const std::string& name) const {
    return selectors.empty() || std::ranges::any_of(selectors, [&](const selector& s) {
             return matches(s.text, name, "");
           });
  }
};

named_plugins find_named(const common_options& options, const std::vector<std::string>& names,
                         const char* command) {
  if (names.empty()) return {setup::discover_plugins(options), {}};
  results::experiment named;
  for (const std::string& name : names) named.plugins.push_back({name, {command, 0, 0}});
  named.overridden.build_args = options.build_args;
  run::plugin_discovery plugins = setup::discover_plugins(options, named, devices::find("auto"));
  return {std::move(plugins), std::move(named.plugins)};
}

int refuse_unknown(const std::string& plugin, const run::plugin_discovery& plugins) {
  print_to(stderr, "error: there is no plugin '{}'{}\n  plugins: {}\n", plugin,
           input::did_you_mean(plugin, plugins.names()), fmt::join(plugins.names(), ", "));
  return kBadInput;
}

// Indents the later lines of a description like the first.
std::string indented(std::string text, std::size_t columns) {
  const std::string gap = '\n' + std::string(columns, ' ');
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.replace(at, 1, gap);
  return text;
}

table variants_table(const results::plugin_description& d) {
  table t;
  for (const auto& v : d.variants) {
    const auto type = [](const auto& s) {
      return fmt::format("{} in {}", types_name(s.dtype), precision_name(s.compute));
    };
    t.add_entries(
        {{"variant", v.id, kText},
         {"types", joined(v.signatures, ", ", type), kText},
         {"needs", v.compute_capability == 0 ? "" : fmt::format("sm_{}", v.compute_capability),
          kText},
         {"", {std::string(first_line(v.summary)), style::dim}, kText}});
  }
  return t;
}

void print_description(const results::plugin_description& d, bool colour) {
  constexpr std::size_t kValues = 12;  // the column of the values
  print_to(stdout, "  id        {}\n  device    {}{}\n  summary   {}\n  build     {}\n", d.id,
           devices::kind_name(d.device),
           d.device != KZOO_CPU ? ""
           : d.native           ? ", native"
                                : ", simulated",
           indented(d.summary, kValues), d.build_info);
  print_to(stdout, "{}\n",
           variants_table(d).str(colour, "  ", report::view_of(stdout, {}).columns));
  for (const auto& v : d.variants) {
    if (first_line(v.summary) != v.summary)
      print_to(stdout, "  {}\n    {}\n\n", v.id, indented(v.summary, 4));
  }
}

std::vector<results::device> chosen(const devices_options& options) {
  if (!options.device) return devices::list();
  experiment::check_device_name(*options.device, "--device");
  return {devices::find(*options.device)};
}

void print(const results::device& d, const std::optional<roofline::peaks>& peaks, bool colour) {
  print_to(stdout, "{}  {}, {:.1f} GB\n", report::styled(d.id, style::bold, colour), d.name,
           static_cast<double>(d.memory_bytes) / 1e9);
  const auto line = [](std::string_view name, const std::string& value) {
    print_to(stdout, "    {:<22} {}\n", name, value);
  };
  for (const auto& [name, value] : d.facts) line(name, value);
  if (d.abi.kind == KZOO_CUDA) {
    const devices::nvml monitor(d.pci_bus_id);
    line("now", monitor.absent() ? *monitor.absent() : to_string(monitor.read()));
  }
  if (!peaks) return line("peaks", "not measured: runner devices --measure --device " + d.id);
  line("peaks",
       fmt::format("measured {}, {}", peaks->measured, setup::peaks_file(d).value().string()));
  table t;
  for (const roofline::measured_peak& c : peaks->all) {
    const std::string clock =
        c.best.clock_mhz > 0 ? fmt::format("{:.0f} MHz", c.best.clock_mhz) : "";
    t.add_entries({{"resource", std::string(name_of(c.resource)), table::align::left},
                   {"peak", rate_text(c.resource, c.best.rate)},
                   {"spread", {fmt::format("-{:.1f}%", 100 * c.spread), style::dim}},
                   {"clock", clock},
                   {"by", {c.kernel, style::dim}, table::align::left}});
  }
  print_to(stdout, "{}", t.str(colour, "      "));
  if (peaks->spread) {
    line("process to process", fmt::format("medians differ by {:.2f} us and {:.3f} % (one standard "
                                           "deviation)",
                                           1e3 * peaks->spread->ms, 100 * peaks->spread->share));
  }
}

void print_json(const std::vector<results::device>& all) {
  std::vector<storage::described_device> described;
  for (const results::device& d : all) described.push_back({d, setup::known_peaks(d)});
  write_text(stdout, storage::to_text(described));
}

}  // namespace

int list(const list_options& options) {
  const named_plugins named = find_named(options, options.plugins, "list");
  const run::plugin_discovery& plugins = named.plugins;
  if (plugins.files().empty()) {
    print_to(stderr, "error: no plugins found; build them, or name a folder with --plugin-dir\n");
    return kBadInput;
  }
  const std::vector<std::string> names = plugins.names();
  for (const selector& s : named.selectors) {
    if (std::ranges::none_of(names, [&](const auto& name) { return matches(s.text, name, ""); }))
      return refuse_unknown(s.text, plugins);
  }
  const bool colour = report::wants_colour(stdout);
  const run::client_factory make_client = setup::clients_for(options, kLoadSeconds);
  table t;
  const auto add = [&](const std::string& name, const std::string& device, const std::string& types,
                       const table::field& variants, const table::field& about) {
    t.add_entries({{"plugin", name, kLeft},
                   {"device", device, kLeft},
                   {"types", types, kText},
                   {"variants", variants, kText},
                   {"", about, kText}});
  };
  for (const std::string& name : names) {
    if (!named.has(name)) continue;
    for (const run::plugin_file& file : plugins.files()) {
      if (file.name != name) continue;
      const listed_file d = load(file, make_client);
      const char* folder_kind = file.kind == 0 ? "?" : devices::kind_name(file.kind);
      if (d.plugin) {
        add(name, devices::kind_name(d.plugin->device), types_of(*d.plugin),
            joined(d.plugin->variants, " ", &results::variant_description::id),
            {std::string(first_line(d.plugin->summary)), style::dim});
      } else {
        add(name, folder_kind, "", {"unavailable", style::bad},
            {file.file.string() + ": " + d.why_not, style::bad});
      }
    }
    for (const auto& [missing, kind] : plugins.not_built()) {
      if (missing != name) continue;
      add(name, kind == 0 ? "" : devices::kind_name(kind), "", {"not built", style::dim},
          {kind == 0 ? "cannot be built here" : fmt::format("./zoo build {} builds it", name),
           style::dim});
    }
  }
  print_to(stdout, "{}", t.str(colour, "", report::view_of(stdout, {}).columns));
  return kOk;
}

int describe(const describe_options& options) {
  const named_plugins named = find_named(options, {options.plugin}, "describe");
  const bool colour = report::wants_colour(stdout);
  bool any = false, usable = true;
  for (const run::plugin_file& file : named.plugins.files()) {
    if (!named.has(file.name)) continue;
    any = true;
    const listed_file d = load(file, setup::clients_for(options, kLoadSeconds));
    print_to(stdout, "{}\n  file      {}\n", report::styled(file.name, style::bold, colour),
             printable(file.file.string()));
    if (d.plugin) {
      print_description(*d.plugin, colour);
    } else {
      usable = false;
      print_to(stdout, "  {}: {}\n\n", report::styled("unavailable", style::bad, colour),
               printable(d.why_not));
    }
  }
  for (const auto& [name, kind] : named.plugins.not_built()) {
    if (any || !named.has(name)) continue;
    print_to(stderr, "error: {} {}\n", name,
             kind == 0 ? "cannot be built here"
                       : fmt::format("is not built: ./zoo build {} builds it", name));
    return kBadInput;
  }
  if (!any) return refuse_unknown(named.selectors.front().text, named.plugins);
  return usable ? kOk : kSomeCellFailed;
}

int devices(const devices_options& options) {
  std::vector<results::device> all = chosen(options);
  for (results::device& d : all)
    if (d.abi.kind == KZOO_CUDA) d.facts["clocks"] = setup::measure_clock_lock(d).words;
  if (options.measure)
    for (const results::device& d : all) setup::measure_peaks(d);
  if (options.json) {
    print_json(all);
    return kOk;
  }
  const bool colour = report::wants_colour(stdout);
  for (const results::device& d : all) print(d, setup::known_peaks(d), colour);
  const auto why = options.device ? std::nullopt : devices::why_no_cuda();
  if (!why) return kOk;
  report::page page(report::view_of(stdout, {}));
  page.line(*why, report::style::plain);
  print_to(stdout, "{}", page.take());
  return kOk;
}

}  // namespace kzoo::cli
