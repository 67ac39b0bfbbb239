#include "cli/commands.hpp"
#include "cli/exports.hpp"
#include "devices/devices.hpp"
#include "input/diagnostics.hpp"
#include "os/interrupt.hpp"
#include "os/output.hpp"
#include "profile/counters.hpp"
#include "profile/ncu.hpp"
#include "report/launches.hpp"
#include "report/terminal.hpp"
#include "run/choose_cells.hpp"
#include "setup/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>

namespace kzoo::cli {
namespace {

results::device gpu_for(const std::string& name) {
  constexpr const char* kNeedsGpu = "`profile` needs a GPU: the simulator has no counters.";
  if (name == "cpu") {
    input::refuse("--device", fmt::format("{} Choose one with --device cuda; `runner devices` "
                                          "lists them.",
                                          kNeedsGpu));
  }
  try {
    return devices::find(name == "auto" ? "cuda" : name);
  } catch (const devices::absent& a) {
    throw devices::absent(fmt::format("{} {}", a.what(), kNeedsGpu));
  }
}

// Rejects a single report file for several cells, since ncu would overwrite it.
void check_report(const profile::tool& ncu, std::size_t cells) {
  const bool writes = ncu.has_option("-o") || ncu.has_option("--export");
  const bool has_pattern = std::ranges::any_of(
      ncu.arguments, [](const auto& word) { return word.find('%') != std::string::npos; });
  if (cells > 1 && writes && !has_pattern) {
    input::refuse("-o", fmt::format("it names one report, but there are {} cells: choose one with "
                                    "--cell, or let ncu number the reports with %i in the name",
                                    cells));
  }
}

profile::profiled profile_one(const profile::tool& ncu, const run::plan& plan,
                              const run::chosen_cell& c) {
  profile::profiled p{{c.plugin->record.name, c.variant->description.id}, *c.at, {}, {}, ""};
  print_to(stderr, "profiling {} on {}\n", p.kernel.name(), problem_name(p.problem));
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  try {
    p.found =
        profile::collect(ncu, profile::metric::all(plan.device.abi.compute_capability),
                         profile::profiled_command(
                             self, {c.plugin->record.file.string(), plan.device.id,
                                    c.variant->index, p.problem, plan.experiment.timing.warmup}));
  } catch (const failure& f) {
    p.verdict = f.verdict;
    p.reason = f.what();
  }
  return p;
}

// Ok if at least one cell was profiled and none failed.
int exit_code(const profile::document& d) {
  const auto profiled = [](const auto& c) { return c.found.has_value(); };
  const auto failed = [](const auto& c) { return !c.found && c.verdict != verdict::unsupported; };
  const bool ok = std::ranges::any_of(d.cells, profiled) && std::ranges::none_of(d.cells, failed);
  return ok ? kOk : kSomeCellFailed;
}

std::string page_of(const report::view& v, const profile::document& d) {
  report::page page(v);
  report::add_profile(page, d);
  return page.take();
}

}  // namespace

int profile(const profile_options& options) {
  auto names = run::parse_cells(options.cells);
  results::experiment e = setup::load_experiment(options, options);
  results::device gpu = gpu_for(e.device);
  const run::plan plan = setup::plan_of_cells(std::move(e), std::move(gpu), options, names);
  const auto cells = run::choose(plan, names);
  profile::tool ncu = profile::find_tool(options.ncu);
  ncu.arguments = options.ncu_arguments;
  // ncu replays the kernel in about ten passes.
  ncu.timeout_seconds = 10 * plan.experiment.verify.timeout_seconds;
  check_report(ncu, cells.size());
  export_files files(plan.inputs);
  export_file* const json = files.add("--json", options.json);
  export_file* const markdown = files.add("--md", options.markdown);

  interrupt::catch_signals();
  profile::document d{plan.experiment.file.string(), plan.device, ncu.version, {}};
  std::exception_ptr no_more;  // rethrown after showing the earlier cells
  for (const run::chosen_cell& c : cells) {
    try {
      d.cells.push_back(profile_one(ncu, plan, c));
    } catch (const profile::no_counters&) {
      if (d.cells.empty()) throw;
      no_more = std::current_exception();
      break;
    }
  }
  std::FILE* out = files.on_stdout() ? stderr : stdout;
  print_to(out, "{}", page_of(report::view_of(out, {}), d));
  if (json) json->write(profile::to_text(d));
  if (markdown) markdown->write(page_of(report::medium::markdown, d));
  if (no_more) std::rethrow_exception(no_more);
  return exit_code(d);
}

}  // namespace kzoo::cli
