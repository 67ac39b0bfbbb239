#include "cli/commands.hpp"
#include "cli/output_files.hpp"
#include "devices/devices.hpp"
#include "html/page.hpp"
#include "input/diagnostics.hpp"
#include "os/output.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"
#include "profile/ncu.hpp"
#include "report/launches.hpp"
#include "report/terminal.hpp"
#include "run/choose_cells.hpp"
#include "run/plan.hpp"
#include "setup/plan.hpp"
#include "setup/source_plugins.hpp"
#include "xray/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::cli {
namespace {

results::device gpu_for(const std::string& name) {
  constexpr const char* kNeedsGpu = "`profile` needs a GPU: the simulator has no counters.";
  if (name == "cpu") {
    input::refuse("--device", "{} Choose one with --device cuda; `runner devices` lists them.",
                  kNeedsGpu);
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
    input::refuse("-o",
                  "it names one report, but there are {} cells: choose one with --cell, or let ncu "
                  "number the reports with %i in the name",
                  cells);
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

// Plans for the simulator, which counts every access.
run::plan simulated_plan(const xray_options& options, std::vector<run::cell_name>& names) {
  if (options.over.device.value_or("cpu") != "cpu") {
    input::refuse("--device",
                  "xray counts in the simulator, whatever GPU there is: leave out --device {}",
                  *options.over.device);
  }
  return setup::plan_of_cells(setup::load_experiment(options, options), devices::find("cpu"),
                              options, names);
}

setup::analysed_variant analysed_build(const run::plan& plan, const run::chosen_cell& c) {
  const results::plugin_record& plugin = c.plugin->record;
  const std::uint32_t variant = c.variant->index;
  if (plugin.source.empty()) return {xray::analysed_build(plugin.file), variant};
  return setup::analysed_source(plugin, variant, plan.experiment.overridden.build_args);
}

xray::analysed analyse_one(const run::plan& plan, const run::chosen_cell& c, std::uint64_t blocks) {
  xray::analysed a{{c.plugin->record.name, c.variant->description.id}, *c.at, {}, {}, ""};
  print_to(stderr, "analysing {} on {}\n", a.kernel.name(), problem_name(a.problem));
  try {
    if (c.plugin->record.description->native) {
      throw failure(verdict::unsupported,
                    "it does not run in the simulator, but as native code of the CPU");
    }
    constexpr double kSlower = 10;  // than a run, at the least
    const setup::analysed_variant at = analysed_build(plan, c);
    a.found = xray::analyse({at.library.string(), at.variant, a.problem, blocks},
                            kSlower * plan.experiment.verify.timeout_seconds);
  } catch (const failure& f) {
    a.verdict = f.verdict;
    a.reason = f.what();
  }
  return a;
}

std::string page_of(const report::view& v, const xray::document& d, bool lines) {
  report::page page(v);
  report::add_xray(page, d);
  if (lines) report::add_xray_lines(page, d);
  return page.take();
}

// Ok if at least one cell was analysed, none failed, and there are no findings.
int exit_code(const xray::document& d) {
  const auto analysed = [](const auto& c) { return c.found.has_value(); };
  const auto flawed = [](const auto& c) {
    if (!c.found) return !is_declined(c.verdict);
    return std::ranges::any_of(*c.found, [](const auto& l) { return !l.findings.empty(); });
  };
  const bool ok = std::ranges::any_of(d.cells, analysed) && std::ranges::none_of(d.cells, flawed);
  return ok ? kOk : kSomeCellFailed;
}

// Whether the judge has already analysed the accesses.
bool was_analysed(const std::vector<results::finding>& findings) {
  return std::ranges::find(findings, results::kAccesses, &results::finding::check) !=
         findings.end();
}

// A GPU's problem can be too large to simulate. `on_cpu`: what follows the cell's name on the CPU.
std::string hint_for(const results::device& device, const results::plugin_record& plugin,
                     const std::string& variant, const std::string& on_cpu,
                     const std::string& experiment) {
  if (!plugin.description || plugin.description->native) return "";
  const bool simulated = device.id == "cpu";
  const std::string name = plugin.source.empty() ? plugin.name : plugin.source.string();
  return fmt::format(
      "races and uninitialised reads, if there are any{}: {} xray {} --cell {}{} --lines\n",
      simulated ? "" : " in the simulator", shell_word(program_invocation_name),
      shell_word(experiment), shell_word(fmt::format("{}:{}", name, variant)),
      simulated ? on_cpu : " --sizes 256");
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
  output_files files(plan.inputs);
  output_file* const json = files.add("--json", options.json);
  output_file* const markdown = files.add("--md", options.markdown);

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

int xray(const xray_options& options) {
  auto names = run::parse_cells(options.cells);
  const run::plan plan = simulated_plan(options, names);
  const auto cells = run::choose(plan, names);
  output_files files(plan.inputs);
  output_file* const json = files.add("--json", options.json);
  output_file* const markdown = files.add("--md", options.markdown);
  output_file* const html = files.add("--html", options.html);

  interrupt::catch_signals();
  xray::document d{plan.experiment.file.string(), {}};
  for (const run::chosen_cell& c : cells) d.cells.push_back(analyse_one(plan, c, options.blocks));
  std::FILE* out = files.on_stdout() ? stderr : stdout;
  print_to(out, "{}", page_of(report::view_of(out, {}), d, options.lines));
  if (json) json->write(xray::to_text(d));
  if (markdown) markdown->write(page_of(report::medium::markdown, d, options.lines));
  if (html) {
    html::write_xray_page(d, [&](std::string_view text) { html->append(text); });
    html->finish();
  }
  return exit_code(d);
}

std::string xray_hint(const results::document& d) {
  for (const results::cell& c : d.cells) {
    const results::plugin_record* const plugin = d.plugin(c.kernel.plugin);
    if (c.verdict != verdict::wrong || was_analysed(c.findings) || plugin == nullptr) continue;
    if (const std::string hint =
            hint_for(d.device, *plugin, c.kernel.variant, "@" + shape_name(d.problem_of(c)),
                     d.experiment.file.string());
        !hint.empty())
      return hint;
  }
  return "";
}

std::string xray_hint(const results::validation& v) {
  const auto fails = [](const results::finding& f) { return f.outcome == results::outcome::fail; };
  for (const results::validated_variant& one : v.variants) {
    const auto colon = one.kernel.find(':');
    const auto plugin =
        std::ranges::find(v.plugins, one.kernel.substr(0, colon), &results::plugin_record::name);
    if (plugin == v.plugins.end() || std::ranges::none_of(one.findings, fails) ||
        was_analysed(one.findings))
      continue;
    // The experiments whose first problem has these matrices.
    const std::string variant = one.kernel.substr(colon + 1);
    if (one.dtype == KZOO_F32) return hint_for(v.device, *plugin, variant, "", "quick");
    if (one.dtype == KZOO_F16)
      return hint_for(v.device, *plugin, variant, " --sizes 128", "tensor");
  }
  return "";
}

}  // namespace kzoo::cli
