#include "report/terminal.hpp"

#include "core/version.hpp"
#include "report/agreement.hpp"
#include "report/pivot.hpp"
#include "report/problem_table.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

void print_head(const document& d, std::FILE* out, bool colour) {
  const auto& e = d.experiment;
  fmt::print(out, "{}\n",
             styled(e.title.empty() ? e.file.filename().string() : e.title, style::bold, colour));
  fmt::print(out, "  {} on {} ({}), kernel-zoo {}\n", e.file.filename().string(), d.device.id,
             d.device.name, kVersion);
  for (const std::string& note : d.notes) fmt::print(out, "  note: {}\n", note);
  for (const auto& p : d.plugins) {
    if (p.description) continue;
    fmt::print(out, "  {} {}: {}\n",
               styled("unavailable", p.broken() ? style::bad : style::dim, colour), p.name,
               p.problem);
  }
  if (!e.published.columns.empty() && !e.published.source.empty()) {
    fmt::print(out, "  published figures: {}\n", e.published.source);
  }
  fmt::print(out, "\n");
}

class terminal final : public run::observer {
 public:
  explicit terminal(const terminal_options& options)
      : options_(options),
        colour_(wants_colour(options.out)),
        live_(isatty(fileno(options.progress)) != 0) {}
  ~terminal() override { clear_line(); }

  void begins(const document& d, std::size_t cells) override {
    cells_ = cells;
    if (!options_.quiet) print_head(d, options_.out, colour_);
    std::fflush(options_.out);
  }

  void starts(const problem& p, const std::string& kernel) override {
    if (options_.quiet || !live_) return;
    clear_line();
    fmt::print(options_.progress, "[{}/{}] {} on {}", done_ + 1, cells_, kernel, problem_name(p));
    std::fflush(options_.progress);
    line_shown_ = true;
  }

  void finished(const document&, const cell&) override { ++done_; }

  void finished(const document& d, std::size_t index) override {
    clear_line();
    if (!options_.quiet && !live_) {
      fmt::print(options_.progress, "[{}/{}] {} done\n", done_, cells_,
                 problem_name(d.experiment.problems[index]));
    }
    const bool tables = !options_.quiet && !d.experiment.pivot_table;
    const std::string shown = tables ? problem_table(d, index, colour_) : "";
    const std::string why = reasons(d, index, colour_);
    if (shown.empty() && why.empty()) return;
    fmt::print(options_.out, "{}\n{}{}\n",
               styled(problem_name(d.experiment.problems[index]), style::bold, colour_), shown,
               why);
    std::fflush(options_.out);
  }

 private:
  void clear_line() {
    if (!line_shown_) return;
    fmt::print(options_.progress, "\r\x1b[K");
    std::fflush(options_.progress);
    line_shown_ = false;
  }

  terminal_options options_;
  bool colour_, live_;
  bool line_shown_ = false;
  std::size_t cells_ = 0, done_ = 0;
};

}  // namespace

bool wants_colour(std::FILE* file) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(fileno(file)) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

std::unique_ptr<run::observer> make_terminal(const terminal_options& options) {
  return std::make_unique<terminal>(options);
}

void print_closing(const document& d, const terminal_options& options) {
  std::FILE* out = options.out;
  const bool colour = wants_colour(out);
  if (!options.quiet) {
    if (d.experiment.pivot_table) {
      fmt::print(out, "{}", pivot_tables(d, *d.experiment.pivot_table, colour));
    }
    const std::string matrix = agreement_matrix(d, colour);
    if (!matrix.empty()) fmt::print(out, "{}\n", matrix);
  }

  std::string counts;
  for (const verdict v : {verdict::pass, verdict::wrong, verdict::crashed, verdict::hung,
                          verdict::error, verdict::unsupported, verdict::unavailable}) {
    const auto count = std::ranges::count(d.cells, v, &cell::verdict);
    if (count == 0 && v != verdict::pass) continue;
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, verdict_name(v));
  }
  const auto agreeing = std::ranges::count_if(
      d.agreements, [](const results::agreement& a) { return a.difference.agree; });
  fmt::print(out, "{}: {} · {} of {} pairs agree · {:.1f} s\n",
             results::exit_code(d) == 0 ? styled("ok", style::good, colour)
                                        : styled("FAILED", style::bad, colour),
             counts, agreeing, d.agreements.size(), d.wall_seconds);
}

}  // namespace kzoo::report
