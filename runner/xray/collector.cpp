#include "xray/collector.hpp"

#include <fmt/format.h>
#include <kzoo/launch_limits.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <unordered_map>

namespace kzoo::xray {
namespace {

bool is_in(const kzoo_xray_range& r, std::uint64_t address) {
  return address - r.begin < r.end - r.begin;
}

void keep_worst(access_pattern& worst, const warp_access& a, unsigned passes) {
  if (passes <= worst.passes) return;
  worst = {a.mask, a.bytes, passes, {}};
  std::uint64_t lowest = ~0ull;
  for (unsigned lane = 0; lane < kWarp; ++lane)
    if (a.active(lane)) lowest = std::min(lowest, a.address[lane]);
  lowest -= lowest % (kBanks * kBankBytes);  // keeps banks and sectors recognisable
  for (unsigned lane = 0; lane < kWarp; ++lane)
    if (a.active(lane)) worst.offsets[lane] = static_cast<std::uint32_t>(a.address[lane] - lowest);
}

void add_request(request_counts& to, const warp_access& a, const cost& c) {
  to += {1, static_cast<std::uint64_t>(std::popcount(a.mask)), c.bytes, c.passes, c.ideal};
}

}  // namespace

// Counts the accesses of the blocks that one OS thread runs.
class block_counter final : replay_visitor {
 public:
  // `ignored`: ranges in static_shared, relative to it.
  block_counter(global_shadow& global, hazard_log& hazards, const kzoo_xray_range& static_shared,
                const std::vector<kzoo_xray_range>& ignored)
      : global_(global),
        hazards_(hazards),
        shared_(hazards),
        static_shared_(static_shared),
        ignored_(ignored),
        replay_(contexts_) {}

  void begin_block(const kzoo_xray_range& dynamic_shared) {
    dynamic_shared_ = dynamic_shared;
    shared_.begin_block(static_shared_, dynamic_shared);
    lanes_.clear();
    ++blocks_;
  }
  void interval(const kzoo_xray_interval& what) {
    if (lanes_.size() <= what.warp) lanes_.resize(what.warp + 1);
    block_ = what.block;
    warp_ = what.warp;
    interval_ = what.number;
    unordered_ = what.unordered != 0;
    meetings_.fill(0);
    replay_.run(what, lanes_[what.warp], *this);
    end_merging();
    barriers_ += what.at_barrier;
  }

  // Moves its counts to `to`.
  void move_to(collected_launch& to) {
    for (const site& s : sites_) {
      if (s.counts.single.requests == 0) continue;  // its operations are not counted
      const site_key key{{s.pc, contexts_.path(s.context)}, s.kind, s.width};
      const auto [found, is_new] = to.sites.try_emplace(key, s.counts);
      if (!is_new) found->second.add(s.counts);
    }
    to.about.barriers += barriers_;
    to.about.uncounted += uncounted_;
    to.about.blocks_run += blocks_;
    sites_.clear();
    by_pc_.clear();
    barriers_ = uncounted_ = blocks_ = 0;
  }

 private:
  struct site {
    std::uint32_t pc, context;
    access kind;
    unsigned width;
    std::uint32_t place;  // number in hazards_
    site_counts counts;
  };

