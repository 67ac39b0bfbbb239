#include "report/terminal.hpp"

#include "core/version.hpp"
#include "os/output.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"
#include "reference/places.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
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
    line_.show(count + " " + progress_.times_text(steady_seconds() - start_) + "  " + at_hand);
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
  double start_ = steady_seconds();
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

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

void progress::begin(const results::document& d) {
  const auto& e = d.experiment;
  double sum = 0;
  for (const problem& p : e.problems) {
    parts_.push_back({p, std::sqrt(p.flops())});
    sum += parts_.back().weight;
  }
  for (part& p : parts_) p.weight /= sum;
  per_problem_ = static_cast<double>(d.planned) / static_cast<double>(e.problems.size());
  rounds_ = e.timing.enabled ? e.timing.rounds : 0;
}

progress::part& progress::find(const problem& p) {
  return *std::ranges::find(parts_, p, &part::of);
}

void progress::judges(const problem& p) {
  part& at = find(p);
  if (at.begun) at.judged += 1 / per_problem_;
  at.begun = true;
}

void progress::times(const problem& p, int round) {
  part& at = find(p);
  at.judged = 1;
  at.timed = std::min(1.0, static_cast<double>(round) / rounds_);
}

void progress::skip(const problem& p) { skipped_ += find(p).weight / per_problem_; }

double progress::done() const {
  double sum = 0;
  bool later = false;  // a problem after it has begun, so it is over
  for (auto p = parts_.rbegin(); p != parts_.rend(); ++p) {
    const double share = rounds_ > 0 ? (p->judged + p->timed) / 2 : p->judged;
    sum += p->weight * (later && p->begun ? 1 : share);
    later = later || p->begun;
  }
  return std::min(1.0, sum + skipped_);
}

std::string progress::times_text(double elapsed) const {
  constexpr double kTooEarly = 0.02, kTooSoon = 2;
  const double own = done() - skipped_, left = 1 - done();
  std::string text = clock_text(elapsed);
  if (own < kTooEarly || elapsed < kTooSoon) return text;
  return text + fmt::format(", about {} left", clock_text(elapsed * left / own + 0.5));
}

status_line::status_line(std::FILE* to) : to_(to), live_(is_terminal(to)) {}

void status_line::show(std::string_view text) {
  if (!live_) return;
  clear();
  // A line that wraps cannot be rewritten.
  write_text(to_, shortened(text, columns_of(to_) - 1));
  std::fflush(to_);
  shown_ = true;
}

void status_line::clear() {
  if (!std::exchange(shown_, false)) return;
  std::fputs("\r\x1b[K", to_);
  std::fflush(to_);
}

namespace {

style style_of_outcome(results::outcome o) {
  return o == results::outcome::pass      ? style::good
         : o == results::outcome::skipped ? style::dim
                                          : style::bad;
}

// Padded before it is coloured, since colour codes have no width.
std::string word(const results::finding& f, bool colour) {
  const bool is_note = (f.check == results::kBatchInvariance || f.check == results::kSizes) &&
                       f.outcome == results::outcome::pass;
  return styled(fmt::format("{:<8}", is_note ? "note" : name_of(f.outcome)),
                is_note ? style::plain : style_of_outcome(f.outcome), colour);
}

// A finding's words without the problem that they may begin with: "1x1x1 f32: the kernel …".
std::string_view reason_in(std::string_view detail) {
  const std::size_t colon = detail.find(": ");
  const bool has_problem = colon != std::string_view::npos && !detail.empty() && detail[0] >= '1' &&
                           detail[0] <= '9' &&
                           detail.substr(0, detail.find(' ')).find('x') != std::string_view::npos;
  return has_problem ? detail.substr(colon + 2) : detail;
}

std::string plain(std::string_view text) { return styled(text, style::plain, false); }

}  // namespace

validation_text::validation_text(std::FILE* out)
    : out_(out), colour_(wants_colour(out)), columns_(view_of(out, {}).columns) {}

void validation_text::begins(const std::vector<run::loaded_plugin>& plugins,
                             const results::device& device, tier t) {
  print_to(out_, "tier {} on {} ({}), kernel-zoo {}\n", name_of(t), device.id, device.name,
           kVersion);
  for (const run::loaded_plugin& c : plugins) {
    if (c.record.description) {
      print_to(out_, "  {}: {}\n", plain(c.record.name), plain(c.record.file.string()));
    } else {
      print_to(out_, "  {} {}\n", styled("unavailable", style::bad, colour_),
               plain(c.record.problem));
    }
  }
}

void validation_text::starts(const results::validated_variant& v) {
  print_to(out_, "\n{} {}, declared {}\n", styled(v.kernel, style::bold, colour_),
           types_name(v.dtype), precision_name(v.declared));
  kernel_ = fmt::format("{} {}", v.kernel, types_name(v.dtype));
  std::fflush(out_);
}

void validation_text::takes(const results::validated_variant& v) {
  if (v.kind.empty()) return;
  print_to(out_, "  with {}\n", v.kind);
  kernel_ = fmt::format("{} {} with {}", v.kernel, types_name(v.dtype), v.kind);
}

std::string validation_text::sentence(const results::finding& f) {
  if (f.outcome == results::outcome::pass || f.outcome == results::outcome::skipped || f.errors)
    return f.detail;
  const std::string_view reason = reason_in(f.detail);
  const auto [known, is_new] =
      said_.try_emplace(std::string(reason), fmt::format("{}, {}", kernel_, f.check));
  if (is_new) return f.detail;
  std::string where = known->second;
  if (where.starts_with(kernel_ + ", ")) where.erase(0, kernel_.size() + 2);
  return fmt::format("{}as in \"{}\"", f.detail.substr(0, f.detail.size() - reason.size()), where);
}

void validation_text::found(const results::finding& f) {
  constexpr std::size_t kWords = 28;  // the column that they begin in
  const auto lines = folded(sentence(f), std::min(columns_, kWidestProse) - kWords);
  print_to(out_, "  {} {:<16} {}\n", word(f, colour_), plain(f.check),
           fmt::join(lines, '\n' + std::string(kWords, ' ')));
  if (f.errors) {
    for (const std::string& line : reference::lines_of(*f.errors))
      print_to(out_, "      {}\n", line);
  }
  std::fflush(out_);
}

void validation_text::ends(const results::validation& v) {
  std::map<results::outcome, int> counts;
  for (const results::validated_variant& one : v.variants)
    for (const results::finding& f : one.findings) ++counts[f.outcome];
  counts.try_emplace(results::outcome::pass);
  std::string text;
  for (const auto& [o, count] : counts) add_item(text, fmt::format("{} {}", count, name_of(o)));
  results::coverage covered;
  for (const results::validated_variant& one : v.variants) covered.add(one.kernel, one.findings);
  print_to(out_, "\n");
  for (const results::gap& g : covered.gaps()) {
    print_to(out_, "{} {}\n", styled("not checked:", style::bad, colour_),
             plain(results::to_string(g)));
  }
  const closing_words closing = results::nothing_ran(v)
                                    ? closing_words{"NOTHING RAN", style::bad}
                                    : closing_words_for(results::exit_code(v) == 0, covered);
  print_to(out_, "{}: {} · {:.1f} s\n", styled(closing.words, closing.look, colour_), text,
           v.wall_seconds);
}

void validation_text::is_interrupted() {
  print_to(out_, "\n{}\n", styled("INTERRUPTED", style::bad, colour_));
}

}  // namespace kzoo::report
