// The state of each 16 bytes of shared memory: writes through the generic proxy, copies that have
// not arrived, MMAs that read.
#include <array>
#include <cstring>
#include <sstream>

#include <kzoo/sim/sm90/barriers.hpp>

#include "../block.hpp"

namespace kzoo::sim::sm90 {

bool follows_async_proxy = false;

bool follow_async_proxy() { return follows_async_proxy = true; }

std::string place_text(const here& where) {
  const char* file = where.file_name();
  const char* slash = std::strrchr(file, '/');
  return std::string(slash != nullptr ? slash + 1 : file) + ":" + std::to_string(where.line());
}

std::string address_text(shared_offset at) {
  return at < kStatic ? "byte " + std::to_string(at) + " of dynamic shared memory"
                      : "byte " + std::to_string(at - kStatic) + " of static shared memory";
}

void block_state::prepare(std::size_t dynamic_bytes, std::size_t static_bytes,
                          std::size_t threads) {
  dynamic_granules = (dynamic_bytes + kGranule - 1) / kGranule;
  if (follows_async_proxy) granules.assign(dynamic_granules + static_bytes / kGranule + 1, {});
  constexpr std::size_t kWarpgroup = 128;
  warpgroups.resize(threads / kWarpgroup);
}

void block_state::begin(std::uint64_t now) {
  begun = now;
  fences_before = ++fences;
  free_registers = 0;
  at_registers.clear();
  barriers.clear();
  warpgroups.assign(warpgroups.size(), {});
  for (named_barrier_state& b : named) {  // some may have arrived at it without waiting
    b.arrived = 0;
    b.waiting.clear();
  }
  if (!abandoned) return;
  abandoned = false;
  granules.assign(granules.size(), {});
}

static void note_write(thread& t, shared_offset at, unsigned bytes, const here& where,
                       std::uint32_t code) {
  const std::uint64_t now = ++t.owner->sm90().clock;
  for (unsigned byte = 0; byte < bytes; byte += kGranule) {
    granule& g = t.in->sm90.granule_at(at + byte);
    g.written = now;
    g.change = where;
    g.code = code;
    g.writer = static_cast<std::uint16_t>(t.linear);
  }
}

void note_write(thread& t, shared_offset at, unsigned bytes, const here& where) {
  note_write(t, at, bytes, where, 0);
}

void note_store(const volatile void* to, std::size_t bytes, std::uint32_t code) {
  thread& t = running();
  if (const auto at = t.owner->offset_of(*t.in, const_cast<const void*>(to), bytes))
    note_write(t, *at, static_cast<unsigned>(bytes), here{}, code);
}

void note_write_of_lane(unsigned lane, const void* shared, unsigned bytes, here where) {
  if (!follows_async_proxy) return;
  thread& t = running();
  thread& writer = t.in->threads[t.linear / 32 * 32 + lane];
  if (const auto at = t.owner->offset_of(*t.in, shared, bytes))
    note_write(writer, *at, bytes, where);
}

static std::uint32_t contents_of(cta& in, shared_offset at) {
  return static_cast<std::uint32_t>(hash_of(1, in.threads[0].owner->memory(in, at)));
}

// Stores are not noted, but their effect is: false if the contents have changed since the async
// proxy has last seen them, and no thread has called fence_async_proxy() since.
static bool is_as_seen(cta& in, shared_offset at) {
  static constexpr std::array<unsigned char, kGranule> kPoison = [] {
    std::array<unsigned char, kGranule> bytes{};
    bytes.fill(0xff);
    return bytes;
  }();
  granule& g = in.sm90.granule_at(at);
  const bool seen = g.fences >= in.sm90.fences_before;
  if ((seen ? g.fences : in.sm90.fences_before) != in.sm90.fences) return true;
  return contents_of(in, at) ==
         (seen ? g.seen : static_cast<std::uint32_t>(hash_of(1, kPoison.data())));
}

// " (file.cu:12)", " (code 0x1a2b)" for a recorded store, "" if the writer is not known.
static std::string writer_text(const granule& g) {
  if (g.change.line() != 0) return " (" + place_text(g.change) + ")";
  if (g.code == 0) return "";
  std::ostringstream text;
  text << " (code 0x" << std::hex << g.code << ")";
  return text.str();
}

void check_settled(thread& t, cta& in, shared_offset at, bool overwrites, const char* who,
                   const here& where) {
  if (overwrites) check_unread(t, in, at, who, where);
  const granule& g = in.sm90.granule_at(at);
  const bool fenced = g.written <= in.sm90.begun || g.written <= in.threads[g.writer].sm90.fenced;
  const bool known = fenced && (overwrites || is_as_seen(in, at));
  if (g.copies == 0 && known) return;
  t.owner->fail_with(t, [&] {
    const std::string place = fenced ? "" : writer_text(g);
    return std::string(who) + " (" + place_text(where) + ") " +
           (overwrites ? "overwrites " : "reads ") + address_text(at) +
           (g.copies != 0
                ? ", where a copy (" + place_text(g.change) + ") has not arrived"
                : ", which a thread has written" + place + " without fence_async_proxy() since");
  });
}

void see(cta& in, shared_offset at) {
  granule& g = in.sm90.granule_at(at);
  g.seen = contents_of(in, at);
  g.fences = in.sm90.fences;
}

void check_unread(thread& t, cta& in, shared_offset at, const char* who, const here& where) {
  const granule& g = in.sm90.granule_at(at);
  if (g.reads == 0) return;
  t.owner->fail_with(t, [&] {
    return std::string(who) + " (" + place_text(where) + ") overwrites " + address_text(at) +
           ", which wgmma (" + place_text(g.read) + ") reads before wgmma_wait()";
  });
}

void fence_async_proxy() {
  thread& t = running();
  t.sm90.fenced = ++t.owner->sm90().clock;
  ++t.in->sm90.fences;
}

std::uint64_t hash_of(std::uint64_t before, const unsigned char* granule) {
  std::uint64_t words[2];
  std::memcpy(words, granule, sizeof words);
  std::uint64_t hash = (before ^ words[0]) * 0x9e3779b97f4a7c15ull;
  hash = (hash ^ hash >> 29 ^ words[1]) * 0xbf58476d1ce4e5b9ull;
  return hash ^ hash >> 32;
}

std::string problem_at_end(block_runner& runner) {
  for (cta& in : runner.ctas()) {
    if (std::string problem = barrier_problem_at_end(in); !problem.empty()) return problem;
    if (std::string problem = mma_problem_at_end(in); !problem.empty()) return problem;
    if (std::string problem = register_problem_at_end(in); !problem.empty()) return problem;
    for (const thread& t : in.threads) {
      if (std::string problem = store_problem_at_end(t); !problem.empty()) return problem;
    }
  }
  return {};
}

shared_offset offset_or_fail(thread& t, const void* shared, std::size_t bytes, const char* who,
                             const here& where) {
  const auto at = t.owner->offset_of(*t.in, shared, bytes);
  if (!at) {
    t.owner->fail_with(t, [&] {
      return std::string(who) + " (" + place_text(where) + "): " + std::to_string(bytes) +
             " bytes that are not in the block's shared memory";
    });
  }
  return *at;
}

unsigned address_in_shared(const void* shared, here where) {
  thread& t = running();
  const shared_offset at = offset_or_fail(t, shared, 0, "shared_address()", where);
  if (at >= kStatic) {
    t.owner->fail_with(t, [&] {
      return "shared_address() (" + place_text(where) +
             "): the simulator has addresses of dynamic shared memory only";
    });
  }
  return at;
}

}  // namespace kzoo::sim::sm90
