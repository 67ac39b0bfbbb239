#include "run/validate.hpp"

#include "checks/all_checks.hpp"
#include "checks/single_cell.hpp"
#include "run/access_search.hpp"
#include "run/device_memory.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace kzoo::run {
namespace {

// Problems to try, until the variant supports one: first different M, N and K that no tile divides,
// then whole tiles and vectors, in layout nn; then the same in the other layouts.
std::vector<problem> problems_to_try(const results::device& device,
                                     const validation_options& options,
                                     const element_types& dtype) {
  using shape = std::array<std::int64_t, 3>;
  const shape odd = device.abi.kind == KZOO_CUDA ? shape{1023, 1025, 1031} : shape{129, 127, 65};
  std::vector<shape> shapes{odd, {128, 256, 64}, {512, 512, 512}, {1, 129, 65}, {127, 1, 65}};
  if (options.size) shapes = {*options.size};
  std::vector<problem> list;
  std::vector<layout> layouts{kLayouts.begin(), kLayouts.end()};
  if (options.layout) layouts = {*options.layout};
  for (const layout given : layouts) {
    for (const auto& [m, n, k] : shapes) {
      problem p = options.beside;
      p.m = m;
      p.n = n;
      p.k = k;
      p.dtype = dtype;
      p.data = default_fill(dtype);
      p.layout = given;
      list.push_back(p);
    }
  }
  return list;
}

// The next larger sizes that the variant takes; `p` where it takes none, or fails: then the first
// check says so.
problem fitted(checks::candidate& c, const problem& p) try {
  return checks::fit(c, p).taken.value_or(p);
} catch (const failure&) {
  return p;
}

void validate_variant(loaded_plugin& plugin, const checks::candidate_description& who,
                      const results::device& device, const validation_options& options,
                      checks::expected_results& expected_results, access_search& accesses,
                      const validation_observer& watch, results::validated_variant& out) {
  const auto candidate_at = [&](const problem& p) {
    checks::candidate_description at = who;
    at.problem = p;
    return checks::candidate(*plugin.client, at, expected_results);
  };
  const auto add = [&](const results::finding& f) {
    out.findings.push_back(f);
    watch.found(f);
  };
  problem supported;
  std::optional<results::finding> first;  // what is said of the first problem, if none is taken
  for (const problem& p : problems_to_try(device, options, who.problem.dtype)) {
    checks::candidate asked = candidate_at(p);
    supported = options.size ? p : fitted(asked, p);
    checks::candidate candidate = candidate_at(supported);
    results::finding found = checks::run_check(checks::runs_and_repeats(), candidate);
    const bool is_taken = found.outcome != results::outcome::skipped;
    if (!first || is_taken) first = std::move(found);
    if (is_taken) break;
  }
  add(*first);
  if (first->outcome == results::outcome::skipped) return;
  out.problem = problem_name(supported);
  const double start = steady_seconds();
  std::uint64_t workspace_bytes = 0;
  for (const checks::check& c : checks::all_checks()) {
    checks::candidate candidate = candidate_at(supported);
    if (c.from > options.tier || !c.applies_to(candidate)) continue;
    const bool hung = std::ranges::any_of(out.findings, [](const results::finding& f) {
      return f.outcome == results::outcome::hung;
    });
    add(hung ? checks::skipped_after_hang(c) : checks::run_check(c, candidate));
    workspace_bytes = std::max(workspace_bytes, candidate.workspace_bytes());
  }
  if (const auto slow = results::slow_checks(steady_seconds() - start, workspace_bytes)) add(*slow);
  const bool is_wrong = std::ranges::any_of(
      out.findings, [](const results::finding& f) { return f.outcome == results::outcome::fail; });
  checks::candidate_description at = who;
  at.problem = supported;
  if (const auto found = is_wrong ? accesses.of(plugin, at) : std::nullopt) add(*found);
  if (const auto names = plugin.client->unnamed_libraries(); !names.empty())
    add(results::calls_libraries(names));
}

}  // namespace

results::validation validate(std::vector<loaded_plugin>& plugins, const results::device& device,
                             const validation_options& options, const validation_observer& watch) {
  const double start = steady_seconds();
  results::validation v{device, options.tier, {}, {}, 0};
  checks::expected_results expected_results;
  access_search accesses(options.find_access_analysis, expected_results);
  for (loaded_plugin& plugin : plugins) {
    v.plugins.push_back(plugin.record);
    if (!plugin.client) continue;
    for (const selected_variant& variant : plugin.variants) {
      for (const results::signature_description& s : variant.description.signatures) {
        if (std::ranges::find(kElementTypes, s.dtype) == kElementTypes.end()) continue;
        if (options.dtype && s.dtype != *options.dtype) continue;
        checks::candidate_description who{plugin.record.file,
                                          device.id,
                                          variant.index,
                                          variant.description,
                                          plugin.record.description->simulated(),
                                          {},
                                          options.show_errors};
        who.problem.dtype = s.dtype;
        v.variants.push_back({kernel_id{plugin.record.name, variant.description.id}.name(),
                              s.dtype,
                              s.compute,
                              "",
                              {}});
        watch.starts(v.variants.back());
        validate_variant(plugin, who, device, options, expected_results, accesses, watch,
                         v.variants.back());
      }
    }
    release(*plugin.client);
  }
  v.wall_seconds = steady_seconds() - start;
  return v;
}

}  // namespace kzoo::run