  void accessed(const warp_step& step) override {
    if (step.where.mask == 0) return;  // a copy that fills with zeros in all lanes
    const auto kind = kind_of(step);
    // ldmatrix: the rows that it reads are counted, the access of the whole warp has the hazards.
    const bool row = (step.event->flags & KZOO_XRAY_ROW) != 0;
    const bool together = (step.event->flags & KZOO_XRAY_WHOLE_WARP) != 0;
    const bool counts_only = row && !together;
    if (!kind) {
      if (!counts_only) look_past_dynamic_shared(step);
      return;
    }
    const std::uint32_t index = site_of(step, *kind, step.where.bytes);
    if (!counts_only) look_for_hazards(step, *kind, sites_[index].place);
    if (together) {
      if (!row) ++uncounted_;
      return;
    }
    // An asynchronous copy is counted where it reads.
    if (is_shared(*kind) && (step.event->flags & KZOO_XRAY_ASYNC) != 0) return;
    if (*kind == access::shared_load && step.where.bytes == kBankBytes)
      return count_shared_load(index, step.where);
    if (*kind == access::shared_store || *kind == access::shared_atomic) end_merging();
    const cost c = is_shared(*kind) ? shared_cost(step.where, *kind == access::shared_load)
                                    : global_cost(step.where);
    add_request(sites_[index].counts.single, step.where, c);
    keep_worst(sites_[index].counts.worst, step.where, c.passes);
  }
  void started(const warp_step& step) override {
    constexpr std::array kKinds{access::tma_load, access::tma_store, access::wgmma};
    const access kind = kKinds.at(step.event->kind - KZOO_XRAY_TMA_LOAD);
    const auto bytes = static_cast<std::uint32_t>(step.event->address);
    const unsigned of_pass = is_shared(kind) ? kBanks * kBankBytes : kSectorBytes;
    const cost c{static_cast<unsigned>(step.event->address >> 32), (bytes + of_pass - 1) / of_pass,
                 bytes};
    add_request(sites_[site_of(step, kind, bytes)].counts.single, step.where, c);
  }
  void fence(std::uint32_t) override { global_.order(block_); }
  void synchronized(std::uint32_t mask) override {
    for (unsigned lane = 0; lane < kWarp; ++lane) meetings_[lane] += mask >> lane & 1;
  }
  void out_of_bounds(const warp_step& step) override {
    const std::uint32_t place = place_of(step);
    const auto lane = static_cast<unsigned>(std::countr_zero(step.where.mask));
    hazards_.add(hazard::shared_bounds, place, place, [&] {
      return fmt::format("{}, index {}", thread_of(lane),
                         static_cast<std::int64_t>(step.where.address[lane]));
    });
  }

