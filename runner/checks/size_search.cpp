#include "checks/candidate.hpp"
#include "os/posix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <vector>

namespace kzoo::checks {
namespace {

constexpr double kMostSeconds = 5;

struct dimension {
  char name;
  std::int64_t problem::*extent;
};
constexpr std::array<dimension, 3> kDimensions{
    {{'M', &problem::m}, {'N', &problem::n}, {'K', &problem::k}}};

using rightness = std::map<std::int64_t, bool>;  // by extent

std::string text_of(const dimension& along, const problem& base, const rightness& seen) {
  std::vector<std::int64_t> right, wrong;
  for (const auto& [extent, is_right] : seen) (is_right ? right : wrong).push_back(extent);
  if (wrong.empty()) return "";
  std::vector<std::string> shape;
  for (const dimension& d : kDimensions)
    shape.push_back(d.name == along.name ? std::string(1, d.name) : std::to_string(base.*d.extent));
  const std::int64_t step = std::accumulate(right.begin(), right.end(), std::int64_t{0},
                                            std::gcd<std::int64_t, std::int64_t>);
  const bool decides = right.size() > 1 && std::ranges::none_of(wrong, [step](std::int64_t extent) {
                         return extent % step == 0;
                       });
  const std::string rule =
      decides ? fmt::format("only right where {} is a multiple of {}: ", along.name, step) : "";
  return fmt::format("{}{} is right at {} = {}, wrong at {}", rule, fmt::join(shape, "x"),
                     along.name, fmt::join(right, ", "), fmt::join(wrong, ", "));
}

class size_search {
 public:
  size_search(client::plugin_client& client, const candidate_description& wrong,
              expected_results& expected)
      : client_(client),
        who_(wrong),
        expected_(expected),
        smallest_wrong_(wrong.problem),
        usual_timeout_(client.set_timeout(kMostSeconds)) {
    if (usual_timeout_ < kMostSeconds) client_.set_timeout(usual_timeout_);
  }
  ~size_search() { client_.set_timeout(usual_timeout_); }
  size_search(const size_search&) = delete;
  size_search& operator=(const size_search&) = delete;

  size_report run() {
    std::string text;
    try {
      search(text);
    } catch (const failure&) {  // it hangs or takes long: earlier findings count
    }
    if (!text.empty()) {
      const problem& p = who_.problem;
      text += fmt::format(" ({}, {})", types_name(p.dtype), layout_name(p.layout));
    }
    return {text, smallest_wrong_};
  }

 private:
  void search(std::string& text) {
    if (const auto base = right_cube()) {
      // K first, which decides most often.
      for (const dimension& along : kDimensions | std::views::reverse) {
        const std::string part = text_of(along, *base, seen_along(along, *base));
        if (!text.empty() && !part.empty()) text += "; ";
        text += part;
      }
    }
  }

  candidate_description at(const problem& p) const {
    candidate_description other = who_;
    other.problem = p;
    return other;
  }

  std::optional<problem> fitted(const problem& p) {
    candidate asked(client_, at(p), expected_);
    return fit(asked, p).taken;
  }

  // Returns nothing if the kernel reports an error, e.g. for a size that it should have rejected.
  std::optional<bool> is_right(const problem& p) {
    if (steady_seconds() - start_ > kMostSeconds)
      throw failure(verdict::hung, "the search takes long");
    candidate c(client_, at(p), expected_);
    bool right = false;
    try {
      c.prepare(p);
      right = c.run().judgement.right;
      c.destroy();
    } catch (const failure& f) {
      client_.leave();
      if (f.verdict == verdict::hung) throw;
      if (f.verdict != verdict::crashed) return std::nullopt;
    }
    if (!right && p.flops() < smallest_wrong_.flops()) smallest_wrong_ = p;
    return right;
  }

  std::optional<problem> right_cube() {
    for (const std::int64_t edge : {16, 32, 64, 128, 256}) {
      problem p = who_.problem;
      p.m = p.n = p.k = edge;
      p.batch = std::min<std::int64_t>(p.batch, 2);
      const auto taken = fitted(p);
      if (taken && is_right(*taken).value_or(false)) return taken;
    }
    return std::nullopt;
  }

  // Tries small extents, around the base's and at multiples of it, as far as the kernel takes them.
  rightness seen_along(const dimension& along, const problem& base) {
    const std::int64_t own = base.*along.extent;
    rightness seen{{own, true}};
    for (const std::int64_t extent : {std::int64_t{1}, own / 4, own / 2, own - 1, own + 1,
                                      own + own / 2, 2 * own, 3 * own, 4 * own}) {
      problem p = base;
      p.*along.extent = std::max<std::int64_t>(extent, 1);
      const auto taken = fitted(p);
      if (!taken) continue;
      p.*along.extent = (*taken).*along.extent;
      if (p != *taken || seen.contains(p.*along.extent)) continue;
      if (const auto right = is_right(p)) seen[p.*along.extent] = *right;
    }
    return seen;
  }

  client::plugin_client& client_;
  const candidate_description& who_;
  expected_results& expected_;
  problem smallest_wrong_;
  const double usual_timeout_;
  const double start_ = steady_seconds();
};

}  // namespace

size_report search_sizes(client::plugin_client& client, const candidate_description& wrong,
                         expected_results& expected) {
  return size_search(client, wrong, expected).run();
}

}  // namespace kzoo::checks
