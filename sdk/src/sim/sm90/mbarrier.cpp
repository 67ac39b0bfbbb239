// mbarriers. The simulator's encoding of the 64 bits, which are opaque on a GPU.
#include <algorithm>

#include <kzoo/launch_limits.hpp>
#include <kzoo/sim/sm90/barriers.hpp>

#include "../block.hpp"

namespace kzoo::sim::sm90 {
namespace {

constexpr std::int64_t kMost = (1 << 20) - 1;  // arrivals, and bytes

// Fields from the lowest bits on: 20 bits of arrivals that the phase lacks, 20 of arrivals per
// phase, 21 of bytes that it lacks (signed), the parity.
struct phase {
  std::int64_t missing, each, bytes;
  unsigned parity;

  static phase of(std::uint64_t bits) {
    return {static_cast<std::int64_t>(bits & kMost), static_cast<std::int64_t>(bits >> 20 & kMost),
            static_cast<std::int64_t>(bits << 3) >> 43, static_cast<unsigned>(bits >> 61 & 1)};
  }
  std::uint64_t bits() const {
    return static_cast<std::uint64_t>(missing) | static_cast<std::uint64_t>(each) << 20 |
           (static_cast<std::uint64_t>(bytes) & (2 * kMost + 1)) << 40 |
           std::uint64_t{parity} << 61;
  }
};

std::uint64_t& bits_at(cta& in, shared_offset at) {
  return *reinterpret_cast<std::uint64_t*>(in.threads[0].owner->memory(in, at));
}

known_barrier* find(cta& in, shared_offset at) {
  auto& all = in.sm90.barriers;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const known_barrier& b) { return b.at == at; });
  return found == all.end() ? nullptr : &*found;
}

// Why an operation on a barrier is not allowed; empty if it is.
std::string problem_of(cta& in, shared_offset at, const thread* by) {
  const known_barrier* known = find(in, at);
  if (known == nullptr) return "has not been initialised";
  if (bits_at(in, at) != known->bits)
    return "has been overwritten since its init() (" + place_text(known->where) + ")";
  if (known->unfenced != nullptr && known->unfenced != by) {
    return "is used before the thread that called init() (" + place_text(known->where) +
           ") has called fence_mbarrier_init()";
  }
  return {};
}

void wake_waiters(block_runner& runner, const cta& in, known_barrier& known, unsigned parity) {
  std::erase_if(runner.sm90().at_mbarriers, [&](thread* t) {
    if (t->in != &in || t->sm90.barrier != known.at || t->sm90.parity == parity) return false;
    runner.make_ready(*t);
    known.late.push_back(t);
    return true;
  });
}

}  // namespace

std::string add_to_phase(cta& in, shared_offset at, const thread* by, int arrivals,
                         std::int64_t bytes) {
  if (std::string problem = problem_of(in, at, by); !problem.empty()) return problem;
  std::uint64_t& bits = bits_at(in, at);
  phase p = phase::of(bits);
  if (arrivals > p.missing) {
    return "gets more than the " + std::to_string(p.each) + " arrivals of its phase, which lacks " +
           std::to_string(p.bytes) + " bytes";
  }
  p.missing -= arrivals;
  p.bytes += bytes;
  if (p.bytes > kMost || p.bytes < -kMost) return "counts more than 2^20 - 1 bytes";
  const bool ends = p.missing == 0 && p.bytes == 0;
  known_barrier& known = *find(in, at);
  if (ends && !known.late.empty()) {
    const thread& late = *known.late.front();
    return "ends two phases while thread " + detail::shape_text(late.thread_idx) +
           " is at mbarrier.wait(" + std::to_string(late.sm90.parity) + ") (" +
           place_text(late.where) + ") for the first, whose end it may miss";
  }
  if (ends) {
    p.parity ^= 1;
    p.missing = p.each;
  }
  bits = known.bits = p.bits();
  if (ends) wake_waiters(*in.threads[0].owner, in, known, p.parity);
  return {};
}

std::string barrier_text(shared_offset at, const here& where) {
  return "the mbarrier at " + address_text(at) + " (" + place_text(where) + ") ";
}

