#include "cli/commands.hpp"
#include "cli/output_files.hpp"
#include "devices/devices.hpp"
#include "experiment/names.hpp"
#include "input/diagnostics.hpp"
#include "os/output.hpp"
#include "os/parallel.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"
#include "report/terminal.hpp"
#include "results/finding.hpp"
#include "run/plan.hpp"
#include "run/validate.hpp"
#include "setup/plan.hpp"
#include "setup/source_plugins.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kzoo::cli {

int check(const run_options& options) {
  results::experiment e = setup::load_experiment(options, options);
  const auto file = e.file.string();
  // The note for a missing device. The file is checked with builds for that device, which list
  // their variants without it, or else with builds for the CPU.
  std::string missing;
  results::device device;
  try {
    device = devices::find_all(e.device).front();
  } catch (const devices::absent& a) {
    missing = a.what();
    device = devices::find("cpu");
    const auto plugins = setup::discover_plugins(options).files();
    if (e.device.starts_with("cuda") &&
        std::ranges::count(plugins, KZOO_CUDA, &run::plugin_file::kind) > 0) {
      device.abi.kind = KZOO_CUDA;
      device.id = "cuda";
    }
  }
  // A space may have thousands of points, which only a run compiles.
  const std::vector<setup::tuned_source> tuned = setup::take_tuned_sources(e);
  std::size_t points = 0;
  for (const setup::tuned_source& source : tuned) {
    print_to(stdout, "{}: its space has {}, which a run compiles and a check does not\n",
             printable(source.path.string()), counted(source.points, "point"));
    points += source.points;
  }
  const run::plan plan =
      setup::plan_on(std::move(e), std::move(device), options, run::clients_use::describe);
  std::size_t variants = 0, unavailable = 0, broken = 0;
  for (const run::loaded_plugin& c : plan.plugins) {
    if (c.client) {
      variants += c.variants.size();
      continue;
    }
    ++unavailable;
    broken += c.record.broken() ? 1 : 0;
    print_to(stdout, "unavailable {}: {}\n", printable(c.record.name), printable(c.record.problem));
  }
  if (!missing.empty()) print_to(stdout, "note: {}\n", missing);
  const std::size_t plugins = plan.plugins.size() - unavailable;
  const std::size_t problems = plan.experiment.problems.size();
  if (broken > 0) {
    print_to(stderr, "{}: error: {} librar{} cannot be used; {} cells are left on {}\n", file,
             broken, broken == 1 ? "y" : "ies", variants * problems, plan.device.id);
    return kSomeCellFailed;
  }
  // A missing device may have builds.
  if (variants + points == 0 && missing.empty()) {
    print_to(stderr, "{}: error: nothing to run: none of its plugins is built for {}\n", file,
             plan.device.id);
    return kSomeCellFailed;
  }
  const std::string more = points == 0 ? "" : fmt::format(" and {}", counted(points, "point"));
  print_to(stdout, "{}: ok, {} of {}{} on {} = {} cells on {}\n", file,
           counted(variants, "variant"), counted(plugins, "plugin"), more,
           counted(problems, "problem"), (variants + points) * problems, plan.device.id);
  if (!options.over.problems.empty())
    for (const problem& p : plan.experiment.problems) print_to(stdout, "  {}\n", problem_name(p));
  const std::string& description = plan.experiment.description;
  if (!description.empty()) print_to(stdout, "\n{}\n", description);
  return kOk;
}

