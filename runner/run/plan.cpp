#include "run/plan.hpp"

#include "checks/candidate.hpp"
#include "core/verdict.hpp"
#include "core/version.hpp"
#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "os/sha256.hpp"
#include "os/text.hpp"
#include "process/process_table.hpp"
#include "reference/expected_result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace kzoo::run {
namespace {

constexpr auto kInNoLibrary = std::numeric_limits<std::uint32_t>::max();

std::string folders_of(const run::plugin_discovery& plugins) {
  const auto name = [](const std::filesystem::path& folder) { return folder.string(); };
  const std::string names = joined(plugins.folders(), ", ", name);
  return names.empty() ? "no plugin folder" : names;
}

[[noreturn]] void refuse(const selector& s, const std::string& what,
                         const std::vector<std::string>& known, std::string_view kind) {
  const auto colon = s.text.find(':');
  const bool about_variant = kind == "variants";
  const std::string asked = about_variant ? s.text.substr(colon + 1) : s.text.substr(0, colon);
  input::refuse(s.where, "{}{}\n  {}: {}", what, input::did_you_mean(asked, known), kind,
                fmt::join(known, ", "));
}

// Returns the plugins that the selectors name, in the order of the selectors, each once.
std::vector<std::string> pick_names(const results::experiment& e,
                                    const run::plugin_discovery& plugins) {
  const std::vector<std::string> known = plugins.names();
  std::vector<std::string> picked;
  for (const selector& s : e.plugins) {
    bool any = false;
    for (const std::string& name : known) {
      if (!matches(s.text, name, "")) continue;
      any = true;
      if (std::ranges::find(picked, name) == picked.end()) picked.push_back(name);
    }
    if (!any) {
      refuse(s, fmt::format("'{}' names no plugin in {}", s.text, folders_of(plugins)), known,
             "plugins");
    }
  }
  return picked;
}

// The client of a plugin file whose library is not loaded yet.
using unopened = std::unique_ptr<client::plugin_client>;

// Loads the file. Returns false if it is a build for a kind of device other than `device`; null
// accepts any. Records any other reason why it cannot be used in `plugin`.
bool open(loaded_plugin& plugin, const std::filesystem::path& file, const results::device* device,
          unopened client) {
  std::string hash = sha256_of(file);  // before loading: a library may change its file
  try {
    results::plugin_description d = client->open();
    if (device != nullptr && d.device != device->abi.kind) return false;
    plugin.client = std::move(client);
    plugin.record.description = std::move(d);
  } catch (const failure& s) {
    plugin.obstacle = s.verdict;
    plugin.record.problem = fmt::format("{}: {}", file.string(), s.what());
  }
  plugin.record.file = file;
  plugin.record.sha256 = std::move(hash);
  return true;
}

// `first`: the client started with the first of its files; null if none was.
loaded_plugin enter(const std::string& name, const results::device& device,
                    const run::plugin_discovery& plugins, const client_factory& make_client,
                    unopened first) {
  loaded_plugin plugin;
  plugin.record.name = name;
  const kzoo_device_kind kind = device.abi.kind;
  const std::vector<run::plugin_file> files = plugins.find(name, kind);
  for (auto file = files.begin(); file != files.end(); ++file) {
    unopened client = first ? std::move(first) : make_client(file->file);
    if (!open(plugin, file->file, &device, std::move(client))) continue;
    plugin.record.source = file->source;
    std::error_code fault;
    if (std::filesystem::is_regular_file(file->source, fault))
      plugin.record.source_sha256 = sha256_of(file->source);
    plugin.record.tuned = file->tuned;
    plugin.record.host_code = file->host_code;
    plugin.record.missing = file->missing;
    std::ranges::transform(file + 1, files.end(), std::back_inserter(plugin.shadowed),
                           &run::plugin_file::file);
    return plugin;
  }
  plugin.obstacle = verdict::unavailable;
  const kzoo_device_kind other = kind == KZOO_CPU ? KZOO_CUDA : KZOO_CPU;
  plugin.record.problem =
      fmt::format("there is no {} build of it here{}", devices::kind_name(kind),
                  plugins.find(name, other).empty()
                      ? ""
                      : fmt::format(", only one for {}", devices::kind_name(other)));
  for (const auto& missing : plugins.not_built()) {
    if (missing.name == name && missing.kind == kind)
      plugin.record.problem = fmt::format("is not built for {}: ./zoo build {} builds it",
                                          devices::kind_name(kind), name);
  }
  return plugin;
}

// Returns the library's variants, then the configurations that did not compile.
std::vector<selected_variant> all_variants(const results::plugin_record& record) {
  std::vector<selected_variant> all;
  for (const results::variant_description& v : record.description->variants)
    all.push_back({static_cast<std::uint32_t>(all.size()), v});
  for (const results::built_point& point : record.tuned.points) {
    if (point.why_not.empty()) continue;
    results::variant_description missing;
    missing.id = point.name;
    all.push_back({kInNoLibrary, std::move(missing), point.why_not});
  }
  return all;
}

// A plugin that could not be loaded gets one empty variant.
template <class IsPicked>
void add_variants(loaded_plugin& plugin, const IsPicked& is_picked) {
  if (!plugin.record.description) return plugin.variants.push_back({});
  const std::vector<selected_variant> all = all_variants(plugin.record);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_picked(i)) plugin.variants.push_back(all[i]);
}

