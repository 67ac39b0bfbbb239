#include "checks/check.hpp"

#include "core/operands.hpp"
#include "reference/places.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace kzoo::checks {
namespace {

problem with_seed(problem p, std::uint64_t seed) {
  p.seed = seed;
  return p;
}

// Runs, and throws failed with the description `doing` if the result is wrong.
judged_run run_right(candidate& c, const std::string& doing, int slot = 0) {
  judged_run r = c.run_again(slot);
  require(r.judgement, doing);
  return r;
}

// Slot 0 holds the current problem; slots 1 and, later, 2 hold the other.
void in_turn(candidate& c, const problem& other) {
  const std::string a = shape_name(c.current_problem()), b = shape_name(other);
  const std::string between =
      fmt::format("right alone, wrong between runs of {} and {}: do instances share state? ", a, b);
  run_right(c, between + b, 1);
  run_right(c, between + a);
  run_right(c, between + b, 1);
  c.prepare(with_seed(other, other.seed + 1), 2);
  for (const int slot : {2, 1, 0})
    run_right(c, "right alone, wrong beside another instance of its shape: ", slot);
  // Destroys the older instance of the same shape first, then the oldest of all.
  const std::string destroyed = "right until another instance was destroyed: ";
  c.destroy(1);
  run_right(c, destroyed + b, 2);
  run_right(c, destroyed + a);
  c.destroy(0);
  run_right(c, destroyed + b, 2);
  c.destroy(2);
}

// New contents in the same buffers, with the same instance: finds cached results.
covered run_new_contents(candidate& c) {
  constexpr int kFreshRuns = 20;
  problem p = c.current_problem();
  if (p.groups > 0) p.group_rows = data::group_rows::skewed;  // so that offsets change, too
  c.prepare(p);
  run_right(c, "the first run");
  for (const std::uint64_t seed : {p.seed + 1, p.seed}) {
    c.refill(with_seed(p, seed), "");
    run_right(c, "right at first, wrong once A and B have new contents");
  }
  // A kernel may cache one input and reread another.
  for (const named_operand& input : inputs_of(p)) {
    problem other = p;
    other.renewed = input.name;
    for (const problem& next : {other, p}) {
      c.refill(next, "");
      run_right(c, fmt::format("right at first, wrong once {} alone has new contents", input.name));
    }
  }
  // A kernel may begin to cache results after a while.
  for (int run = 0; run < kFreshRuns; ++run)
    require(c.run_fresh(), "right at first, wrong once A and B have new contents");
  c.destroy();
  return {fmt::format("{} times new contents in the same buffers, and of each input alone",
                      2 + kFreshRuns)};
}

// Moves each matrix and the workspace in turn; old memory becomes NaN. Finds cached pointers.
covered run_new_addresses(candidate& c) {
  c.prepare(c.current_problem());
  run_right(c, "the first run");
  std::vector<std::string_view> others;
  for (const named_operand& other : named_operands(c.current_problem()))
    others.push_back(other.name);
  for (const auto& [letter, name] : {std::pair<const char*, std::string>{"a", "A"},
                                     {"b", "B"},
                                     {"c", "C"},
                                     {"o", fmt::format("{}", fmt::join(others, " or "))},
                                     {"w", "the workspace"}}) {
    if (*letter == 'o' && others.empty()) continue;
    c.refill(c.current_problem(), letter);
    run_right(c, fmt::format("right at first, wrong once {} is at a new address: was a "
                             "pointer kept from the first call?",
                             name));
  }
  c.refill(with_seed(c.current_problem(), c.current_problem().seed + 1), "abcow");
  run_right(c, "right at first, wrong once all matrices and the workspace are at new addresses");
  c.destroy();
  return {"each matrix and the workspace moved in turn, then all at once"};
}

// Runs several live instances in turn, of two shapes and also two of the same shape, and while
// others are destroyed. Finds state that instances share.
covered run_interleaved(candidate& c) {
  problem other = c.current_problem();
  const bool integer = is_integer(other.dtype);
  other.alpha = integer ? 3 : 0.5;
  other.beta = integer ? -1 : -0.25;
  other.padding += 4;
  std::string reason;
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{70, 33, 50}, {128, 64, 96}}) {
    other.m = m;
    other.n = n;
    other.k = k;
    const fitted_problem fitted = fit(c, other);
    if (!fitted.taken || *fitted.taken == c.current_problem()) {
      reason = fitted.taken ? "none of its sizes is another" : fitted.objection;
      continue;
    }
    other = *fitted.taken;
    c.prepare(other);
    run_right(c, problem_name(other) + " alone");
    c.destroy();
    c.prepare(c.current_problem());
    run_right(c, "the first run");
    c.prepare(other, 1);
    in_turn(c, other);
    return {fmt::format("one instance for {} and two for {}, run in turn",
                        shape_name(c.current_problem()), shape_name(other))};
  }
  throw skipped("there is no second shape: " + reason);
}

