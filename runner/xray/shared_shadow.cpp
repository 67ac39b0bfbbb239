#include "xray/shared_shadow.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kzoo::xray {
void shared_shadow::begin_block(const kzoo_xray_range& static_shared,
                                const kzoo_xray_range& dynamic_shared) {
  ++block_;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const kzoo_xray_range& now = i == 0 ? static_shared : dynamic_shared;
    region& r = regions_[i];
    if (r.range.begin == now.begin && r.range.end == now.end) continue;
    r.range = now;
    r.words.assign((now.end - now.begin + kWordBytes - 1) / kWordBytes, {});
  }
}

shared_shadow::word* shared_shadow::word_at(std::uint64_t address) {
  for (region& r : regions_) {
    if (address - r.range.begin < r.range.end - r.range.begin)
      return &r.words[(address - r.range.begin) / kWordBytes];
  }
  return nullptr;
}

void shared_shadow::access(const touching_warp& who, const warp_access& a) {
  constexpr unsigned kIntervalBits = 24;
  side now;
  now.epoch = block_ << kIntervalBits | who.interval;
  now.place = who.place;
  now.atomic = who.how == touch::atomic;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!a.active(lane)) continue;
    now.thread = static_cast<std::uint16_t>(who.warp * kWarp + lane);
    now.meetings = (*who.meetings)[lane];
    const std::uint64_t end = a.address[lane] + a.bytes;
    for (std::uint64_t at = a.address[lane]; at < end;) {
      const auto first = static_cast<unsigned>(at % kWordBytes);
      const auto count =
          static_cast<unsigned>(std::min<std::uint64_t>(kWordBytes - first, end - at));
      now.bytes = static_cast<std::uint8_t>(((1u << count) - 1) << first);
      if (word* w = word_at(at)) touch_word(*w, who, now);
      at += count;
    }
  }
}

void shared_shadow::touch_word(word& w, const touching_warp& who, const side& now) {
  if (w.written_in != block_) {
    w.written_in = block_;
    w.written = 0;
  }
  check(w.writer, now, who);
  if (who.how != touch::write && !who.together && (w.written & now.bytes) != now.bytes) {
    log_.add(hazard::shared_unwritten, who.place, who.place, [&] {
      return fmt::format("thread {} of block {}", log_.thread_name(now.thread),
                         log_.block_name(who.block));
    });
  }
  if (who.how == touch::read) {
    if (w.reader.epoch != now.epoch) {
      w.reader = now;
    } else if (w.reader.thread != now.thread && w.other_reader.epoch != now.epoch) {
      w.other_reader = now;
    }
    return;
  }
  check(w.reader, now, who);
  check(w.other_reader, now, who);
  w.writer = now;
  w.written |= now.bytes;
}

void shared_shadow::check(const side& before, const side& now, const touching_warp& who) {
  if (before.epoch != now.epoch || before.thread == now.thread) return;
  if ((before.bytes & now.bytes) == 0 || (before.atomic && now.atomic)) return;
  const bool one_warp = before.thread / kWarp == now.thread / kWarp;
  if (one_warp && before.meetings != now.meetings) return;  // they have met in between
  log_.add(hazard::shared_race, now.place, before.place, [&] {
    return fmt::format(
        "threads {} and {} of block {}, {}", log_.thread_name(before.thread),
        log_.thread_name(now.thread), log_.block_name(who.block),
        one_warp ? "in one warp, without __syncwarp()" : "without __syncthreads() between them");
  });
}

}  // namespace kzoo::xray
