#include "cli/commands.hpp"
#include "cli/output_files.hpp"
#include "compare/compare.hpp"
#include "core/kernel_name.hpp"
#include "experiment/load.hpp"
#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"
#include "ranks/dispatch.hpp"
#include "report/terminal.hpp"
#include "results/tuned.hpp"
#include "run/device_memory.hpp"
#include "run/execution.hpp"
#include "run/plan.hpp"
#include "setup/plan.hpp"
#include "storage/journal.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kzoo::cli {

// Names new journals, and finds the journal of an interrupted run.

namespace {

namespace fs = std::filesystem;

// The folder of journals without --journal, in the current directory.
constexpr const char* kResultsFolder = "results";

// The journals' names begin with the date.
std::vector<fs::path> newest_first() {
  std::vector<fs::path> files = paths_in(kResultsFolder, ".jsonl");
  std::ranges::reverse(files);
  return files;
}

}  // namespace

// "results/2026-11-20T23-41-07_ladder_cuda0", for journal::create_numbered().
fs::path journal_name(const results::document& head) {
  std::string when = head.started,
              device = head.devices.size() > 1 ? head.experiment.device : head.device.id;
  std::erase(when, 'Z');
  std::erase(device, ':');
  return fmt::format("{}/{}_{}_{}", kResultsFolder, file_name_from(when),
                     file_name_from(head.experiment.file.stem().string()), device);
}

// The journal `name`; if "", the newest unfinished journal in results/, of `experiment` unless "".
// Throws input::invalid.
fs::path find_interrupted(const std::string& name, const std::string& experiment) {
  if (!name.empty()) return name;
  const std::string wanted = fs::path(experiment).stem().string();
  for (const fs::path& file : newest_first()) {
    try {
      const results::document d = storage::read_journal_file(file).results;
      if (!d.complete() && (wanted.empty() || d.experiment.file.stem() == wanted)) return file;
    } catch (const input::invalid&) {
      // Not a journal, although it ends in .jsonl.
    }
  }
  input::refuse("--resume", "{}/ here has no journal of an interrupted run{}; name one",
                kResultsFolder, wanted.empty() ? "" : " of " + wanted);
}

