#include "xray/collector.hpp"

#include "xray/block_counter.hpp"

#include <algorithm>
#include <cmath>

namespace kzoo::xray {
namespace {

collector& self_of(void* self) { return *static_cast<collector*>(self); }
block_counter& counter_of(void* worker) { return *static_cast<block_counter*>(worker); }

// Scales the counts of the blocks that ran to the whole grid.
void scale_to_grid(collected_launch& l) {
  const std::uint64_t run = l.about.blocks_run;
  if (run == 0 || run == l.about.blocks) return;
  const double by = double(l.about.blocks) / double(run);
  const auto scale = [by](std::uint64_t& count) {
    count = static_cast<std::uint64_t>(std::llround(double(count) * by));
  };
  for (auto& [key, site] : l.sites) {
    for (request_counts* c : {&site.single, &site.merged}) {
      for (std::uint64_t* count : {&c->requests, &c->lanes, &c->bytes, &c->passes, &c->ideal})
        scale(*count);
    }
  }
  scale(l.about.barriers);
  scale(l.about.uncounted);
}

}  // namespace

collector::collector()
    : sink_{.struct_size = sizeof(kzoo_xray_sink),
            .self = this,
            .begin_launch = [](void* self,
                               const kzoo_xray_launch* l) { self_of(self).begin_launch(*l); },
            .wants_block = [](void* self, std::uint64_t block) -> int {
              const std::vector<bool>& chosen = self_of(self).chosen_;
              return chosen.empty() || chosen[block];
            },
            .begin_worker = [](void* self, const kzoo_xray_range* shared) -> void* {
              return &self_of(self).begin_worker(*shared);
            },
            .begin_block =
                [](void* worker, std::uint64_t, const kzoo_xray_range* dynamic) {
                  counter_of(worker).begin_block(*dynamic);
                },
            .interval = [](void* worker,
                           const kzoo_xray_interval* what) { counter_of(worker).interval(*what); },
            .end_block = [](void*) {}} {}

collector::~collector() = default;

void collector::begin_launch(const kzoo_xray_launch& l) {
  gather();
  collected_launch next;
  next.about.kernel = l.kernel;
  std::copy_n(l.grid, 3, next.about.grid.begin());
  std::copy_n(l.block, 3, next.about.block.begin());
  next.about.blocks = std::uint64_t{l.grid[0]} * l.grid[1] * l.grid[2];
  hazards_.begin_launch(next.about.grid, next.about.block);
  global_.begin_launch(next.about.blocks);
  choose_blocks(next.about.blocks);
  launches_.push_back(std::move(next));
}

// Multiples of the golden ratio, modulo the grid: neither rows nor columns of blocks are left out.
void collector::choose_blocks(std::uint64_t blocks) {
  chosen_.clear();
  const auto share = static_cast<std::uint64_t>(double(blocks) * sampling_.share);
  const std::uint64_t wanted = std::min(sampling_.most, std::max<std::uint64_t>(1, share));
  if (blocks <= wanted) return;
  chosen_.resize(blocks);
  constexpr double kGolden = 0.6180339887498949;
  for (std::uint64_t i = 0, found = 0; found < wanted; ++i) {
    const double place = (double(i) + 0.5) * kGolden;
    auto block = static_cast<std::uint64_t>((place - std::floor(place)) * double(blocks));
    while (chosen_[block]) block = (block + 1) % blocks;
    chosen_[block] = true;
    ++found;
  }
}

block_counter& collector::begin_worker(const kzoo_xray_range& static_shared) {
  const std::lock_guard lock(mutex_);
  return *workers_.emplace_back(
      std::make_unique<block_counter>(global_, hazards_, static_shared, ignored_));
}

// Adds the workers' counts to the last launch.
void collector::gather() {
  const std::lock_guard lock(mutex_);
  if (launches_.empty()) return;
  for (const auto& worker : workers_) worker->move_to(launches_.back());
  launches_.back().hazards = hazards_.take();
  scale_to_grid(launches_.back());
}

std::vector<collected_launch> collector::take() {
  gather();
  return std::exchange(launches_, {});
}

}  // namespace kzoo::xray
