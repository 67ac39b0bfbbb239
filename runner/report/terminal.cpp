#include "report/terminal.hpp"

#include "os/interrupt.hpp"
#include "os/output.hpp"
#include "report/progress.hpp"
#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

bool written(std::FILE* out, const std::string& text) {
  write_text(out, text);
  return std::fflush(out) == 0 && std::ferror(out) == 0;
}

class terminal final : public run::observer {
 public:
  explicit terminal(const terminal_options& options)
      : options_(options), page_(view_of(options.out, options.shown)), line_(options.progress) {}

  void begins(const document& d) override {
    cells_ = d.planned;
    progress_.begin(d);
    if (options_.quiet) {
      add_broken(page_, d);
    } else {
      add_head(page_, d);
    }
    page_.end_section();
    print();
  }

  void starts(const problem& p, const std::string& kernel) override {
    progress_.judges(p);
    show_progress(fmt::format("[{}/{}]", ++begun_, cells_),
                  fmt::format("{} on {}", kernel, problem_name(p)));
  }

  void times(const problem& p, const std::string& kernel, int round) override {
    progress_.times(p, round);
    show_progress(fmt::format("[{}/{}]", begun_, cells_),
                  fmt::format("round {}: {} on {}", round + 1, kernel, problem_name(p)));
  }

  void taken_over(const document& d, const cell& c) override {
    ++begun_;
    progress_.skip(d.problem_of(c));
  }

  void loses_device(const std::string& why) override {
    line_.clear();
    print_to(options_.progress, "error: {}\n", why);
  }

  void finished(const document& d, std::size_t index) override {
    line_.clear();
    if (!options_.quiet && !line_.is_live() && is_complete(d, index)) {
      print_to(options_.progress, "[{}/{}] {} done\n", d.cells.size(), cells_,
               problem_name(d.experiment.problems[index]));
    }
    if (options_.quiet) {
      add_failures(page_, d, index, told_);
    } else {
      add_problem(page_, d, index, told_);
    }
    print();
  }

 private:
  // A problem is not complete if the run is interrupted, or its device lost.
  static bool is_complete(const document& d, std::size_t index) {
    const auto finished = std::ranges::count(d.cells, index, &cell::problem);
    return static_cast<std::size_t>(finished) * d.experiment.problems.size() >= d.planned;
  }

  void show_progress(const std::string& count, const std::string& at_hand) {
    if (options_.quiet) return;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    line_.show(count + " " + progress_.times_text(elapsed.count()) + "  " + at_hand);
  }

  void print() {
    errno = 0;
    // Nobody reads a closed pipe any more. After another failure the journal is worth going on for.
    if (!written(options_.out, page_.take()) && errno == EPIPE) interrupt::request();
  }

  terminal_options options_;
  page page_;
  status_line line_;
  std::size_t cells_ = 0, begun_ = 0;
  progress progress_;
  told_failures told_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

bool wants_colour(std::FILE* file) {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_terminal(file) && (no_colour == nullptr || *no_colour == '\0');
}

medium medium_of(std::FILE* file) { return wants_colour(file) ? medium::terminal : medium::text; }

view view_of(std::FILE* file, const shown_options& shown) {
  return {medium_of(file), is_terminal(file) && !shown.wide ? columns_of(file) : kNoLimit,
          shown.simulator_times, shown.sort};
}

std::unique_ptr<run::observer> make_terminal(const terminal_options& options) {
  return std::make_unique<terminal>(options);
}

void print_closing(const document& d, const terminal_options& options) {
  page p(view_of(options.out, options.shown));
  if (!options.quiet) add_overview(p, d);
  add_closing(p, d);
  written(options.out, p.take());
}

void print_tuned(const document& d, const terminal_options& options) {
  page p(view_of(options.out, options.shown));
  add_tuned(p, d);
  written(options.out, p.take());
}

}  // namespace kzoo::report