  std::optional<access> kind_of(const warp_step& step) const {
    const kzoo_xray_event& e = *step.event;
    const std::uint64_t at =
        step.where.address[static_cast<unsigned>(std::countr_zero(step.where.mask))];
    const bool read = e.kind == KZOO_XRAY_READ, atomic = e.kind == KZOO_XRAY_ATOMIC;
    const bool async = (e.flags & KZOO_XRAY_ASYNC) != 0;
    const auto is_ignored = [&](const kzoo_xray_range& r) {
      return is_in(r, at - static_shared_.begin);
    };
    if (is_in(static_shared_, at) && std::ranges::any_of(ignored_, is_ignored)) return {};
    if (is_in(static_shared_, at) || is_in(dynamic_shared_, at))
      return atomic ? access::shared_atomic : read ? access::shared_load : access::shared_store;
    if (async && read) return access::async_copy;
    if (!global_.contains(at)) return {};
    return atomic ? access::global_atomic : read ? access::global_load : access::global_store;
  }
  std::uint32_t place_of(const warp_step& step) {
    return hazards_.number_of({step.event->pc, contexts_.path(step.context)});
  }
  std::string thread_of(unsigned lane) const {
    return fmt::format("thread {} of block {}", hazards_.thread_name(warp_ * kWarp + lane),
                       hazards_.block_name(block_));
  }
  // Reports accesses past the launch's dynamic shared memory, up to the most that it could request.
  void look_past_dynamic_shared(const warp_step& step) {
    const std::uint64_t size = dynamic_shared_.end - dynamic_shared_.begin;
    for (unsigned lane = 0; lane < kWarp && size != 0; ++lane) {
      const std::uint64_t beyond = step.where.address[lane] - dynamic_shared_.end;
      if (!step.where.active(lane) || beyond >= launch_limits{}.shared_opt_in - size) continue;
      const std::uint32_t place = place_of(step);
      hazards_.add(hazard::shared_bounds, place, place, [&] {
        return fmt::format("{}, {} bytes past the {} of dynamic shared memory", thread_of(lane),
                           beyond + step.where.bytes, size);
      });
    }
  }
  void look_for_hazards(const warp_step& step, access kind, std::uint32_t place) {
    const unsigned bytes = step.where.bytes;
    const auto first = static_cast<unsigned>(std::countr_zero(step.where.mask));
    for (unsigned lane = first; lane < kWarp && std::has_single_bit(bytes); ++lane) {
      if (!step.where.active(lane) || step.where.address[lane] % bytes == 0) continue;
      hazards_.add(hazard::misaligned, place, place, [&] {
        return fmt::format("{}, {} bytes at a multiple of {}", thread_of(lane), bytes,
                           1u << std::countr_zero(step.where.address[lane]));
      });
    }
    const bool together = (step.event->flags & KZOO_XRAY_WHOLE_WARP) != 0;
    touching_warp who{block_,      warp_,    interval_,  place,
                      touch::read, together, unordered_, &meetings_};
    if (step.event->kind == KZOO_XRAY_WRITE) who.how = touch::write;
    if (step.event->kind == KZOO_XRAY_ATOMIC) who.how = touch::atomic;
    if (is_shared(kind)) {
      shared_.access(who, step.where);
    } else {
      global_.access(who, step.where);
    }
  }
  std::uint32_t site_of(const warp_step& step, access kind, unsigned width) {
    const auto is_it = [&](const site& s) {
      return s.pc == step.event->pc && s.context == step.context && s.kind == kind &&
             s.width == width;
    };
    if (last_site_ < sites_.size() && is_it(sites_[last_site_])) return last_site_;
    std::vector<std::uint32_t>& candidates =
        by_pc_[std::uint64_t{step.event->pc} << 32 | step.context];
    for (const std::uint32_t index : candidates)
      if (is_it(sites_[index])) return last_site_ = index;
    const auto index = static_cast<std::uint32_t>(sites_.size());
    sites_.push_back({step.event->pc, step.context, kind, width, place_of(step), {}});
    sites_.back().counts.mergeable = kind == access::shared_load && width == kBankBytes;
    candidates.push_back(index);
    return last_site_ = index;
  }
  void count_shared_load(std::uint32_t index, const warp_access& a) {
    site_counts& s = sites_[index].counts;
    const cost c = shared_cost(a, true);
    add_request(s.single, a, c);
    keep_worst(s.worst, a, c.passes);
    s.mergeable = s.mergeable && merged_loads::same_phase(a);
    if (s.mergeable) pending_.add(index, a);
  }
  void end_merging() {
    pending_.take([&](std::uint32_t index, const warp_access& a) {
      site_counts& s = sites_[index].counts;
      add_request(s.merged, a, shared_cost(a, true));
      s.merged_width = std::max(s.merged_width, a.bytes);
    });
  }

  global_shadow& global_;
  hazard_log& hazards_;
  shared_shadow shared_;
  kzoo_xray_range static_shared_, dynamic_shared_{};
  const std::vector<kzoo_xray_range>& ignored_;
  call_contexts contexts_;
  warp_replay replay_;
  std::vector<std::array<std::uint32_t, kWarp>> lanes_;  // by warp: the lanes' contexts
  std::uint64_t block_ = 0;
  std::uint32_t warp_ = 0, interval_ = 0;  // being replayed
  bool unordered_ = false;
  std::array<std::uint16_t, kWarp> meetings_{};  // its lanes' meetings in this interval
  merged_loads pending_;
  std::vector<site> sites_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_pc_;
  std::uint32_t last_site_ = 0;
  std::uint64_t barriers_ = 0, uncounted_ = 0, blocks_ = 0;
};

void site_counts::add(const site_counts& o) {
  single += o.single;
  merged += o.merged;
  merged_width = std::max(merged_width, o.merged_width);
  mergeable = mergeable && o.mergeable;
  if (o.worst.passes > worst.passes) worst = o.worst;
}

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