namespace {

[[noreturn]] void refuse_flag(const char* flag, std::string_view expected,
                              const std::string& found) {
  input::refuse(flag, "expected {}, found {}", expected, input::in_quotes(found));
}

struct target {
  results::device device;
  std::vector<run::loaded_plugin> plugins;
};

// A library given by its file runs on the device that it is built for.
target target_of_library(const validate_options& options, const file_selector& name,
                         const run::client_factory& make_client) {
  if (!std::filesystem::exists(name.path)) input::refuse("", "there is no file {}", name.path);
  run::loaded_plugin c = run::enter_file(name.path, make_client);
  std::erase_if(c.variants, [&](const run::selected_variant& e) {
    const std::string variant = name.variant.empty() ? "*" : name.variant;
    return c.client && !matches("*:" + variant, c.record.name, e.description.id);
  });
  if (c.variants.empty()) input::refuse(name.path, "there is no variant '{}'", name.variant);
  const auto& d = c.record.description;
  const std::string kind = d ? devices::kind_name(d->device) : "cpu";
  target t{devices::find(options.device.value_or(kind)), {}};
  if (d && t.device.abi.kind != d->device)
    input::refuse(name.path, "it is built for {}, not for {}", kind, t.device.id);
  if (c.client) c.client->see_only(t.device);
  t.plugins.push_back(std::move(c));
  return t;
}

// A source can be compiled for any device: the requested or else the best device.
target target_of_source(const validate_options& options, const run::client_factory& make_client) {
  results::experiment e;
  e.overridden.build_args = options.build_args;
  e.plugins = {{options.plugin, {"validate", 0, 0}}};
  results::device device = devices::find(options.device.value_or("auto"));
  const run::plugin_discovery plugins = setup::discover_plugins(options, e, device);
  run::plan plan = run::make_plan(e, std::move(device), plugins, make_client);
  return {plan.device, std::move(plan.plugins)};
}

// A plugin given by its name runs on the requested device, or on a device that it has a build for.
target target_of_name(const validate_options& options, const run::client_factory& make_client) {
  results::experiment e;
  e.plugins = {{options.plugin, {"validate", 0, 0}}};
  const run::plugin_discovery plugins = setup::discover_plugins(options);
  std::vector<std::string> devices{"auto", "cpu"};
  if (options.device) devices = {*options.device};
  target t;
  for (const std::string& name : devices) {
    run::plan plan = run::make_plan(e, devices::find(name), plugins, make_client);
    t = {plan.device, std::move(plan.plugins)};
    if (std::ranges::any_of(t.plugins, [](const auto& c) { return !c.record.file.empty(); }))
      return t;
  }
  input::refuse(options.plugin, t.plugins.at(0).record.problem);
}

// "1x128", "128x128"; "none" for a matrix without block scales.
void read_scale_blocks(const std::vector<std::string>& names, problem& p) {
  const auto block = [](const std::string& name) {
    return name == "none" ? std::optional(scale_block{}) : scale_block_from_name(name);
  };
  const auto is_block = [&](const std::string& name) { return block(name).has_value(); };
  if (names.size() != 2 || !std::ranges::all_of(names, is_block))
    refuse_flag("--scale-blocks", "the block of A and that of B, or none, as in 1x128,128x128",
                joined(names, ","));
  p.scale_block_a = *block(names[0]);
  p.scale_block_b = *block(names[1]);
}

// The problem without size, type and layout; empty if no flag specifies it.
std::optional<problem> read_kind(const validate_options& options) {
  if (!options.epilogue && !options.batch && !options.groups && options.scale_blocks.empty())
    return std::nullopt;
  problem p;
  try {
    if (options.epilogue) p.epilogue = epilogue_from_name(*options.epilogue);
  } catch (const std::invalid_argument& fault) {
    input::refuse("--epilogue", fault.what());
  }
  if (options.batch) {
    const auto count = experiment::parse_batch(*options.batch);
    if (!count) refuse_flag("--batch", experiment::kBatchForm, *options.batch);
    p.batch = *count;
  }
  if (options.groups) {
    const auto count = experiment::parse_groups(*options.groups);
    if (!count) refuse_flag("--groups", experiment::kGroupsForm, *options.groups);
    if (p.batch > 1) input::refuse("--groups", "a problem with groups of rows is no batch");
    p.groups = *count;
    p.group_rows = data::group_rows::skewed;
  }
  if (!options.scale_blocks.empty()) read_scale_blocks(options.scale_blocks, p);
  return p;
}

// How many variants are checked at once, limited by the GPU's memory and the host's processors. In
// the simulator a single variant uses all processors.
unsigned variants_side_by_side(const results::device& device) {
  if (device.abi.kind != KZOO_CUDA) return 1;
  constexpr double kBytesEach = 4e9;
  constexpr unsigned kMost = 8;
  const double fit = double(devices::free_memory(device)) / kBytesEach;
  return std::clamp(std::min(unsigned(fit), hardware_threads() / 2), 1u, kMost);
}

}  // namespace

int validate(const validate_options& options) {
  if (options.device) experiment::check_device_name(*options.device, "--device");
  constexpr double kDay = 86400;
  if (!(options.timeout_seconds > 0 && options.timeout_seconds <= kDay)) {
    input::refuse("--timeout", "expected seconds, a number above 0 and up to {:g}, found {:g}",
                  kDay, options.timeout_seconds);
  }
  run::validation_options checked;
  checked.tier = experiment::parse_tier(options.tier, "--tier");
  checked.show_errors = options.show_errors;
  checked.find_access_analysis = setup::access_analyses(options.build_args);
  if (options.size) {
    checked.size = experiment::parse_shape(*options.size);
    if (!checked.size) refuse_flag("--size", experiment::kShapeForm, *options.size);
  }
  if (options.dtype) {
    checked.dtype = types_from_name(*options.dtype);
    if (!checked.dtype)
      refuse_flag("--dtype", "one of " + joined(kElementTypes, ", ", types_name), *options.dtype);
  }
  if (options.layout) {
    checked.layout = experiment::find_layout(*options.layout);
    if (!checked.layout) refuse_flag("--layout", experiment::kLayoutForm, *options.layout);
  }
  checked.beside = read_kind(options);
  const run::client_factory make_client = setup::clients_for(options, options.timeout_seconds);
  const auto file = as_file(options.plugin);
  target subject = !file                         ? target_of_name(options, make_client)
                   : file->path.ends_with(".so") ? target_of_library(options, *file, make_client)
                                                 : target_of_source(options, make_client);
  checked.make_client = make_client;
  if (!options.in_process) checked.side_by_side = variants_side_by_side(subject.device);
  results::experiment named;
  named.plugins = {{options.plugin, {"validate", 0, 0}}};
  output_files files(setup::files_of(named, subject.plugins));
  output_file* const json = files.add("--json", options.json);
  report::validation_text text(files.on_stdout() ? stderr : stdout);
  text.begins(subject.plugins, subject.device, checked.tier);
  // With --in-process only the signal's default action can end a hanging kernel.
  if (!options.in_process) interrupt::catch_signals();
  try {
    const results::validation v = run::validate(
        subject.plugins, subject.device, checked,
        {[&](const auto& variant) { text.starts(variant); },
         [&](const auto& variant) { text.takes(variant); }, [&](const auto& f) { text.found(f); }});
    text.ends(v);
    print_to(files.on_stdout() ? stderr : stdout, "{}", xray_hint(v));
    if (json) json->write(storage::to_text(v));
    return results::exit_code(v);
  } catch (const interrupt::interrupted&) {
    text.is_interrupted();
    throw;
  }
}

}  // namespace kzoo::cli
