#include "input/nearest.hpp"

#include <algorithm>

namespace kzoo::input {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// Insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal string
// alignment). Three rows of the table are enough.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> older(b.size() + 1), old(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) old[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({old[j] + 1, now[j - 1] + 1, old[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], older[j - 2] + 1);
    }
    std::swap(older, old);
    std::swap(old, now);
  }
  return old[b.size()];
}

}  // namespace

std::string nearest(std::string_view found, const std::vector<std::string>& known) {
  constexpr std::size_t kLongest = 100, kShortestPrefix = 3;
  if (found.empty() || found.size() > kLongest) return "";
  const std::string word = lower(found);
  std::string best;
  std::size_t best_distance = std::string::npos;
  for (const std::string& candidate : known) {
    const std::string other = lower(candidate);
    std::size_t d = distance(word, other);
    const bool begins = word.size() >= kShortestPrefix && other.starts_with(word);
    if (begins) d = std::min<std::size_t>(d, 1);
    // A third of the letters may be wrong, and in short words one, unless there is only one.
    const std::size_t longest = std::max(word.size(), other.size());
    if (d <= std::max<std::size_t>(longest / 3, longest > 1) && d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace kzoo::input
