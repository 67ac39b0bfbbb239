#include "cli/json_file.hpp"
#include "cli/setup.hpp"
#include "devices/devices.hpp"
#include "report/validation.hpp"
#include "results/validation.hpp"
#include "run/validate.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kzoo::cli {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument(why); }

bool is_file(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".so");
}

// What is validated, and where.
struct target {
  devices::device device;
  std::vector<run::contestant> plugins;
};

// A library that is named by its file runs on the device that it is built for.
target target_of_file(const validate_options& options, const run::host_factory& make_host) {
  if (!std::filesystem::exists(options.plugin))
    refuse(fmt::format("there is no file {}", options.plugin));
  run::contestant c = run::enter_file(options.plugin, make_host);
  const auto& d = c.record.description;
  const std::string kind = d ? devices::kind_name(d->device) : "cpu";
  target t{devices::find(options.device.empty() ? kind : options.device), {}};
  if (d && t.device.abi.kind != d->device) {
    refuse(fmt::format("{} is built for {}, not for {}", options.plugin, kind, t.device.id));
  }
  t.plugins.push_back(std::move(c));
  return t;
}

// A plugin that is named runs on the device asked for, or on any that it has a build for.
target target_of_name(const validate_options& options, const run::host_factory& make_host) {
  experiment::experiment e;
  e.plugins = {{options.plugin, {"validate", 0, 0}}};
  const catalogue::catalogue plugins = open_catalogue(options);
  std::vector<std::string> devices{options.device};
  if (options.device.empty()) devices = {"auto", "cpu"};
  target t;
  for (const std::string& name : devices) {
    run::plan plan = run::make_plan(e, devices::find(name), plugins, make_host);
    t = {plan.device, std::move(plan.contestants)};
    if (std::ranges::any_of(t.plugins, [](const auto& c) { return !c.record.file.empty(); })) {
      return t;
    }
  }
  refuse(fmt::format("{}: {}", options.plugin, t.plugins.at(0).record.problem));
}

}  // namespace

int validate(const validate_options& options) {
  if (!options.device.empty()) experiment::check_device_name(options.device, "--device");
  const tier t = experiment::parse_tier(options.tier, "--tier");
  const run::host_factory make_host = hosts_for(options, options.timeout_seconds);
  target what = is_file(options.plugin) ? target_of_file(options, make_host)
                                        : target_of_name(options, make_host);
  json_file json(options.json, {});
  report::validation_text text(options.json == "-" ? stderr : stdout);
  text.begins(what.plugins, what.device, t);
  const results::validation v = run::validate(
      what.plugins, what.device, t, options.show_errors,
      {[&](const auto& variant) { text.starts(variant); }, [&](const auto& f) { text.found(f); }});
  text.ends(v);
  json.write(results::to_json(v));
  return results::exit_code(v);
}

}  // namespace kzoo::cli
