// `runner judge`: files with kernels, each judged and timed by itself, for programs.

#include "cli/commands.hpp"
#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "devices/devices.hpp"
#include "input/diagnostics.hpp"
#include "manifest/pack.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "os/parallel.hpp"
#include "os/places.hpp"
#include "os/posix.hpp"
#include "os/sha256.hpp"
#include "os/text.hpp"
#include "results/judgement.hpp"
#include "run/device_memory.hpp"
#include "run/execution.hpp"
#include "run/plan.hpp"
#include "setup/plan.hpp"
#include "setup/source_plugins.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;
using results::file_judgement;

// The judgement on a file if `make` cannot make a plugin of it.
std::optional<file_judgement> why_no_plugin(const std::function<void()>& make) try {
  make();
  return std::nullopt;
} catch (const compile::does_not_compile& fault) {
  return results::not_run(results::status::kCompileError, "compile", fault.what());
} catch (const setup::has_host_code& fault) {
  return results::not_run(results::status::kCompileError, step::kHostCode, fault.what());
} catch (const compile::cannot_compile&) {
  throw;
} catch (const input::invalid& fault) {
  return results::not_run(results::status::kCompileError, "source", fault.what());
}

// The judgement that `make` makes, else why none is made here; `code` is then the exit code.
file_judgement judged_or_why_not(int& code, const std::function<file_judgement()>& make) try {
  return make();
} catch (const std::exception& fault) {
  const bool is_asked_wrongly = dynamic_cast<const input::invalid*>(&fault) != nullptr &&
                                dynamic_cast<const compile::cannot_compile*>(&fault) == nullptr;
  if (is_asked_wrongly) throw;
  code = std::max(kBadInput, exit_code_of(fault));
  return results::not_run(results::status::kJudgeError, "judge", fault.what());
}

// Requires the baseline to have the precision that kernels need.
void require_precise_baseline(const run::plan& p) {
  for (const problem& each : p.experiment.problems) {
    kzoo_precision found{};
    bool any = false;
    for (const run::loaded_plugin& plugin : p.plugins)
      for (const run::selected_variant& v : plugin.variants)
        if (const kzoo_precision declared = v.description.declared(each.dtype); declared != 0) {
          found = declared;
          any = any || takes(each, declared);
        }
    if (found == 0 || any) continue;
    const selector& baseline = *p.experiment.baseline;
    input::refuse(baseline.where,
                  "the baseline {} computes {} in {}, and the problem takes {}; name one of that "
                  "precision, or allow = [\"{}\"] in {}",
                  baseline.text, types_name(each.dtype), precision_name(found), taken_names(each),
                  precision_name(found), p.experiment.file.string());
  }
}

// Refuses a missing file: a caller's error is no verdict on a kernel.
fs::path existing(const std::string& name) {
  const auto file = as_file(name);
  if (!file)
    input::refuse("FILE", "expected a file, such as ./mine.cu, found {}", input::in_quotes(name));
  std::error_code fault;
  if (!fs::exists(file->path, fault)) input::refuse("", "there is no file {}", file->path);
  return file->path;
}

std::string summary(const file_judgement& j) {
  const results::outcome_words& w = j.came_of_it;
  if (w.status.empty()) return fmt::format("{}: compiled, {}", printable(j.file), j.library);
  std::string text = fmt::format("{}: {}", printable(j.file), w.status);
  if (!w.verdict.empty() && w.status != results::status::kPassed)
    text += fmt::format(" ({})", w.verdict);
  if (!j.precisions.empty())
    text += fmt::format(" in {}", fmt::join(precision_names(j.precisions), " and "));
  if (j.speedup) text += fmt::format(", {:.3g}x", *j.speedup);
  if (!j.libraries.empty()) text += fmt::format(", calls {}", fmt::join(j.libraries, ", "));
  return w.reason.empty() ? text : text + ": " + w.reason;
}

class judge_of_files {
 public:
  explicit judge_of_files(const judge_options& o) : options_(o), experiment_(experiment_of(o)) {
    for (const std::string& file : o.files) existing(file);
    const auto devices = devices::find_all(experiment_.device);
    if (devices.size() > 1)
      input::refuse("--device", "a file is judged on one GPU; name it: --device cuda:N");
    how_.device = devices.front();
    experiment_.verify.demands_precision = true;
    experiment_.verify.device_code_only = o.device_code_only;
    if (o.device_code_only && how_.device.abi.kind == KZOO_CPU)
      input::refuse(
          "--device-code-only",
          "on the cpu device a kernel is host code, in the process that times it; judge on "
          "a GPU: --device cuda");
    how_.tier = name_of(experiment_.verify.tier);
    if (!experiment_.baseline) return;
    how_.baseline = experiment_.baseline->text;
    results::experiment alone = experiment_;  // rejects an invalid baseline
    alone.plugins = {*alone.baseline};
    alone.verify.device_code_only = false;
    require_precise_baseline(
        setup::plan_on(std::move(alone), devices.front(), options_, run::clients_use::describe));
  }

  file_judgement judge(const std::string& name, int& code) {
    const double start = steady_seconds();
    on_plain_problems_ = false;
    file_judgement j = judged_or_why_not(code, [&] { return judged(name); });
    j.file = name;
    how_.command = command_for(name);
    how_.wall_seconds = steady_seconds() - start;
    return j;
  }

  // Compiles one file per processor at a time, and none while a kernel is timed.
  void compile(std::span<const std::string> files) const {
    std::vector<fs::path> paths;
    std::ranges::transform(files, std::back_inserter(paths), existing);
    setup::compile_ahead(paths, how_.device.abi.kind, options_.build_args);
  }

