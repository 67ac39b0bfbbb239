#include "xray/warp_replay.hpp"

#include <algorithm>
#include <bit>

namespace kzoo::xray {
namespace {

// The lane with the smallest key runs next. Waiting lanes come last, before ended lanes.
constexpr std::uint64_t kEnded = ~0ull, kWaits = kEnded - 1;

std::uint64_t key_of(std::uint32_t depth, std::uint64_t place) {
  return std::uint64_t{0x7fffffffu - depth} << 32 | (place & 0xffffffffu);
}

constexpr std::uint64_t kVectorBytes = 16;

}  // namespace

std::uint32_t call_contexts::enter(std::uint32_t from, std::uint32_t call_site) {
  const std::pair asked{from, call_site};
  if (asked == last_) return last_entered_;
  const auto [found, is_new] = known_.try_emplace(asked, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({from, call_site, nodes_[from].depth + 1});
  last_ = asked;
  return last_entered_ = found->second;
}

std::vector<std::uint32_t> call_contexts::path(std::uint32_t context) const {
  std::vector<std::uint32_t> sites;
  for (; context != 0; context = nodes_[context].parent) sites.push_back(nodes_[context].call_site);
  return sites;
}

void warp_replay::update_key(unsigned lane) {
  const kzoo_xray_lane& l = lanes_[lane];
  if (l.begin == l.end) {
    keys_[lane] = kEnded;
  } else if (l.begin->kind == KZOO_XRAY_SYNC) {
    keys_[lane] = kWaits;
  } else {
    // A called function's place is its call, until its first instruction.
    const bool call = l.begin->kind == KZOO_XRAY_CALL;
    keys_[lane] = key_of(contexts_.depth((*at_)[lane]), call ? l.begin->address : l.begin->pc);
  }
}

void warp_replay::step(std::uint32_t mask, replay_visitor& visitor) {
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const kzoo_xray_event& leader = *lanes_[first].begin;
  std::array<std::uint32_t, kWarp>& at = *at_;
  switch (leader.kind) {
    case KZOO_XRAY_READ:
    case KZOO_XRAY_WRITE:
    case KZOO_XRAY_ATOMIC:
    case KZOO_XRAY_BOUNDS: {
      warp_step s{&leader, at[first], {0, 0, {}}};
      for (unsigned lane = first; lane < kWarp; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        const kzoo_xray_event& own = *lanes_[lane].begin;
        s.where.bytes = std::max<unsigned>(s.where.bytes, own.bytes);
        // 0 bytes: a copy that reads nothing here.
        if (own.bytes != 0 || own.kind == KZOO_XRAY_BOUNDS) s.where.mask |= 1u << lane;
        s.where.address[lane] = own.address;
      }
      if (leader.kind == KZOO_XRAY_BOUNDS) {
        visitor.out_of_bounds(s);
      } else {
        visitor.accessed(s);
      }
      break;
    }
    case KZOO_XRAY_TMA_LOAD:
    case KZOO_XRAY_TMA_STORE:
    case KZOO_XRAY_WGMMA: visitor.started({&leader, at[first], {mask, 0, {}}}); break;
    case KZOO_XRAY_FENCE: visitor.fence(mask); break;
    case KZOO_XRAY_SYNC: visitor.synchronized(mask); break;
    default: break;
  }
  for (unsigned lane = first; lane < kWarp; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    const kzoo_xray_event& done = *lanes_[lane].begin++;
    if (done.kind == KZOO_XRAY_CALL) {
      at[lane] = contexts_.enter(at[lane], static_cast<std::uint32_t>(done.address));
    } else if (done.kind == KZOO_XRAY_RETURN) {
      at[lane] = contexts_.leave(at[lane]);
    }
    update_key(lane);
  }
}

void warp_replay::run(const kzoo_xray_interval& interval, std::array<std::uint32_t, kWarp>& at,
                      replay_visitor& visitor) {
  at_ = &at;
  keys_.fill(kEnded);
  for (unsigned lane = 0; lane < interval.lane_count; ++lane) {
    lanes_[lane] = interval.lanes[lane];
    update_key(lane);
  }
  for (;;) {
    const std::uint64_t next = *std::ranges::min_element(keys_);
    if (next == kEnded) return;
    std::uint32_t mask = 0;
    const kzoo_xray_event* leader = nullptr;
    std::uint32_t context = 0;
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if (keys_[lane] != next) continue;
      const kzoo_xray_event* own = lanes_[lane].begin;
      if (leader == nullptr) leader = own, context = at[lane];
      if (next == kWaits || (own->kind == leader->kind && at[lane] == context)) mask |= 1u << lane;
    }
    step(mask, visitor);
  }
}

bool merged_loads::same_phase(const warp_access& a) {
  const auto first = static_cast<unsigned>(std::countr_zero(a.mask));
  for (unsigned lane = first; lane < kWarp; ++lane)
    if (a.active(lane) && (a.address[lane] - a.address[first]) % kVectorBytes != 0) return false;
  return a.address[first] % kBankBytes == 0;
}

void merged_loads::add(std::uint32_t site, const warp_access& a) {
  const auto first = static_cast<unsigned>(std::countr_zero(a.mask));
  const std::uint64_t phase = a.address[first] % kVectorBytes;
  std::uint64_t others = 0;
  for (unsigned lane = first; lane < kWarp; ++lane) {
    if (a.active(lane))
      others =
          others * 0x9e3779b97f4a7c15u + (a.address[lane] - a.address[first]) / kVectorBytes + 1;
  }
  group& g = groups_[{site, a.mask, a.address[first] - phase, others}];
  if (g.words == 0) {
    g.base = a;
    for (unsigned lane = 0; lane < kWarp; ++lane)
      g.base.address[lane] -= a.active(lane) ? phase : 0;
  }
  g.words |= 1u << phase / kBankBytes;
}

}  // namespace kzoo::xray
