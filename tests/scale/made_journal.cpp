// Makes the journal of a long run from that of a short one: the cells of its first problem again
// and again, with made-up times, for every problem of its experiment but the last. Like a run it
// keeps the document in memory and stores each cell.
//
//   kzoo_made_journal SHORT.jsonl LONG.jsonl SAMPLES

#include "experiment/load.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace kzoo;
using results::cell;

constexpr int kRounds = 10;

// As a GPU measures them: times that are floats, clocks in whole MHz.
timing::summary made_time(int count, double ms, std::mt19937_64& random) {
  std::normal_distribution<double> scatter(1, 0.01);
  std::vector<double> samples, clocks;
  std::vector<int> rounds;
  for (int i = 0; i < count; ++i) {
    samples.push_back(static_cast<float>(ms * scatter(random)));
    clocks.push_back(std::round(1970 * scatter(random)));
    rounds.push_back(i * kRounds / count);
  }
  timing::summary s = timing::summarise(samples, rounds);
  s.sm_mhz = clocks;
  s.caches = timing::caches::cold;
  return s;
}

// The first problem's cells several times, since figures that differ everywhere take too long.
std::vector<std::vector<cell>> variations(const results::document& d, int samples) {
  constexpr std::size_t kCount = 16;
  std::mt19937_64 random(1);
  std::vector<std::vector<cell>> all(kCount, {d.cells.begin(), d.cells.end()});
  for (std::vector<cell>& cells : all) {
    for (cell& c : cells) {
      c.time = made_time(samples, 0.01 * static_cast<double>(&c - cells.data() + 1), random);
      c.conditions = {1980, 3201, 62, 474.768, 700, {"sw_power_cap"}};
      c.speedup.reset();
    }
    d.compare_with_baseline(cells);
  }
  return all;
}

void make(const std::string& from, const std::string& to, int samples) {
  results::document d = storage::read_journal_file(from).results;
  d.experiment =
      experiment::load_text(d.experiment.file, d.experiment.text, d.experiment.overridden);
  const std::size_t problems = d.experiment.problems.size();
  d.cells.resize(d.planned / problems);
  const auto made = variations(d, samples);
  d.cells.clear();

  auto journal = storage::journal::create(to);
  journal.head(d);
  for (std::size_t i = 0; i + 1 < problems; ++i) {
    const std::size_t first = d.cells.size();
    for (const cell& each : made[i % made.size()]) {
      d.cells.push_back(each);
      d.cells.back().problem = i;
      journal.add(d, std::span(d.cells).subspan(first));
    }
  }
  fmt::print("{} cells\n", d.cells.size());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4)
    throw std::runtime_error("usage: kzoo_made_journal SHORT.jsonl LONG.jsonl SAMPLES");
  make(argv[1], argv[2], std::stoi(argv[3]));
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
