#include "cli/commands.hpp"
#include "devices/devices.hpp"
#include "os/output.hpp"
#include "os/printable.hpp"
#include "os/text.hpp"
#include "run/plan.hpp"
#include "setup/plan.hpp"
#include "setup/source_plugins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kzoo::cli {

int check(const run_options& options) {
  results::experiment e = setup::load_experiment(options, options);
  const auto file = e.file.string();
  // A file can be checked without its device, with a note: builds for a GPU list their variants
  // without a GPU. If there are none, builds for the CPU are used.
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
  for (const setup::tuned_source& of : tuned) {
    print_to(stdout, "{}: its space has {}, which a run compiles and a check does not\n",
             printable(of.path.string()), counted(of.points, "point"));
    points += of.points;
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

}  // namespace kzoo::cli