namespace {

using results::document;

// Creates the journal of a new run and writes its head; none with --no-journal.
std::optional<storage::journal> new_journal(const output_options& options, const document& head) {
  if (options.no_journal) return std::nullopt;
  auto journal = options.journal ? storage::journal::create(*options.journal)
                                 : storage::journal::create_numbered(journal_name(head));
  journal.head(head);
  return journal;
}

// Returns the name of a file to compile and run, or of a compiler option, which can do as much, in
// stored results; "" if there is none. `given`: this command line's replacements.
std::string code_named_by(const results::experiment& e, const experiment_options& given = {},
                          const common_options& common = {}) {
  std::string named;
  const auto is_given = [&](const selector& s) {
    return std::ranges::count(given.over.plugins, s.text, setup::stored_name) > 0;
  };
  const auto note = [&](const selector& s) {
    if (as_file(s.text) && !is_given(s)) named = "a file to load as a plugin: " + s.text;
  };
  std::ranges::for_each(e.plugins, note);
  if (e.baseline) note(*e.baseline);
  if (common.build_args.empty() && !e.overridden.build_args.empty())
    named = fmt::format("options of the compiler: {}", fmt::join(e.overridden.build_args, " "));
  return named;
}

// The experiment from the stored text, with the same overrides.
results::experiment stored_experiment(const document& d) {
  const results::experiment& e = d.experiment;
  return experiment::load_text(e.file, e.text, e.overridden);
}

// Whether `run --resume` would need --trust-folders.
bool needs_trust(const document& d) {
  return !d.invoked.plugin_folders.empty() || !code_named_by(stored_experiment(d)).empty();
}

void print_where(const document& d, const storage::journal& journal, bool all_stored,
                 std::FILE* out) {
  const std::string file = journal.file().string();
  const std::string words =
      all_stored
          ? fmt::format("stored in {}\n", file)
          : fmt::format("finished cells are stored in {}; to continue:\n  {} {} --resume {}{}\n",
                        file, shell_word(program_invocation_name),
                        d.experiment.overridden.tune ? "tune" : "run", shell_word(file),
                        needs_trust(d) ? " --trust-folders" : "");
  write_text(out, words);
}

// Prints the run's outcome, on stderr if stdout fails. Returns the exit code.
int report_end(const document& d, const storage::journal* journal, const std::string& failure,
               result_files& files, report::terminal_options terminal) {
  report::print_closing(d, terminal);
  const bool shown = std::ferror(terminal.out) == 0;
  if (!shown && terminal.out != stderr) {
    terminal.out = stderr;
    terminal.quiet = true;  // `report` shows the tables again
    report::print_closing(d, terminal);
  }
  if (!failure.empty()) print_to(stderr, "error: {}\n", failure);
  if (!terminal.quiet) print_to(terminal.out, "{}", xray_hint(d));
  const bool all_stored = d.complete() && failure.empty();
  if (journal != nullptr && (!terminal.quiet || !all_stored || !shown))
    print_where(d, *journal, all_stored, terminal.out);
  const bool tunes = d.experiment.overridden.tune;
  if (tunes) report::print_tuned(d, terminal);
  const int signal = interrupt::signal_number();
  if (!d.complete() && signal != 0) {
    if (journal == nullptr || tunes) files.write(d);  // otherwise the journal has the cells
    return kSignalled + signal;
  }
  if (!failure.empty() || !shown) return kNotWritten;
  if (!d.complete()) return kSomeCellFailed;  // a device was lost
  files.write(d);
  return tunes ? results::exit_code_of_tuning(d) : results::exit_code(d);
}

// Runs the plan and reports the results. Returns the exit code.
int run_and_report(run::plan& plan, document head, std::optional<storage::journal> journal,
                   result_files& files, const output_options& options) {
  report::terminal_options terminal;
  terminal.quiet = options.quiet;
  terminal.shown = options.shown;
  if (files.on_stdout()) terminal.out = stderr;

  const auto shown = report::make_terminal(terminal);
  std::optional<run::recorder> recorder;
  std::vector<run::observer*> watching;  // journal first: stored before shown
  if (journal) watching.push_back(&recorder.emplace(*journal));
  watching.push_back(shown.get());
  run::observers watch(std::move(watching));
  interrupt::catch_signals();
  const document d = plan.devices.size() > 1 ? ranks::dispatch(plan, std::move(head), watch)
                                             : run::execute(plan, std::move(head), watch);
  return report_end(d, journal ? &*journal : nullptr, recorder ? recorder->failure() : "", files,
                    terminal);
}

// Folders named in a stored result hold code that would run, so they are used only if trusted.
void add_recorded_folders(const document& then, const std::string& file, bool trusted,
                          common_options& options) {
  if (!options.plugin_folders.empty() || then.invoked.plugin_folders.empty()) return;
  if (trusted) {
    options.plugin_folders = then.invoked.plugin_folders;
    return;
  }
  print_to(stderr,
           "note: {} names plugin folders, which are not used here: {}\n"
           "  --trust-folders loads plugins from them, --plugin-dir from a folder of your choice\n",
           printable(file),
           printable(fmt::format("{}", fmt::join(then.invoked.plugin_folders, ", "))));
}

void check_trusted(const std::string& named, const std::string& file, bool trusted) {
  if (trusted || named.empty()) return;
  input::refuse("", "{} names {}; pass --trust-folders to use it", printable(file),
                printable(named));
}

// The interrupted run's options, unless this command line replaces them.
run_options with_recorded_options(const document& then, run_options options) {
  const results::overrides& was = then.experiment.overridden;
  results::overrides& over = options.over;
  // Naming a tuned source includes everything that ran with it.
  const auto was_run = [&](const std::string& name) {
    return std::ranges::count(was.plugins, setup::stored_name(name)) > 0;
  };
  if (was.tune && std::ranges::all_of(over.plugins, was_run)) over.plugins.clear();
  const auto keep = [](auto& given, const auto& recorded) {
    if (given == std::remove_cvref_t<decltype(given)>{}) given = recorded;
  };
  using o = results::overrides;
  const auto keep_all = [&](auto... members) { (keep(over.*members, was.*members), ...); };
  keep_all(&o::device, &o::plugins, &o::sizes, &o::layouts, &o::batches, &o::problems, &o::tier,
           &o::tune, &o::baseline, &o::allow, &o::budget_seconds, &o::sample);
  keep(options.build_args, was.build_args);
  keep(options.in_process, then.invoked.in_process);
  return options;
}

// Whether the file exists with another text.
bool differs(const fs::path& file, const std::string& text) try {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && input::read_file(file) != text;
} catch (const input::invalid&) {
  return true;
}

// The file on the command line, else the text in the journal.
results::experiment continued_experiment(const document& then, const run_options& options) {
  if (!options.file.empty()) return setup::load_experiment(options, options);
  const results::experiment& e = then.experiment;
  return experiment::load_text(e.file, e.text, setup::overrides_of(options, options));
}

// A note in the results on the effects of the interruption.
std::string note_on_break(const document& then, const run::plan& plan, const std::string& host) {
  const std::size_t per_problem = plan.cells() / plan.experiment.problems.size();
  std::vector<std::string> begun;
  for (std::size_t i = 0; i < then.experiment.problems.size(); ++i) {
    if (then.cells_of(i).size() < per_problem)
      begun.push_back(problem_name(then.experiment.problems[i]));
  }
  std::string note =
      fmt::format("interrupted after {} of {} cells and continued later{}", then.cells.size(),
                  then.planned, host == then.host ? "" : " on " + host);
  if (!begun.empty()) {
    note += fmt::format("; on {}, results from before and after are not compared with each other",
                        fmt::join(begun, ", "));
  }
  return note;
}

// A journal locked by this run, with its content when it was opened.
struct held_journal {
  storage::journal file;
  storage::journal_content content;

