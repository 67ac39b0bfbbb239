#include "xray/block_counter.hpp"

#include <kzoo/launch_limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

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

void site_counts::add(const site_counts& o) {
  single += o.single;
  merged += o.merged;
  merged_width = std::max(merged_width, o.merged_width);
  mergeable = mergeable && o.mergeable;
  if (o.worst.passes > worst.passes) worst = o.worst;
}

void block_counter::begin_block(const kzoo_xray_range& dynamic_shared) {
  dynamic_shared_ = dynamic_shared;
  shared_.begin_block(static_shared_, dynamic_shared);
  lanes_.clear();
  ++blocks_;
}

void block_counter::interval(const kzoo_xray_interval& what) {
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

std::optional<access> block_counter::kind_of(const warp_step& step) const {
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

std::uint32_t block_counter::site_of(const warp_step& step, access kind, unsigned width) {
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

std::uint32_t block_counter::place_of(const warp_step& step) {
  return hazards_.number_of({step.event->pc, contexts_.path(step.context)});
}

void block_counter::synchronized(std::uint32_t mask) {
  for (unsigned lane = 0; lane < kWarp; ++lane) meetings_[lane] += mask >> lane & 1;
}

std::string block_counter::thread_of(unsigned lane) const {
  return fmt::format("thread {} of block {}", hazards_.thread_name(warp_ * kWarp + lane),
                     hazards_.block_name(block_));
}

void block_counter::out_of_bounds(const warp_step& step) {
  const std::uint32_t place = place_of(step);
  const auto lane = static_cast<unsigned>(std::countr_zero(step.where.mask));
  hazards_.add(hazard::shared_bounds, place, place, [&] {
    return fmt::format("{}, index {}", thread_of(lane),
                       static_cast<std::int64_t>(step.where.address[lane]));
  });
}

// Reports accesses past the launch's dynamic shared memory, up to the most that it could request.
void block_counter::look_past_dynamic_shared(const warp_step& step) {
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

void block_counter::look_for_hazards(const warp_step& step, access kind, std::uint32_t place) {
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
  touching_warp who{block_, warp_, interval_, place, touch::read, together, unordered_, &meetings_};
  if (step.event->kind == KZOO_XRAY_WRITE) who.how = touch::write;
  if (step.event->kind == KZOO_XRAY_ATOMIC) who.how = touch::atomic;
  if (is_shared(kind)) {
    shared_.access(who, step.where);
  } else {
    global_.access(who, step.where);
  }
}

void block_counter::accessed(const warp_step& step) {
  if (step.where.mask == 0) return;  // a copy that fills with zeros in all lanes
  const auto kind = kind_of(step);
  if (!kind) return look_past_dynamic_shared(step);
  const std::uint32_t index = site_of(step, *kind, step.where.bytes);
  look_for_hazards(step, *kind, sites_[index].place);
  if ((step.event->flags & KZOO_XRAY_WHOLE_WARP) != 0) {
    ++uncounted_;
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

void block_counter::started(const warp_step& step) {
  constexpr std::array kKinds{access::tma_load, access::tma_store, access::wgmma};
  const access kind = kKinds.at(step.event->kind - KZOO_XRAY_TMA_LOAD);
  const auto bytes = static_cast<std::uint32_t>(step.event->address);
  const unsigned of_pass = is_shared(kind) ? kBanks * kBankBytes : kSectorBytes;
  const cost c{static_cast<unsigned>(step.event->address >> 32), (bytes + of_pass - 1) / of_pass,
               bytes};
  add_request(sites_[site_of(step, kind, bytes)].counts.single, step.where, c);
}

void block_counter::count_shared_load(std::uint32_t index, const warp_access& a) {
  site_counts& s = sites_[index].counts;
  const cost c = shared_cost(a, true);
  add_request(s.single, a, c);
  keep_worst(s.worst, a, c.passes);
  s.mergeable = s.mergeable && merged_loads::same_phase(a);
  if (s.mergeable) pending_.add(index, a);
}

void block_counter::end_merging() {
  pending_.take([&](std::uint32_t index, const warp_access& a) {
    site_counts& s = sites_[index].counts;
    add_request(s.merged, a, shared_cost(a, true));
    s.merged_width = std::max(s.merged_width, a.bytes);
  });
}

void block_counter::move_to(collected_launch& to) {
  for (const site& s : sites_) {
    if (s.counts.single.requests == 0) continue;  // of operations that are not counted
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

}  // namespace kzoo::xray
