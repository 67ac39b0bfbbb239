// Operations of a warp's lanes. A lane stores its value and waits. The last lane to arrive computes
// all results, so that no lane overwrites a value that another still has to read.
#include <algorithm>
#include <array>
#include <cstdio>

#include "block.hpp"

namespace kzoo::sim {
namespace {

std::uint32_t combine(warp_op op, std::uint32_t a, std::uint32_t b) {
  const auto signed_less = static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
  switch (op) {
    case warp_op::add: return a + b;
    case warp_op::min_signed: return signed_less ? a : b;
    case warp_op::max_signed: return signed_less ? b : a;
    case warp_op::min_unsigned: return std::min(a, b);
    case warp_op::max_unsigned: return std::max(a, b);
    case warp_op::bit_and: return a & b;
    case warp_op::bit_or: return a | b;
    case warp_op::bit_xor: return a ^ b;
    case warp_op::sync:
    case warp_op::exchange:
    case warp_op::ballot:
    case warp_op::match:
    case warp_op::together: break;
  }
  return 0;
}

bool in(unsigned mask, unsigned lane) { return lane < 32 && (mask >> lane & 1u) != 0; }

}  // namespace

static void work_together(const warp_work& work, thread* lanes) {
  std::array<void*, 32> brought{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the lane brought a pointer, as a number
    brought[lane] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(lanes[lane].value));
  }
  work.run(brought.data());
}

// Writes the result of every lane in the group to its value.
static void work_out(const warp_group& group, thread* lanes) {
  std::array<std::uint64_t, 32> given{};
  std::uint64_t ballot = 0;
  std::uint32_t reduced = 0;
  bool first = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!in(group.mask, lane)) continue;
    given[lane] = lanes[lane].value;
    if (given[lane] != 0) ballot |= 1ull << lane;
    const auto word = static_cast<std::uint32_t>(given[lane]);
    reduced = first ? word : combine(group.op, reduced, word);
    first = false;
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!in(group.mask, lane)) continue;
    std::uint64_t& result = lanes[lane].value;
    switch (group.op) {
      case warp_op::sync: result = 0; break;
      case warp_op::exchange: {
        const unsigned source = lanes[lane].source;
        result = in(group.mask, source) ? given[source] : ~0ull;
        break;
      }
      case warp_op::ballot: result = ballot; break;
      case warp_op::match:
        result = 0;
        for (unsigned other = 0; other < 32; ++other) {
          if (in(group.mask, other) && given[other] == given[lane]) result |= 1ull << other;
        }
        break;
      default: result = reduced; break;
    }
  }
}

void block_runner::complete(thread& t, unsigned warp, const warp_group& group) {
  thread* lanes = &t.in->threads[std::size_t{warp} * 32];
  if (group.op == warp_op::together) {
    if (watching != nullptr) watching->act_for_warp(t, true);
    work_together(*group.work, lanes);
    if (watching != nullptr) watching->act_for_warp(t, false);
  } else {
    work_out(group, lanes);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (in(group.mask, lane) && &lanes[lane] != &t) ready_.push(lanes[lane]);
  }
}

std::uint64_t block_runner::collective(thread& t, warp_op op, unsigned mask, std::uint64_t value,
                                       unsigned source, std::source_location where) {
  const unsigned lane = t.linear % 32;
  if (!in(mask, lane)) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "thread (%u,%u,%u), lane %u, calls a warp operation at line %u whose mask 0x%08x "
                  "does not name it",
                  t.thread_idx.x, t.thread_idx.y, t.thread_idx.z, lane,
                  static_cast<unsigned>(where.line()), mask);
    fail(t, text);
  }
  const std::size_t present = t.in->threads.size() - (t.linear - t.linear % 32);
  if (present < 32) mask &= (1u << present) - 1;

  t.value = value;
  t.source = source;
  meet(t, {op, mask, 0, nullptr, where});
  return t.value;
}

void block_runner::together(thread& t, const warp_work& work, void* mine,
                            std::source_location where) {
  const std::size_t present = t.in->threads.size() - (t.linear - t.linear % 32);
  if (present < 32) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "%s at line %u needs all 32 lanes of a warp; the last warp of this block has %u",
                  work.name, static_cast<unsigned>(where.line()), static_cast<unsigned>(present));
    fail(t, text);
  }
  t.value = reinterpret_cast<std::uintptr_t>(mine);
  meet(t, {warp_op::together, 0xffffffffu, 0, &work, where});
}

// Returns when all lanes in the mask of `as` have arrived at the same operation.
void block_runner::meet(thread& t, const warp_group& as) {
  if (watching != nullptr) watching->meet(t);
  wait_for(t, as);
  if (watching != nullptr) watching->meet(t);
}

void block_runner::wait_for(thread& t, const warp_group& as) {
  const unsigned warp = t.linear / 32;
  warp_state& state = t.in->warps[warp];
  warp_group* end = state.groups + state.count;
  warp_group* group = std::find_if(state.groups, end, [&](const warp_group& g) {
    return g.op == as.op && g.mask == as.mask && g.work == as.work &&
           (as.work == nullptr || same_place(g.where, as.where));
  });
  if (group == end) {
    *group = as;
    ++state.count;
  }
  group->arrived |= 1u << t.linear % 32;
  if (group->arrived == as.mask) {
    const warp_group done = *group;
    *group = state.groups[--state.count];
    complete(t, warp, done);
    return;
  }
  t.waits = wait_kind::warp;
  t.collective = as.op;
  t.work = as.work;
  t.mask = as.mask;
  t.where = as.where;
  suspend(t);
}

}  // namespace kzoo::sim