  explicit held_journal(storage::journal opened)
      : file(std::move(opened)), content(storage::read_journal_file(file.file())) {}
  std::string name() const { return file.file().string(); }
};

// Runs the rest of the experiment. Refuses it if anything has changed since the journal.
int go_on(results::experiment e, const run_options& options, held_journal before) {
  document& then = before.content.results;
  run::plan plan = setup::plan_for(std::move(e), options);
  run::check_memory(plan);
  result_files files(options, plan.inputs, before.file.file());

  document head = run::head_of(plan);
  if (const auto changes = compare::changes_between(then, head); !changes.empty()) {
    input::refuse(before.name(),
                  "cannot be continued, since something has changed; with another journal "
                  "everything runs again\n  {}",
                  fmt::join(changes, "\n  "));
  }
  head.started = then.started;
  head.wall_seconds = then.wall_seconds;
  head.notes = then.notes;
  head.peaks = then.peaks;  // all cells of one table relate to the same peaks
  const bool broken = !then.complete();
  if (broken) head.notes.push_back(note_on_break(then, plan, head.host));
  run::take_over(then, plan, head, before.name());
  before.file.cut_off(before.content.whole_bytes);
  if (broken) before.file.resumed(utc_now(), head.host, head.notes.back());
  return run_and_report(plan, std::move(head), std::move(before.file), files, options);
}

// No budget times finished cells again or compiles configurations that were left out.
void check_budget(const run_options& given, const document& then, const std::string& file) {
  if (const std::size_t left_out = results::cost_of(then).left_out; left_out > 0) {
    input::refuse("--resume",
                  "half of the budget of {} was over before {} of its points were compiled: tune "
                  "anew, for which those that are compiled are kept",
                  printable(file), left_out);
  }
  std::size_t open = 0;
  for (const results::ranking& r : results::rank(then)) open += r.open.size();
  if (!given.over.budget_seconds || open == 0) return;
  input::refuse("--budget",
                "the budget of {} was over before {} of its cells were decided, and a run that is "
                "continued does not open them again: tune anew without --resume, for which the "
                "compiled points are kept, or leave --budget out to run only what was not begun",
                printable(file), open);
}

int resume(const run_options& given) {
  const fs::path file = find_interrupted(*given.resume, given.file);
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) storage::read_journal_file(file);  // throws the reason
  held_journal before(storage::journal::reopen(file));
  const document& then = before.content.results;
  check_budget(given, then, before.name());
  run_options options = with_recorded_options(then, given);
  add_recorded_folders(then, before.name(), given.trust_folders, options);
  if (options.file.empty() && differs(then.experiment.file, then.experiment.text)) {
    print_to(stderr, "note: {} has changed; the run continues with the text in its journal\n",
             printable(then.experiment.file.string()));
  }
  results::experiment e = continued_experiment(then, options);
  e.verify.show_errors = options.show_errors;
  check_trusted(code_named_by(e, given, given), before.name(), given.trust_folders);
  return go_on(std::move(e), options, std::move(before));
}

// Runs the experiment with the given journal, or a new one.
int begin(results::experiment e, const run_options& options,
          std::optional<storage::journal> given = {}) {
  run::plan plan = setup::plan_for(std::move(e), options);
  run::check_memory(plan);
  result_files files(options, plan.inputs,
                     given ? given->file() : fs::path(options.journal.value_or("")));
  const document head = run::head_of(plan);
  if (given) given->head(head);
  auto journal = given ? std::move(given) : new_journal(options, head);
  return run_and_report(plan, head, std::move(journal), files, options);
}

