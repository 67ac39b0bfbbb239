#include "run/resume.hpp"

#include "input/diagnostics.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace kzoo::run {

void take_over(results::document& interrupted, const plan& p, results::document& head,
               const std::string& place) {
  std::map<problem, std::size_t> known;
  for (const problem& q : p.experiment.problems) known.emplace(q, known.size());
  std::vector<kernel_id> kernels;
  for (const loaded_plugin& plugin : p.plugins)
    for (const selected_variant& variant : plugin.variants)
      kernels.push_back({plugin.record.name, variant.description.id});

  std::size_t position = 0, previous = 0;
  for (results::cell& c : interrupted.cells) {
    const problem& q = interrupted.problem_of(c);
    const auto found = known.find(q);
    if (found == known.end()) {
      input::refuse(
          place, fmt::format("has results on {}, which is not in its experiment", problem_name(q)));
    }
    position = found->second == previous ? position : 0;
    previous = found->second;
    if (position >= kernels.size() || c.kernel != kernels[position]) {
      input::refuse(
          place,
          fmt::format("has {} on {} where its experiment has {}", c.kernel.name(), problem_name(q),
                      position < kernels.size() ? kernels[position].name() : "no further kernel"));
    }
    ++position;
    c.problem = found->second;
  }
  head.cells = std::move(interrupted.cells);
}

}  // namespace kzoo::run
