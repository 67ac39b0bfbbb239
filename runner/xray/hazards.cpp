#include "xray/hazards.hpp"

#include "data/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace kzoo::xray {
namespace {

std::string name_in(const dimensions& all, std::uint64_t linear) {
  if (all[1] <= 1 && all[2] <= 1) return std::to_string(linear);
  const std::uint64_t row = linear / all[0];
  return fmt::format("({},{},{})", linear % all[0], row % all[1], row / all[1]);
}

// An access in 64 bits, atomic for OS threads. Each part is modulo its field; never 0.
constexpr unsigned kPlaceBits = 24, kBlockBits = 28, kLaunchBits = 8;

std::uint64_t pack(unsigned bytes, std::uint64_t launch, std::uint64_t block, std::uint32_t place) {
  const auto low = [](std::uint64_t x, unsigned bits) { return x & ((1ull << bits) - 1); };
  return ((bytes * 1ull << kLaunchBits | low(launch, kLaunchBits)) << kBlockBits |
          low(block, kBlockBits))
             << kPlaceBits |
         low(place, kPlaceBits);
}

unsigned bytes_of(std::uint64_t packed) {
  return static_cast<unsigned>(packed >> (kLaunchBits + kBlockBits + kPlaceBits));
}
std::uint64_t launch_of(std::uint64_t packed) {
  return packed >> (kBlockBits + kPlaceBits) & ((1u << kLaunchBits) - 1);
}
std::uint64_t block_of(std::uint64_t packed) {
  return packed >> kPlaceBits & ((1u << kBlockBits) - 1);
}
std::uint32_t place_of(std::uint64_t packed) { return packed & ((1u << kPlaceBits) - 1); }

template <class T>
T* zeros(std::size_t count) {
  void* memory = std::calloc(count, sizeof(T));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

bool is_padding(const global_buffer& b, std::uint64_t address) {
  const bool is_matrix = b.row_bytes != 0 && b.spec.count == 1;
  return is_matrix && (address - b.begin) % b.row_bytes >=
                          static_cast<std::uint64_t>(b.spec.cols) * b.element_bytes;
}

std::string element_text(const global_buffer& b, std::uint64_t address) {
  const std::uint64_t offset = address - b.begin;
  if (b.row_bytes == 0) return fmt::format("byte {} of {}", offset, b.name);
  return fmt::format("element ({}, {}) of {}", offset / b.row_bytes,
                     offset % b.row_bytes / b.element_bytes, b.name);
}

// For an access [first, end) that begins before the buffer, ends past it, or writes between rows.
std::string outside_text(const global_buffer& b, std::uint64_t first, std::uint64_t end) {
  if (first < b.begin) return fmt::format("{} bytes before {}", b.begin - first, b.name);
  if (b.row_bytes == 0) return fmt::format("{} bytes past the end of {}", end - b.end, b.name);
  const std::uint64_t outside = is_padding(b, first) ? first : std::max(first, b.end);
  return fmt::format("{}, which is {}x{}", element_text(b, outside), b.spec.count * b.spec.rows,
                     b.spec.cols);
}

}  // namespace

void hazard_log::begin_launch(const dimensions& grid, const dimensions& block) {
  grid_ = grid;
  block_ = block;
}

std::string hazard_log::block_name(std::uint64_t block) const { return name_in(grid_, block); }
std::string hazard_log::thread_name(std::uint32_t thread) const { return name_in(block_, thread); }

std::uint32_t hazard_log::number_of(const code_place& place) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] =
      numbers_.try_emplace(place, static_cast<std::uint32_t>(places_.size()));
  if (is_new) places_.push_back(place);
  return found->second;
}

std::vector<hazard_record> hazard_log::take() {
  const std::lock_guard lock(mutex_);
  std::vector<hazard_record> records;
  for (const auto& [key, e] : found_) {
    const auto& [what, first, second] = key;
    records.push_back({what, places_[first], places_[second], e.detail, e.count});
  }
  found_.clear();
  return records;
}

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
  if (who.unordered) {
    if (who.how != touch::read) w.written |= now.bytes;
    return;
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

void global_shadow::freed::operator()(void* p) const { std::free(p); }

void global_shadow::add(const global_buffer& buffer) {
  shadowed s{buffer, {}, {}};
  if (buffer.input) {
    buffers_.push_back(std::move(s));
    return;
  }
  const std::size_t words = (buffer.outer_end - buffer.outer_begin + kWordBytes - 1) / kWordBytes;
  s.words.reset(zeros<word>(words));
  s.written.reset(zeros<std::uint8_t>(words));
  buffers_.push_back(std::move(s));
}

const global_shadow::shadowed* global_shadow::find(std::uint64_t address) const {
  for (const shadowed& s : buffers_)
    if (address - s.buffer.outer_begin < s.buffer.outer_end - s.buffer.outer_begin) return &s;
  return nullptr;
}

// Elements without their poison were written by an earlier launch, which the shadow knows, or by
// host code such as a memset, which nothing records.
void global_shadow::note_host_writes(const shadowed& s) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(s.buffer.outer_begin);
  const unsigned size = s.buffer.element_bytes;
  for (std::int64_t i = 0; i < data::word_count(s.buffer.spec); ++i) {
    const std::uint64_t at = static_cast<std::uint64_t>(i) * size;
    const data::word_bits poison = data::word(s.buffer.spec, i);
    if (std::memcmp(bytes + at, &poison, size) == 0) continue;
    for (std::uint64_t byte = at; byte < at + size; ++byte)
      s.written[byte / kWordBytes] |= static_cast<std::uint8_t>(1u << (byte % kWordBytes));
  }
}

