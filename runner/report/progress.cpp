#include "report/progress.hpp"

#include "os/output.hpp"
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kzoo::report {
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

}  // namespace kzoo::report