  const storage::judgement_setting& how() const { return how_; }

 private:
  // The default experiment has scalars and padded rows, which some kernels do not know.
  file_judgement judged(const std::string& name) {
    file_judgement j = judged(name, experiment_);
    const auto declines = [](const auto& each) {
      return each.came_of_it.status == results::status::kUnsupported;
    };
    if (declines(j) && options_.problems == judge_options().problems) {
      results::experiment plain = experiment_;
      for (const results::judged_problem& each : j.problems) {
        const auto p = std::ranges::find(plain.problems, each.problem);
        if (!declines(each) || p == plain.problems.end()) continue;
        p->alpha = 1;
        p->beta = 0;
        p->padding = 0;
      }
      on_plain_problems_ = plain.problems != experiment_.problems;
      if (on_plain_problems_) j = judged(name, std::move(plain));
    }
    if (declines(j))
      j.came_of_it.reason += "; an experiment with problems for it is named by --problems";
    return j;
  }

  file_judgement judged(const std::string& name, results::experiment e) {
    e.plugins = {{name, {"FILE", 0, 0}}};
    if (e.baseline) e.plugins.push_back(*e.baseline);
    run::plan plan;
    if (auto none = why_no_plugin([&] { plan = setup::plan_for(std::move(e), options_); }))
      return *none;
    const results::plugin_record& kernel = plan.plugins.front().record;
    if (plan.device.abi.kind == KZOO_CPU && kernel.file.empty())
      throw devices::absent(kernel.problem + "; judge it on a GPU: --device cuda");
    run::check_memory(plan);
    plan.trusts_baseline = true;
    if (!options_.explain && options_.json && plan.experiment.verify.tier != tier::paranoid)
      plan.find_access_analysis = {};
    how_.device = plan.device;
    if (const std::string note = run::long_simulation(plan); !note.empty())
      print_to(stderr, "note: {}\n", note);
    run::observer silent;
    const results::document d = run::execute(plan, run::head_of(plan), silent);
    interrupt::check();
    return results::judgement_of(d, existing(name).stem().string());
  }

  // The command that judges the file again. No experiment file has the plain problems, so it is
  // `judge` for them.
  std::string command_for(const std::string& name) const {
    std::string command = "runner judge " + shell_word(name);
    if (!on_plain_problems_) {
      command = fmt::format("runner run {} --plugins {}", shell_word(options_.problems),
                            shell_word(name));
      if (how_.baseline) command += ',' + shell_word(*how_.baseline);
    } else if (how_.baseline) {
      command += " --baseline " + shell_word(*how_.baseline);
    }
    command += " --verify " + how_.tier;
    if (options_.device) command += " --device " + shell_word(*options_.device);
    if (!options_.build_args.empty()) {
      command +=
          " --build-args=" + shell_word(fmt::format("{}", fmt::join(options_.build_args, " ")));
    }
    return command;
  }

  const judge_options& options_;
  results::experiment experiment_;
  storage::judgement_setting how_;
  bool on_plain_problems_ = false;  // the last file
};

file_judgement compiled(const std::string& name, const judge_options& o) {
  file_judgement j;
  const auto none = why_no_plugin([&] {
    j.library = compiled_to_folder(compile_request(o), name).string();
    j.sha256 = sha256_of(j.library);
    j.host_code = !manifest::is_packed(j.library, launcher_library());
  });
  return none.value_or(j);
}

void print(const judge_options& o, const std::string& line, const file_judgement& j) {
  if (!o.json) return print_to(stdout, "{}\n", summary(j));
  const bool written = write_text(stdout, line + '\n') && std::fflush(stdout) == 0;
  if (!written) throw not_written("stdout cannot be written");
}

}  // namespace

results::experiment experiment_of(const judge_options& o) {
  experiment_options request;
  request.file = o.problems;
  request.over.device = o.device;
  if (!o.tier.empty()) request.over.tier = o.tier;
  results::experiment e = setup::load_experiment(o, request);
  if (o.baseline) e.baseline = {*o.baseline, {"--baseline", 0, 0}};
  e.plugins.clear();
  return e;
}

compile_options compile_request(const judge_options& o) {
  compile_options request = o.compiled;
  request.files = o.files;
  request.build_args = o.build_args;
  request.device_code_only = o.device_code_only;
  if (o.device) request.device = *o.device;
  return request;
}

int judge(const judge_options& options) {
  bool all_pass = true;
  int code = kOk;
  interrupt::catch_signals();
  if (options.compile_only) {
    prepare_to_compile(compile_request(options));
    for (const std::string& file : options.files) existing(file);
    for (const std::string& file : options.files) {
      file_judgement j = judged_or_why_not(code, [&] { return compiled(file, options); });
      j.file = file;
      print(options, storage::to_line(j), j);
      all_pass = all_pass && j.came_of_it.status.empty();
    }
    return code != kOk || all_pass ? code : kSomeCellFailed;
  }
  judge_of_files judging(options);
  const std::span files(options.files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (const std::size_t at_once = hardware_threads(); i % at_once == 0)
      judging.compile(files.subspan(i, std::min(at_once, files.size() - i)));
    const file_judgement j = judging.judge(files[i], code);
    print(options, storage::to_line(j, judging.how()), j);
    all_pass = all_pass && j.came_of_it.status == results::status::kPassed;
  }
  return code != kOk || all_pass ? code : kSomeCellFailed;
}

}  // namespace kzoo::cli
