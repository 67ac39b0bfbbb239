// TMA: tensor maps, loads and stores of boxes, bulk copies.
#include <kzoo/sim/sm90/tma.hpp>

#include <algorithm>
#include <cstring>

#include <kzoo/error.hpp>

#include "../block.hpp"

namespace kzoo::sim::sm90 {
namespace {

constexpr std::uint64_t kMagic = 0x6b7a6f6f6d61707full;

unsigned box_bytes(const matrix_map& m) { return m.box_rows * m.box_cols * m.element_bytes; }

// Calls visit(offset in shared memory, place in the matrix, bytes of it inside) for each 16 bytes
// of a box that begins at `at` in shared memory. The bytes inside begin at the chunk's begin: tiles
// begin at a multiple of 16 bytes.
template <class Visit>
void for_each_chunk(const matrix_map& m, shared_offset at, const box_place& place,
                    const Visit& visit) {
  const unsigned row_bytes = m.box_cols * m.element_bytes;
  const auto width = static_cast<std::int64_t>(m.cols * m.element_bytes);
  const bool in_batch = place.number >= 0 && static_cast<std::uint64_t>(place.number) < m.count;
  for (unsigned r = 0; r < m.box_rows; ++r) {
    const std::int64_t y = std::int64_t{place.row} + r;
    const bool inside = in_batch && y >= 0 && static_cast<std::uint64_t>(y) < m.rows;
    for (unsigned c = 0; c < row_bytes; c += kGranule) {
      const std::int64_t x = std::int64_t{place.col} * m.element_bytes + c;
      const shared_offset plain = at + r * row_bytes + c;
      const std::int64_t bytes = x < 0 ? 0 : std::clamp<std::int64_t>(width - x, 0, kGranule);
      visit(swizzled(plain, m.swizzle),
            m.base + place.number * m.matrix_bytes + y * m.row_bytes + x, inside ? bytes : 0);
    }
  }
}

matrix_map map_or_fail(thread& t, const void* map, const char* who, const here& where) {
  matrix_map m;
  std::memcpy(&m, map, sizeof m);
  if (m.magic != kMagic) {
    t.owner->fail_with(t, [&] {
      return std::string(who) + " (" + place_text(where) + "): this is no tensor map";
    });
  }
  return m;
}

// The place of a box in shared memory.
shared_offset box_offset(thread& t, const matrix_map& m, const box_place& place, const void* shared,
                         const char* who, const here& where) {
  const shared_offset at = offset_or_fail(t, shared, box_bytes(m), who, where);
  constexpr unsigned kAlignment = 128;
  if (at % kAlignment != 0) {
    t.owner->fail_with(t, [&] {
      return std::string(who) + " (" + place_text(where) + "): the tile begins at " +
             address_text(at) + ", not at a multiple of 128";
    });
  }
  if (std::int64_t{place.col} * m.element_bytes % kGranule != 0) {
    t.owner->fail_with(t, [&] {
      return std::string(who) + " (" + place_text(where) + "): the simulator has columns that " +
             "begin at a multiple of 16 bytes, and this is column " + std::to_string(place.col);
    });
  }
  return at;
}

// The bytes of global memory that a box or a bulk copy moves.
async_traffic traffic_of(const copy_into_shared& c) {
  constexpr std::uintptr_t kSector = 32;
  async_traffic sum;
  const auto add = [&](const unsigned char* begin, std::int64_t bytes) {
    const auto from = reinterpret_cast<std::uintptr_t>(begin),
               to = from + static_cast<std::uintptr_t>(bytes);
    if (bytes <= 0) return;
    sum.bytes += static_cast<std::uint32_t>(bytes);
    sum.passes += static_cast<std::uint32_t>((to - 1) / kSector - from / kSector + 1);
  };
  if (c.from != nullptr) {
    add(c.from, c.bytes);
    return sum;
  }
  const matrix_map& m = c.map;
  const box_place& at = c.place;
  if (at.number < 0 || static_cast<std::uint64_t>(at.number) >= m.count) return sum;
  const std::int64_t left = std::int64_t{at.col} * m.element_bytes,
                     width = m.cols * m.element_bytes;
  const std::int64_t begin = std::max<std::int64_t>(left, 0),
                     end = std::min<std::int64_t>(left + m.box_cols * m.element_bytes, width);
  for (std::int64_t row = std::max(at.row, 0);
       row < std::min<std::int64_t>(at.row + std::int64_t{m.box_rows}, m.rows); ++row) {
    add(m.base + at.number * m.matrix_bytes + row * m.row_bytes + begin, end - begin);
  }
  return sum;
}

template <class Visit>
void for_each_granule(cta& in, shared_offset at, unsigned bytes, const Visit& visit) {
  for (unsigned byte = 0; byte < bytes; byte += kGranule)
    visit(in.sm90.granule_at(at + byte), byte);
}

void start(thread& t, const copy_into_shared& copy, const char* who) {
  cta& in = *copy.in;
  check_barrier(t, in, copy.barrier, copy.where);  // the copy may arrive at once
  for_each_granule(in, copy.to, copy.bytes, [&](granule& g, unsigned byte) {
    check_settled(t, in, copy.to + byte, true, who, copy.where);
    ++g.copies;
    g.change = copy.where;
  });
  std::memset(t.owner->memory(in, copy.to), 0xff, copy.bytes);
  t.owner->sm90().copies.push_back(copy);
}

std::uint64_t hash_of_tile(const thread& t, const store_from_shared& s) {
  const unsigned char* tile = t.owner->memory(*t.in, s.from);
  std::uint64_t hash = 1;
  for (unsigned byte = 0; byte < box_bytes(s.map); byte += kGranule)
    hash = hash_of(hash, tile + byte);
  return hash;
}

}  // namespace

unsigned swizzled(unsigned address, unsigned width) {
  return width == 0 ? address : address ^ ((address >> 7 & (width / kGranule - 1)) << 4);
}

matrix_map encode(matrix_map map) {
  constexpr std::uint64_t kMostElements = std::uint64_t{1} << 32;
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
  constexpr unsigned kMostInBox = 256;
  const auto is_stride = [](std::int64_t bytes) {
    return bytes % kGranule == 0 && bytes >= 0 && bytes < kMostBytes;
  };
  const auto is_size = [](std::uint64_t size) { return size >= 1 && size <= kMostElements; };
  const unsigned box_row_bytes = map.box_cols * map.element_bytes;
  const bool fits = reinterpret_cast<std::uintptr_t>(map.base) % kGranule == 0 &&
                    is_stride(map.row_bytes) && is_stride(map.matrix_bytes) && is_size(map.rows) &&
                    is_size(map.cols) && is_size(map.count) && map.box_rows - 1 < kMostInBox &&
                    map.box_cols - 1 < kMostInBox && box_row_bytes % kGranule == 0 &&
                    (map.swizzle == 0 || box_row_bytes <= map.swizzle);
  if (!fits) {
    throw error(KZOO_ERROR, "cuTensorMapEncodeTiled: error 1 for " + std::to_string(map.rows) +
                                " x " + std::to_string(map.cols) + " elements with " +
                                std::to_string(map.row_bytes) + " bytes per row");
  }
  map.magic = kMagic;
  return map;
}

void tma_load(const void* map, void* to, box_place at, std::uint64_t& barrier, unsigned blocks,
              here where) {
  thread& t = running();
  constexpr const char* kWho = "a load by TMA";
  copy_into_shared copy{
      .map = map_or_fail(t, map, kWho, where), .place = at, .by = &t, .where = where};
  copy.bytes = box_bytes(copy.map);
  copy.to = box_offset(t, copy.map, at, to, kWho, where);
  copy.barrier = offset_or_fail(t, &barrier, sizeof barrier, "TMA's mbarrier", where);
  if (blocks == 0) {
    t.owner->fail_with(t, [&] {
      return "a load by TMA (" + place_text(where) + ") is for no block of the cluster";
    });
  }
  if (watching != nullptr)
    watching->start_async(async_access::tma_load, traffic_of(copy), __builtin_return_address(0));
  if (blocks == kOwnBlock) blocks = 1u << t.in->rank;
  for (unsigned rank = 0; rank < 16; ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    copy.in = &block_of_cluster(t, rank, kWho, where);
    start(t, copy, kWho);
  }
}

void bulk_load(const void* from, void* to, unsigned bytes, std::uint64_t& barrier, here where) {
  thread& t = running();
  constexpr const char* kWho = "bulk_load()";
  copy_into_shared copy{.from = static_cast<const unsigned char*>(from),
                        .bytes = bytes,
                        .in = t.in,
                        .by = &t,
                        .where = where};
  copy.to = offset_or_fail(t, to, bytes, kWho, where);
  copy.barrier = offset_or_fail(t, &barrier, sizeof barrier, "bulk_load()'s mbarrier", where);
  if (copy.to % kGranule != 0 || bytes % kGranule != 0 ||
      reinterpret_cast<std::uintptr_t>(from) % kGranule != 0) {
    t.owner->fail_with(t, [&] {
      return "bulk_load() (" + place_text(where) + "): addresses and bytes must be multiples of 16";
    });
  }
  if (watching != nullptr)
    watching->start_async(async_access::tma_load, traffic_of(copy), __builtin_return_address(0));
  start(t, copy, kWho);
}

void finish_copy(block_runner& runner, std::size_t number) {
  auto& copies = runner.sm90().copies;
  const copy_into_shared copy = copies[number];
  copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(number));
  cta& in = *copy.in;
  if (in.exited == in.threads.size()) {
    return runner.set_failure("a block has ended before its copy (" + place_text(copy.where) +
                              ") has arrived");
  }
  if (copy.from != nullptr) {
    runner.copy(*copy.by, copy.where, runner.memory(in, copy.to), copy.from, copy.bytes);
  } else {
    for_each_chunk(copy.map, copy.to, copy.place,
                   [&](shared_offset to, const unsigned char* from, std::int64_t bytes) {
                     unsigned char* chunk = runner.memory(in, to);
                     std::memset(chunk, 0, kGranule);
                     if (bytes > 0)
                       runner.copy(*copy.by, copy.where, chunk, from,
                                   static_cast<std::size_t>(bytes));
                   });
  }
  for_each_granule(in, copy.to, copy.bytes, [&](granule& g, unsigned byte) {
    --g.copies;
    see(in, copy.to + byte);
  });
  const std::string problem =
      add_to_phase(in, copy.barrier, nullptr, 0, -static_cast<std::int64_t>(copy.bytes));
  if (!problem.empty()) runner.set_failure(barrier_text(copy.barrier, copy.where) + problem);
}

