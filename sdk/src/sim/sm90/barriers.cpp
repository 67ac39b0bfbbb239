// Named barriers, and the barrier of a cluster.
#include <kzoo/sim/sm90/barriers.hpp>

#include <algorithm>
#include <cstring>

#include "../block.hpp"

namespace kzoo::sim::sm90 {
namespace {

void wait_at(thread& t, wait_kind kind, std::vector<thread*>& waiting, const here& where) {
  waiting.push_back(&t);
  t.waits = kind;
  t.where = where;
  t.owner->suspend(t);
}

void wake_all(thread& t, std::vector<thread*>& waiting, bool result) {
  for (thread* other : waiting) {
    other->value = result ? 1 : 0;
    t.owner->make_ready(*other);
  }
  waiting.clear();
  t.value = result ? 1 : 0;
}

}  // namespace

bool named_barrier(int id, unsigned threads, bool waits, bool vote, here where) {
  thread& t = running();
  const auto fail = [&](const auto& why) {
    t.owner->fail_with(t, [&] {
      return "named barrier " + std::to_string(id) + " (" + place_text(where) + ") " + why();
    });
  };
  if (id < 1 || id > 15) fail([] { return std::string("does not exist: there are 1 to 15"); });
  if (threads > t.in->threads.size()) {
    fail([&] {
      return "is for " + std::to_string(threads) + " threads of a block that has " +
             std::to_string(t.in->threads.size());
    });
  }
  if (watching != nullptr) watching->has_other_barrier(t);
  named_barrier_state& b = t.in->sm90.named[static_cast<std::size_t>(id)];
  if (b.arrived == 0) {
    b.expected = threads;
    b.vote = false;
  }
  if (b.expected != threads) {
    fail([&] {
      return "is for " + std::to_string(threads) + " threads, and others have arrived at it for " +
             std::to_string(b.expected);
    });
  }
  b.vote = b.vote || vote;
  if (++b.arrived == b.expected) {
    b.arrived = 0;
    wake_all(t, b.waiting, b.vote);
  } else if (waits) {
    t.sm90.named_barrier = id;
    wait_at(t, wait_kind::named_barrier, b.waiting, where);
  }
  return t.value != 0;
}

std::string named_barrier_text(const thread& t) {
  const auto id = static_cast<std::size_t>(t.sm90.named_barrier);
  const named_barrier_state& b = t.in->sm90.named[id];
  return "named barrier " + std::to_string(id) + ", where " + std::to_string(b.arrived) + " of " +
         std::to_string(b.expected) + " threads have arrived,";
}

// __launch_bounds__(threads, 1) gives a kernel with setmaxnreg as many as there are.
static unsigned registers_of(const thread& t) {
  constexpr std::size_t kOfSm = 65536, kMost = 256, kUnit = 8;
  const std::size_t launched = kOfSm / t.in->threads.size() / kUnit * kUnit;
  return t.sm90.registers != 0 ? t.sm90.registers
                               : static_cast<unsigned>(std::min(launched, kMost));
}

void change_registers(unsigned count, bool requests, here where) {
  thread& t = running();
  block_state& b = t.in->sm90;
  const unsigned before = registers_of(t);
  t.sm90.registers = count;
  t.sm90.registers_changed = where;
  if (requests) {
    t.sm90.more_registers = std::max(count, before) - before;
    if (t.sm90.more_registers > b.free_registers)
      return wait_at(t, wait_kind::registers, b.at_registers, where);
    b.free_registers -= t.sm90.more_registers;
    return;
  }
  b.free_registers += before - std::min(count, before);
  std::size_t served = 0;
  for (; served < b.at_registers.size(); ++served) {
    thread& other = *b.at_registers[served];
    if (other.sm90.more_registers > b.free_registers) break;
    b.free_registers -= other.sm90.more_registers;
    t.owner->make_ready(other);
  }
  b.at_registers.erase(b.at_registers.begin(),
                       b.at_registers.begin() + static_cast<std::ptrdiff_t>(served));
}

std::string registers_text(const thread& t) {
  return "request_registers<" + std::to_string(t.sm90.registers) + ">() for " +
         std::to_string(t.sm90.more_registers) + " more registers each, of which its block has " +
         std::to_string(t.in->sm90.free_registers) + ",";
}

std::string register_problem_at_end(const cta& in) {
  constexpr std::size_t kWarpgroup = 128;
  for (std::size_t i = 1; i < in.threads.size(); ++i) {
    const thread &t = in.threads[i], &before = in.threads[i - 1];
    if (i % kWarpgroup == 0 || t.sm90.registers == before.sm90.registers) continue;
    const thread& has = t.sm90.registers != 0 ? t : before;
    return "setmaxnreg (" + place_text(has.sm90.registers_changed) +
           ") is for all threads of a warpgroup, and some have not executed it";
  }
  return {};
}

unsigned cluster_rank() { return running().in->rank; }

void cluster_sync(here where) {
  thread& t = running();
  if (watching != nullptr) watching->has_other_barrier(t);
  auto& waiting = t.owner->sm90().at_cluster_barrier;
  const std::span<cta> blocks = t.owner->ctas();
  if (waiting.size() + 1 == blocks.size() * t.in->threads.size()) {
    wake_all(t, waiting, false);
  } else {
    wait_at(t, wait_kind::cluster, waiting, where);
  }
}

cta& block_of_cluster(thread& t, unsigned rank, const char* who, const here& where) {
  const std::span<cta> blocks = t.owner->ctas();
  if (rank < blocks.size() && blocks[rank].exited < blocks[rank].threads.size())
    return blocks[rank];
  t.owner->fail_with(t, [&] {
    return std::string(who) + " (" + place_text(where) + ") reaches block " + std::to_string(rank) +
           " of the cluster, which " +
           (rank < blocks.size() ? "has ended"
                                 : "has " + std::to_string(blocks.size()) + " blocks");
  });
}

float load_of_block(const float* shared, unsigned rank, here where) {
  thread& t = running();
  const shared_offset at = offset_or_fail(t, shared, sizeof *shared, "load_of_block()", where);
  float value = 0;
  std::memcpy(&value, t.owner->memory(block_of_cluster(t, rank, "load_of_block()", where), at),
              sizeof value);
  return value;
}

void store_to_block(const void* value, const void* shared, unsigned bytes, std::uint64_t& barrier,
                    unsigned rank, here where) {
  thread& t = running();
  constexpr const char* kWho = "store_to_block()";
  const shared_offset to = offset_or_fail(t, shared, bytes, kWho, where),
                      at = offset_or_fail(t, &barrier, sizeof barrier, kWho, where);
  if (to % bytes != 0) {
    t.owner->fail_with(t, [&] {
      return std::string(kWho) + " (" + place_text(where) + ") stores " + std::to_string(bytes) +
             " bytes at an address that is no multiple of it";
    });
  }
  cta& in = block_of_cluster(t, rank, kWho, where);
  std::memcpy(t.owner->memory(in, to), value, bytes);
  [&]() noexcept {
    const std::string problem = add_to_phase(in, at, nullptr, 0, -std::int64_t{bytes});
    if (!problem.empty()) t.owner->set_failure(barrier_text(at, where) + problem);
  }();
  t.owner->give_up_if_failed(t);
}

}  // namespace kzoo::sim::sm90