void pick_variants(loaded_plugin& plugin, const results::experiment& e) {
  if (!plugin.record.description) return add_variants(plugin, [](auto) { return true; });
  const std::vector<selected_variant> variants = all_variants(plugin.record);
  std::vector<std::string> known;
  for (const auto& v : variants) known.push_back(v.description.id);

  std::vector<bool> picked(variants.size());
  for (const selector& s : e.plugins) {
    if (!matches(s.text, plugin.record.name, "")) continue;
    bool any = false;
    for (std::size_t i = 0; i < variants.size(); ++i) {
      if (!matches(s.text, plugin.record.name, known[i])) continue;
      any = picked[i] = true;
    }
    // With a glob over plugins, some of them may lack the variant.
    const bool glob = s.text.substr(0, s.text.find(':')).find_first_of("*?") != std::string::npos;
    if (!any && !glob) {
      refuse(s,
             fmt::format("{} has no variant '{}'", plugin.record.name,
                         s.text.substr(s.text.find(':') + 1)),
             known, "variants");
    }
  }
  add_variants(plugin, [&](std::size_t i) { return picked[i]; });
}

// Rejects a baseline that names no variant of its plugin. The plugin need not be selected.
void check_baseline(const plan& p, const run::plugin_discovery& plugins,
                    const client_factory& make_client) {
  const auto& baseline = p.experiment.baseline;
  if (!baseline) return;
  const std::vector<std::string> names = plugins.names();
  const auto named = [&](const std::string& name) { return matches(baseline->text, name, ""); };
  if (std::ranges::none_of(names, named)) {
    refuse(*baseline, fmt::format("the baseline '{}' names no plugin", baseline->text), names,
           "plugins");
  }
  std::vector<std::string> known;
  for (const std::string& name : names) {
    if (!named(name) || baseline->text.find(':') == std::string::npos) continue;
    const auto selected = std::ranges::find(
        p.plugins, name, [](const loaded_plugin& plugin) { return plugin.record.name; });
    const auto described =
        selected != p.plugins.end()
            ? selected->record.description
            : enter(name, p.device, plugins, make_client, nullptr).record.description;
    if (!described) return;  // it cannot be loaded here
    for (const auto& v : described->variants) {
      if (matches(baseline->text, name, v.id)) return;
      known.push_back(v.id);
    }
  }
  if (known.empty()) return;
  refuse(*baseline, fmt::format("the baseline '{}' names no variant", baseline->text), known,
         "variants");
}

// Each worker takes six file descriptors, the run itself a few dozen.
void check_descriptors(std::size_t workers) {
  constexpr std::size_t kEach = 6, kOwn = 48;
  const std::size_t needed = kEach * workers + kOwn, limit = process::raise_descriptor_limit();
  if (needed <= limit) return;
  throw input::invalid(fmt::format(
      "error: {} plugins need {} open files, and this system allows {}; name fewer with "
      "--plugins, or raise the limit (ulimit -Hn)",
      workers, needed, limit));
}

bool is_simulated(const plan& p) {
  return std::ranges::any_of(p.plugins, [](const loaded_plugin& plugin) {
    return plugin.record.description && plugin.record.description->simulated();
  });
}