void tma_store(const void* map, const void* from, box_place at, here where) {
  thread& t = running();
  constexpr const char* kWho = "a store by TMA";
  const matrix_map m = map_or_fail(t, map, kWho, where);
  store_from_shared s{m, at, box_offset(t, m, at, from, kWho, where), 0, where};
  for_each_granule(*t.in, s.from, box_bytes(m), [&](granule&, unsigned byte) {
    check_settled(t, *t.in, s.from + byte, false, kWho, where);
    see(*t.in, s.from + byte);
  });
  s.hash = hash_of_tile(t, s);
  t.sm90.stores.add(s);
  copy_into_shared of_box;
  of_box.map = m;
  of_box.place = at;
  if (watching != nullptr)
    watching->start_async(async_access::tma_store, traffic_of(of_box), __builtin_return_address(0));
}

void tma_store_commit() { running().sm90.stores.commit(); }

// TMA writes 16 bytes at a time, even if a row ends within them.
void tma_store_wait_read(unsigned pending, here where) {
  thread& t = running();
  t.sm90.stores.wait(pending, [&](const store_from_shared& s) {
    if (hash_of_tile(t, s) != s.hash) {
      t.owner->fail_with(t, [&] {
        return "what a store by TMA (" + place_text(s.where) +
               ") reads was overwritten before tma_store_wait_read() (" + place_text(where) + ")";
      });
    }
    for_each_chunk(s.map, s.from, s.place,
                   [&](shared_offset from, unsigned char* to, std::int64_t bytes) {
                     if (bytes > 0)
                       t.owner->copy(t, s.where, to, t.owner->memory(*t.in, from), kGranule);
                   });
  });
}

std::string store_problem_at_end(const thread& t) {
  const auto stores = t.sm90.stores.all();
  if (stores.empty()) return {};
  return "a block has ended before a store by TMA (" + place_text(stores.front().where) + ") " +
         (t.sm90.stores.has_groups() ? "has read its tile" : "was committed");
}

}  // namespace kzoo::sim::sm90
