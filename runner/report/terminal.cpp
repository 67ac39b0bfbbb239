#include "report/terminal.hpp"

#include "core/interrupt.hpp"
#include "report/report.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

bool written(std::FILE* out, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), out);
  return std::fflush(out) == 0 && std::ferror(out) == 0;
}

class terminal final : public run::observer {
 public:
  explicit terminal(const terminal_options& options)
      : options_(options),
        page_(medium_of(options.out)),
        live_(isatty(fileno(options.progress)) != 0) {}
  ~terminal() override { clear_line(); }

  void begins(const document& d) override {
    cells_ = d.planned;
    if (options_.quiet) {
      add_broken(page_, d);
    } else {
      add_head(page_, d);
    }
    page_.end_section();
    print();
  }

  void starts(const problem& p, const std::string& kernel) override {
    show_progress(fmt::format("[{}/{}] {} on {}", ++begun_, cells_, kernel, problem_name(p)));
  }

  void times(const problem& p, const std::string& kernel, int round) override {
    show_progress(fmt::format("[{}/{}] round {}: {} on {}", begun_, cells_, round + 1, kernel,
                              problem_name(p)));
  }

  void taken_over(const document&, const cell&) override { ++begun_; }

  void loses_device(const std::string& why) override {
    clear_line();
    fmt::print(options_.progress, "error: {}\n", why);
  }

  void finished(const document& d, std::size_t index) override {
    clear_line();
    if (!options_.quiet && !live_) {
      fmt::print(options_.progress, "[{}/{}] {} done\n", d.cells.size(), cells_,
                 problem_name(d.experiment.problems[index]));
    }
    if (options_.quiet) {
      add_failures(page_, d, index);
    } else {
      add_problem(page_, d, index);
    }
    print();
  }

 private:
  void show_progress(const std::string& text) {
    if (options_.quiet || !live_) return;
    clear_line();
    fmt::print(options_.progress, "{}", text);
    std::fflush(options_.progress);
    line_shown_ = true;
  }

  void clear_line() {
    if (!line_shown_) return;
    fmt::print(options_.progress, "\r\x1b[K");
    std::fflush(options_.progress);
    line_shown_ = false;
  }

  void print() {
    errno = 0;
    // Nobody reads a closed pipe any more. After another failure the journal is worth going on for.
    if (!written(options_.out, page_.take()) && errno == EPIPE) interrupt::request();
  }

  terminal_options options_;
  page page_;
  bool live_;
  bool line_shown_ = false;
  std::size_t cells_ = 0, begun_ = 0;
};

}  // namespace

bool wants_colour(std::FILE* file) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(fileno(file)) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

medium medium_of(std::FILE* file) { return wants_colour(file) ? medium::terminal : medium::text; }

std::unique_ptr<run::observer> make_terminal(const terminal_options& options) {
  return std::make_unique<terminal>(options);
}

void print_closing(const document& d, const terminal_options& options) {
  page p(medium_of(options.out));
  if (!options.quiet) add_overview(p, d);
  add_closing(p, d);
  written(options.out, p.take());
}

}  // namespace kzoo::report
