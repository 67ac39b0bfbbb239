#include "checks/state.hpp"

#include "core/verdict.hpp"
#include "reference/tampering.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace kzoo::checks {
namespace {

problem with_seed(problem p, std::uint64_t seed) {
  p.seed = seed;
  return p;
}

// The result of a run that is right so far, and is made what it is by `doing` if it is not.
judged_run run_right(candidate& s, const std::string& doing, int slot = 0) {
  judged_run r = s.run(slot);
  require(r.judgement, doing);
  return r;
}

// With the problem at hand in slot 0, and the other one in slot 1 and then in slot 2 as well.
void in_turn(candidate& s, const problem& other) {
  const std::string a = shape_name(s.at()), b = shape_name(other);
  const std::string between = fmt::format(
      "right alone, wrong between runs of {} and {}: state that instances share? ", a, b);
  run_right(s, between + b, 1);
  run_right(s, between + a);
  run_right(s, between + b, 1);
  s.prepare(with_seed(other, other.seed + 1), 2);
  for (const int slot : {2, 1, 0}) {
    run_right(s, "right alone, wrong beside another instance of its shape: ", slot);
  }
  // Whoever was there first, and whoever has the shape of another, goes first.
  const std::string gone = "right until another instance was destroyed: ";
  s.finish(1);
  run_right(s, gone + b, 2);
  run_right(s, gone + a);
  s.finish(0);
  run_right(s, gone + b, 2);
  s.finish(2);
}

}  // namespace

std::string new_contents::look(candidate& s) const {
  const problem& p = s.at();
  s.prepare(p);
  run_right(s, "the first run");
  std::vector<std::byte> before = s.kept().elements;
  for (const std::uint64_t seed : {p.seed + 1, p.seed}) {
    const problem next = with_seed(p, seed);
    s.renew(next, "");
    const judged_run now = s.run();
    std::vector<std::byte> after = s.kept().elements;
    if (!now.judgement.right && after == before) {
      throw failed(
          "A and B hold other numbers in the same place, and C is bit for bit the old "
          "result: kept from an earlier call?");
    }
    require(now.judgement, "right at first, wrong once A and B hold other numbers");
    before = std::move(after);
  }
  s.finish();
  return "2 other contents in the same buffers";
}

std::string new_addresses::look(candidate& s) const {
  s.prepare(s.at());
  run_right(s, "the first run");
  for (const auto& [letter, name] :
       {std::pair{"a", "A"}, {"b", "B"}, {"c", "C"}, {"w", "the workspace"}}) {
    s.renew(s.at(), letter);
    run_right(s, fmt::format("right at first, wrong once {} is at a new address: a pointer kept "
                             "from the first call?",
                             name));
  }
  s.renew(with_seed(s.at(), s.at().seed + 1), "abcw");
  run_right(s, "right at first, wrong once A, B, C and the workspace are all new");
  s.finish();
  return "A, B, C and the workspace in turn, then all of them";
}

std::string interleaving::look(candidate& s) const {
  problem other = s.at();
  const bool whole = is_integer(other.dtype);
  other.alpha = whole ? 3 : 0.5;
  other.beta = whole ? -1 : -0.25;
  other.padding += 4;
  std::string reason;
  s.prepare(s.at());
  run_right(s, "the first run");
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{70, 33, 50}, {128, 64, 96}}) {
    other.m = m;
    other.n = n;
    other.k = k;
    try {
      s.prepare(other, 1);
    } catch (const failure& b) {
      if (b.verdict != verdict::unsupported) throw;
      reason = b.what();
      continue;
    }
    in_turn(s, other);
    return fmt::format("{} and two of {} in turn", shape_name(s.at()), shape_name(other));
  }
  s.finish();
  throw skipped("no second shape: " + reason);
}

std::string repeats::look(candidate& s) const {
  constexpr int kRuns = 50;
  const problem& p = s.at();
  const auto expected = s.expected(p);
  s.prepare(p);
  const std::uint64_t first = run_right(s, "the first run").report.output.digest;
  const reference::result kept = s.kept();
  for (int run = 2; run <= kRuns; ++run) {
    const judged_run again = s.run(0, {first});
    const std::string which = fmt::format("run {} of {} on the same data", run, kRuns);
    require(again.judgement, which + " is wrong, the first was right: a race?");
    if (again.report.output.digest == first || s.nondeterministic()) continue;
    const reference::comparison c = reference::compare(
        *expected, kept, s.declared(), reference::keep(*expected, s.host().output()), s.declared());
    throw failed(
        fmt::format("{} differs from the first, by up to {:.3g} at {}, and the variant is not "
                    "declared nondeterministic: a race?",
                    which, c.max_abs_diff, reference::place_name(c.worst_row, c.worst_col)));
  }
  s.finish();
  return fmt::format("{} runs, {}", kRuns,
                     s.nondeterministic() ? "all right" : "the same to the last bit");
}

}  // namespace kzoo::checks
