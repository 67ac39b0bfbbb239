// Named barriers, and the barrier of a cluster.
#include <kzoo/sim/sm90/barriers.hpp>

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

}  // namespace kzoo::sim::sm90