// Repeats a run: bit-identical results; right results if declared nondeterministic.
covered run_repeatedly(candidate& c) {
  constexpr int kRuns = 50;
  const bool nondeterministic = c.who().description.nondeterministic;
  const problem& p = c.current_problem();
  const auto expected = c.judge().expected(p);
  c.prepare(p);
  const judged_run first_run = c.run();  // always copied, whatever ran before
  require(first_run.judgement, "the first run");
  const std::uint64_t first = first_run.report.output.digest;
  const reference::result kept = c.judge().last_judged();
  for (int run = 2; run <= kRuns; ++run) {
    const judged_run again = c.run(0, {first});
    const std::string which = fmt::format("run {} of {}", run, kRuns);
    require(again.judgement, which + " is wrong, the first was right: a race?");
    if (again.report.output.digest == first || nondeterministic) continue;
    const reference::comparison difference =
        reference::compare(*expected, kept, c.declared(), c.judge().last_judged(), c.declared());
    throw failed(fmt::format(
        "{} differs from the first, by up to {:.3g} at {}, and the variant is not "
        "declared nondeterministic: a race?",
        which, difference.max_abs_diff,
        reference::place_name(operands_of(p).c, difference.worst_row, difference.worst_col)));
  }
  c.destroy();
  return {
      fmt::format("{} runs, {}", kRuns, nondeterministic ? "all right" : "bit for bit the same")};
}

// Finds missing barriers and fences: a seed is an order of warps, and of copies that arrive.
covered run_in_other_orders(candidate& c) {
  constexpr std::uint64_t kSeeds = 30;
  struct fixed_order_again {
    client::plugin_client& client;
    ~fixed_order_again() { client.set_schedule(0); }
  } const at_end{c.client()};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    if (!c.client().set_schedule(seed)) throw skipped("orders need a worker process");
    const std::string with = fmt::format("with --schedule {}", seed);
    try {
      c.prepare(c.current_problem());
      run_right(c, with);
      c.destroy();
    } catch (const failure& f) {
      throw failure(f.verdict, fmt::format("{}: {}", with, f.what()), f.step);
    }
  }
  return {fmt::format("{} orders of warps and copies", kSeeds)};
}

}  // namespace

std::vector<check> checks_of_state() {
  return {{.name = "new contents", .run = run_new_contents, .is_about_problem = true},
          {.name = "new addresses", .run = run_new_addresses, .is_about_problem = true},
          {.name = "interleaving", .run = run_interleaved, .is_about_problem = true},
          {.name = "repeats", .run = run_repeatedly, .is_about_problem = true},
          {.name = "schedules",
           .run = run_in_other_orders,
           .applies_to = [](const candidate& c) { return c.who().simulated; },
           .is_about_problem = true,
           .from = tier::paranoid}};
}

}  // namespace kzoo::checks