std::vector<std::string> notes_on(const plan& p) {
  std::vector<std::string> notes;
  const auto& e = p.experiment;
  if (!e.intended_device.empty() && p.device.name.find(e.intended_device) == std::string::npos) {
    notes.push_back(fmt::format("this experiment is written for {}; the device here is {}",
                                e.intended_device, p.device.name));
  }
  for (const loaded_plugin& plugin : p.plugins) {
    for (const auto& file : plugin.shadowed)
      notes.push_back(fmt::format("{} is used; {}, which has the same name, is not",
                                  plugin.record.file.string(), file.string()));
  }
  const auto is_baseline = [&](const loaded_plugin& plugin) {
    return plugin.client && std::ranges::any_of(plugin.variants, [&](const selected_variant& v) {
             return e.is_baseline(plugin.record.name, v.description.id);
           });
  };
  if (e.baseline && std::ranges::none_of(p.plugins, is_baseline)) {
    notes.push_back(
        fmt::format("no comparison with the baseline {}: it does not run here", e.baseline->text));
  }
  for (const problem& q : e.problems) {
    const std::int64_t rows = reference::expected_result::rows_of(q);
    if (rows == q.all_rows()) continue;
    notes.push_back(fmt::format(
        "{} is too large to compare every element: {} of {} rows are compared, and all of C is "
        "checked exactly with integer inputs (Freivalds)",
        problem_name(q), rows, q.all_rows()));
  }
  if (p.peaks && e.verify.impossible_time == results::impossible_time::report) {
    notes.push_back(
        "[verify] impossible_time = \"report\": times below the roofline floor count too");
  }
  if (const std::string note = long_simulation(p); !note.empty()) notes.push_back(note);
  if (is_simulated(p) && e.timing.enabled) {
    notes.push_back(
        "the kernels of the simulator take as long as their simulation, which says nothing about a GPU "
        "(--simulator-times)");
  }
  return notes;
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

std::size_t plan::variants() const {
  std::size_t count = 0;
  for (const loaded_plugin& plugin : plugins) count += plugin.variants.size();
  return count;
}

loaded_plugin enter_file(const std::filesystem::path& file, const client_factory& make_client) {
  loaded_plugin plugin;
  plugin.record.name = file.stem().string();
  if (open(plugin, file, nullptr, make_client(file)))
    add_variants(plugin, [](auto) { return true; });
  return plugin;
}

plan make_plan(results::experiment e, results::device d, const run::plugin_discovery& plugins,
               const client_factory& make_client, clients_use use) {
  plan p{std::move(e), std::move(d), {}, {}, {}, {}};
  p.devices = {p.device};
  const std::vector<std::string> names = pick_names(p.experiment, plugins);
  check_descriptors(names.size());
  const client_factory make = [&](const std::filesystem::path& file) {
    unopened client = make_client(file);
    if (use == clients_use::run) client->see_only(p.device);
    client->start();
    return client;
  };
  // All at once, since opening a GPU takes a while.
  std::vector<unopened> started;
  for (const std::string& name : names) {
    const std::vector<run::plugin_file> files = plugins.find(name, p.device.abi.kind);
    started.push_back(files.empty() ? nullptr : make(files.front().file));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    loaded_plugin plugin = enter(names[i], p.device, plugins, make, std::move(started[i]));
    pick_variants(plugin, p.experiment);
    if (plugin.client && use == clients_use::run_later) {
      plugin.client->leave();  // the process that described it
      plugin.client->see_only(p.device);
    }
    if (!plugin.variants.empty()) p.plugins.push_back(std::move(plugin));
  }
  check_baseline(p, plugins, make_client);
  return p;
}

std::string long_simulation(const plan& p) {
  const auto& all = p.experiment.problems;
  const auto is_long = [](const problem& q) { return q.flops() > checks::kLongSimulation; };
  const auto found = is_simulated(p) ? std::ranges::find_if(all, is_long) : all.end();
  return found == all.end() ? ""
                            : fmt::format(
                                  "{} can take the simulator hours: choose smaller problems, "
                                  "or a GPU",
                                  problem_name(*found));
}

results::document head_of(const plan& p) {
  results::document d;
  d.experiment = p.experiment;
  d.device = p.device;
  for (const results::device& each : p.devices) d.devices.push_back(each.id);
  d.peaks = p.peaks;
  d.version = kVersion;
  d.host = host_name();
  d.invoked = p.invoked;
  d.started = utc_now();
  d.planned = p.cells();
  for (const loaded_plugin& plugin : p.plugins) d.plugins.push_back(plugin.record);
  d.notes = notes_on(p);
  return d;
}

void take_over(results::document& interrupted, const plan& p, results::document& head,
               const std::string& journal) {
  std::map<problem, std::size_t> known;
  for (const problem& q : p.experiment.problems) known.emplace(q, known.size());
  std::vector<kernel_id> kernels;
  for (const loaded_plugin& plugin : p.plugins)
    for (const selected_variant& variant : plugin.variants)
      kernels.push_back({plugin.record.name, variant.description.id});

  std::size_t position = 0, previous = 0;
  for (results::cell& c : interrupted.cells) {
    const problem& q = interrupted.problem_of(c);
    const auto found = known.find(q);
    if (found == known.end()) {
      input::refuse(journal, "has results on {}, which is not in its experiment", problem_name(q));
    }
    position = found->second == previous ? position : 0;
    previous = found->second;
    if (position >= kernels.size() || c.kernel != kernels[position]) {
      input::refuse(journal, "has {} on {} where its experiment has {}", c.kernel.name(),
                    problem_name(q),
                    position < kernels.size() ? kernels[position].name() : "no further kernel");
    }
    ++position;
    c.problem = found->second;
  }
  head.cells = std::move(interrupted.cells);
}

}  // namespace kzoo::run