// --or-resume: a batch job may restart while its first copy still runs.
int begin_or_go_on(results::experiment e, const run_options& options) {
  storage::journal journal = storage::journal::create_or_reopen(
      options.journal.value_or(""), [](const std::string& words) {
        print_to(stderr, "note: {}; waiting for its end\n", printable(words));
      });
  if (storage::has_head(journal.file()))
    return go_on(std::move(e), options, held_journal(std::move(journal)));
  journal.cut_off(0);
  return begin(std::move(e), options, std::move(journal));
}

}  // namespace

int run(const run_options& options) {
  if (options.resume) return resume(options);
  results::experiment e = setup::load_experiment(options, options);
  e.verify.show_errors = options.show_errors;
  return options.or_resume ? begin_or_go_on(std::move(e), options) : begin(std::move(e), options);
}

int rerun(const rerun_options& given) {
  const document then = storage::read(given.file);
  rerun_options options = given;
  add_recorded_folders(then, given.file, given.trust_folders, options);
  options.in_process = options.in_process || then.invoked.in_process;
  results::experiment e = stored_experiment(then);
  e.verify.show_errors = options.show_errors;
  check_trusted(code_named_by(e), given.file, given.trust_folders);
  run::plan plan = setup::plan_for(std::move(e), options);
  run::check_memory(plan);
  plan.inputs.emplace_back(given.file);
  result_files files(options, plan.inputs, options.journal.value_or(""));

  document head = run::head_of(plan);
  head.notes.push_back("repeats the run of " + then.started);
  for (const std::string& change : compare::changes_between(then, head))
    head.notes.push_back("since then: " + change);
  return run_and_report(plan, head, new_journal(options, head), files, options);
}

results::experiment resumed_experiment(const run_options& given) {
  const document then =
      storage::read_journal_file(find_interrupted(*given.resume, given.file)).results;
  return continued_experiment(then, with_recorded_options(then, given));
}

results::experiment repeated_experiment(const rerun_options& given) {
  return stored_experiment(storage::read(given.file));
}

namespace {

// The experiment for sources, whose problems the command line gives.
constexpr const char* kExperiment = "tune";

// "60s", "1.5h", "90" seconds.
double seconds_in(std::string_view text) {
  double number = 0;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(stop - text.data()));
  const double factor = unit == "h" ? 3600 : unit == "m" ? 60 : unit.empty() || unit == "s" ? 1 : 0;
  constexpr double kMost = 1e7;
  if (fault != std::errc{} || !(number * factor > 0 && number * factor < kMost)) {
    input::refuse(
        "--budget",
        "expected a time such as 60s, 5m or 1.5h, more than 0 and less than {:.0f} s, found {}",
        kMost, input::in_quotes(text));
  }
  return number * factor;
}

// Whether it names a plugin and not an experiment.
bool is_source(const std::string& name) {
  const auto file = as_file(name);
  return file && !file->path.ends_with(".toml") &&
         (!file->variant.empty() || std::filesystem::is_directory(file->path) ||
          std::filesystem::path(file->path).has_extension());
}

// Names a kernel by its plugin's source: "./mine.cu:BM64" for "mine:BM64".
std::string by_source(const std::string& kernel, const std::vector<std::string>& plugins) {
  if (as_file(kernel)) return kernel;
  const std::size_t end = std::min(kernel.find(':'), kernel.size());
  for (const std::string& plugin : plugins) {
    const auto file = as_file(plugin);
    if (!file || std::filesystem::is_directory(file->path)) continue;
    if (std::filesystem::path(file->path).stem() == kernel.substr(0, end))
      return file->path + kernel.substr(end);
  }
  return kernel;
}

}  // namespace

run_options tuning_run(const tune_options& given) {
  run_options options = given;
  results::overrides& over = options.over;
  over.tune = true;
  if (given.budget) over.budget_seconds = seconds_in(*given.budget);
  if (is_source(given.file)) {
    if (over.sizes.empty() && !given.resume) {
      input::refuse("--sizes",
                    "which problems is {} to be tuned for? Name their sizes, such as --sizes "
                    "1024,4096x11008x4096",
                    given.file);
    }
    over.plugins.insert(over.plugins.begin(), given.file);
    options.file = kExperiment;
  }
  if (!over.baseline) return options;
  over.baseline = by_source(*over.baseline, over.plugins);
  // A baseline must run to be compared with.
  if (!over.plugins.empty() && std::ranges::count(over.plugins, *over.baseline) == 0)
    over.plugins.push_back(*over.baseline);
  return options;
}

int tune(const tune_options& options) { return run(tuning_run(options)); }

}  // namespace kzoo::cli