void global_shadow::begin_launch(std::uint64_t blocks) {
  ++launch_;
  for (const shadowed& s : buffers_)
    if (!s.buffer.input && !s.buffer.filled) note_host_writes(s);
  ordered_ = std::make_unique<std::atomic<bool>[]>(blocks);
  ordered_count_ = blocks;
}

std::string global_shadow::thread_of(const touching_warp& who, unsigned lane) const {
  return fmt::format("thread {} of block {}", log_.thread_name(who.warp * kWarp + lane),
                     log_.block_name(who.block));
}

void global_shadow::access(const touching_warp& who, const warp_access& a) {
  if (who.how == touch::atomic) order(who.block);
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!a.active(lane)) continue;
    const shadowed* s = find(a.address[lane]);
    if (s == nullptr) continue;
    const global_buffer& b = s->buffer;
    const std::uint64_t first = a.address[lane], end = first + a.bytes;
    const bool is_write = who.how != touch::read;
    if (first < b.begin || end > b.end || (is_write && is_padding(b, first))) {
      const hazard kind = is_write ? hazard::global_write_bounds : hazard::global_read_bounds;
      log_.add(kind, who.place, who.place,
               [&] { return thread_of(who, lane) + ", " + outside_text(b, first, end); });
      continue;
    }
    if (b.input) continue;
    for (std::uint64_t at = first; at < end;) {
      const auto low = static_cast<unsigned>((at - b.outer_begin) % kWordBytes);
      const auto count = static_cast<unsigned>(std::min<std::uint64_t>(kWordBytes - low, end - at));
      touch_word(*s, at, ((1u << count) - 1) << low, lane, who);
      at += count;
    }
  }
}

void global_shadow::touch_word(const shadowed& s, std::uint64_t address, unsigned bytes,
                               unsigned lane, const touching_warp& who) {
  const std::size_t index = (address - s.buffer.outer_begin) / kWordBytes;
  word& w = s.words[index];
  std::atomic_ref<std::uint8_t> written(s.written[index]);
  std::atomic_ref<std::uint64_t> writer(w.writer), reader(w.reader);
  const std::uint64_t now = pack(bytes, launch_, who.block, who.place);
  constexpr auto kRelaxed = std::memory_order_relaxed;
  if (who.how != touch::write && !s.buffer.filled && (written.load(kRelaxed) & bytes) != bytes) {
    const bool is_sum = who.how == touch::atomic;
    log_.add(is_sum ? hazard::global_unwritten_sum : hazard::global_unwritten, who.place, who.place,
             [&] { return thread_of(who, lane) + ", " + element_text(s.buffer, address); });
  }
  if (who.how == touch::atomic) {  // in order with all other atomic operations
    written.fetch_or(static_cast<std::uint8_t>(bytes), kRelaxed);
    return;
  }
  if (who.how == touch::read) {
    check(s, writer.load(kRelaxed), now, address, who);
    reader.store(now, kRelaxed);
    return;
  }
  check(s, reader.load(kRelaxed), now, address, who);
  check(s, writer.exchange(now, kRelaxed), now, address, who);
  written.fetch_or(static_cast<std::uint8_t>(bytes), kRelaxed);
}

void global_shadow::check(const shadowed& s, std::uint64_t before, std::uint64_t now,
                          std::uint64_t address, const touching_warp& who) {
  if (before == 0 || launch_of(before) != launch_of(now) || block_of(before) == block_of(now))
    return;
  if ((bytes_of(before) & bytes_of(now)) == 0) return;
  const std::uint64_t other = block_of(before);
  const auto is_ordered = [&](std::uint64_t block) {
    return block < ordered_count_ && ordered_[block].load(std::memory_order_relaxed);
  };
  if (is_ordered(other) && is_ordered(who.block)) return;
  log_.add(hazard::global_race, who.place, place_of(before), [&] {
    return fmt::format("blocks {} and {}, {}", log_.block_name(other), log_.block_name(who.block),
                       element_text(s.buffer, address));
  });
}

}  // namespace kzoo::xray