std::string wait_text(const thread& t) {
  const std::uint64_t bits = bits_at(*t.in, t.sm90.barrier);
  const phase p = phase::of(bits);
  const std::string waits = "mbarrier.wait(" + std::to_string(t.sm90.parity) +
                            ") of the mbarrier at " + address_text(t.sm90.barrier);
  if (bits != find(*t.in, t.sm90.barrier)->bits) return waits + ", which has been overwritten,";
  std::string lacks;
  if (p.missing != 0)
    lacks = ", which lacks " + std::to_string(p.missing) + " of " + std::to_string(p.each) +
            " arrivals";
  if (p.bytes > 0)
    lacks += (p.missing != 0 ? " and " : ", which lacks ") + std::to_string(p.bytes) + " bytes";
  if (p.bytes < 0)
    lacks += ", which has received " + std::to_string(-p.bytes) + " bytes more than expected";
  return waits + lacks;
}

std::string barrier_problem_at_end(cta& in) {
  for (const known_barrier& b : in.sm90.barriers) {
    if (bits_at(in, b.at) != b.bits) continue;  // its memory may have another use now
    const std::int64_t bytes = phase::of(b.bits).bytes;
    if (bytes == 0) continue;
    return "a block has ended while " + barrier_text(b.at, b.where) +
           (bytes > 0 ? "lacks " + std::to_string(bytes) + " bytes"
                      : "has received " + std::to_string(-bytes) + " bytes more than expected");
  }
  return {};
}

void check_barrier(thread& t, cta& in, shared_offset at, const here& where) {
  if (problem_of(in, at, &t).empty()) return;
  t.owner->fail_with(t, [&] { return barrier_text(at, where) + problem_of(in, at, &t); });
}

// Adds for a thread, or ends the launch.
static void add_for(thread& t, cta& in, shared_offset at, unsigned bytes, const here& where) {
  [&]() noexcept {
    const std::string problem = add_to_phase(in, at, &t, 1, bytes);
    if (!problem.empty()) t.owner->set_failure(barrier_text(at, where) + problem);
  }();
  t.owner->give_up_if_failed(t);
}

void mbarrier_init(std::uint64_t& barrier, unsigned arrivals, here where) {
  thread& t = running();
  const shared_offset at = offset_or_fail(t, &barrier, sizeof barrier, "mbarrier.init()", where);
  if (arrivals == 0 || arrivals > kMost) {
    t.owner->fail_with(t, [&] {
      return "mbarrier.init(" + std::to_string(arrivals) + ") (" + place_text(where) +
             "): a phase has 1 to 2^20 - 1 arrivals";
    });
  }
  if (watching != nullptr) watching->has_other_barrier(t);
  barrier = phase{arrivals, arrivals, 0, 0}.bits();
  if (known_barrier* known = find(*t.in, at)) {
    *known = {at, barrier, &t, where};
  } else {
    t.in->sm90.barriers.push_back({at, barrier, &t, where});
  }
}

void fence_mbarrier_init() {
  thread& t = running();
  for (known_barrier& b : t.in->sm90.barriers) {
    if (b.unfenced == &t) b.unfenced = nullptr;
  }
}

void mbarrier_arrive(std::uint64_t& barrier, unsigned bytes, here where) {
  thread& t = running();
  const shared_offset at = offset_or_fail(t, &barrier, sizeof barrier, "mbarrier.arrive()", where);
  add_for(t, *t.in, at, bytes, where);
}

void mbarrier_arrive_in(std::uint64_t& barrier, unsigned rank, here where) {
  thread& t = running();
  const shared_offset at =
      offset_or_fail(t, &barrier, sizeof barrier, "mbarrier.arrive_in()", where);
  add_for(t, block_of_cluster(t, rank, "mbarrier.arrive_in()", where), at, 0, where);
}

void mbarrier_wait(std::uint64_t& barrier, unsigned parity, here where) {
  thread& t = running();
  const shared_offset at = offset_or_fail(t, &barrier, sizeof barrier, "mbarrier.wait()", where);
  check_barrier(t, *t.in, at, where);
  if (parity > 1) {
    t.owner->fail_with(t, [&] {
      return "mbarrier.wait(" + std::to_string(parity) + ") (" + place_text(where) +
             "): a parity is 0 or 1";
    });
  }
  if (phase::of(barrier).parity != parity) return;
  t.waits = wait_kind::mbarrier;
  t.sm90.barrier = at;
  t.sm90.parity = parity;
  t.where = where;
  t.owner->sm90().at_mbarriers.push_back(&t);
  t.owner->suspend(t);
  if (known_barrier* known = find(*t.in, at)) std::erase(known->late, &t);
}

}  // namespace kzoo::sim::sm90
