// The message about a block whose threads wait for others that will never arrive.
#include <algorithm>
#include <cstdio>

#include <kzoo/launch_limits.hpp>

#include "block.hpp"

namespace kzoo::sim {
namespace {

const char* name(block_op op) {
  switch (op) {
    case block_op::barrier: return "__syncthreads";
    case block_op::count: return "__syncthreads_count";
    case block_op::conjunction: return "__syncthreads_and";
    case block_op::disjunction: return "__syncthreads_or";
  }
  return "?";
}

const char* name(warp_op op) {
  switch (op) {
    case warp_op::sync: return "__syncwarp";
    case warp_op::exchange: return "__shfl_sync";
    case warp_op::ballot: return "a warp vote";
    case warp_op::match: return "__match_any_sync";
    default: return "a warp reduction";
  }
}

std::string operation_text(const thread& t) {
  switch (t.waits) {
    case wait_kind::barrier: return name(t.barrier);
    case wait_kind::mbarrier: return sm90::wait_text(t);
    case wait_kind::named_barrier: return sm90::named_barrier_text(t);
    case wait_kind::warpgroup: return "wgmma_wait()";
    case wait_kind::registers: return sm90::registers_text(t);
    case wait_kind::cluster: return "cluster_sync()";
    default: break;
  }
  if (t.collective == warp_op::together) return t.work->name;
  char mask[32];
  std::snprintf(mask, sizeof mask, " with mask 0x%08x", t.mask);
  return name(t.collective) + std::string(mask);
}

// A thread's activity, as the end of "32 threads ...".
std::string state_text(const thread& t) {
  if (t.waits == wait_kind::exited) return "have exited";
  return "wait at " + operation_text(t) + " (" + sm90::place_text(t.where) + ")";
}

struct group {
  std::string state;
  bool exited;
  std::vector<const thread*> members;  // by linear index
};

std::string members_text(const group& g) {
  constexpr std::size_t kMostRuns = 4;
  std::string text;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < g.members.size();) {
    std::size_t last = i;
    while (last + 1 < g.members.size() &&
           g.members[last + 1]->linear == g.members[last]->linear + 1) {
      ++last;
    }
    if (runs++ == kMostRuns) {
      return text + " and " + std::to_string(g.members.size() - i) + " more";
    }
    text += (i == 0 ? "" : ", ") + detail::shape_text(g.members[i]->thread_idx);
    if (last > i) {
      text += (last == i + 1 ? ", " : " ... ") + detail::shape_text(g.members[last]->thread_idx);
    }
    i = last + 1;
  }
  return text;
}

// Whether a thread waits for something else than __syncthreads() or its warp.
bool has_deadlock(const std::vector<thread>& threads) {
  return std::any_of(threads.begin(), threads.end(), [](const thread& t) {
    return t.waits == wait_kind::mbarrier || t.waits == wait_kind::named_barrier ||
           t.waits == wait_kind::warpgroup || t.waits == wait_kind::registers ||
           t.waits == wait_kind::cluster;
  });
}

}  // namespace

std::string describe_divergence(const std::vector<thread>& threads, const std::string& place) {
  std::vector<group> groups;
  for (const thread& t : threads) {
    std::string state = state_text(t);
    if (threads.front().in != threads.back().in)
      state += " in block " + detail::shape_text(t.in->index);
    group* found = nullptr;
    for (group& g : groups) {
      if (g.state == state) found = &g;
    }
    if (found == nullptr) {
      groups.push_back({std::move(state), t.waits == wait_kind::exited, {}});
      found = &groups.back();
    }
    found->members.push_back(&t);
  }
  std::string text = (has_deadlock(threads) ? "deadlock: " : "divergent barrier: ") + place + ": ";
  bool first = true;
  for (const bool exited : {false, true}) {  // waiting threads come first
    for (const group& g : groups) {
      if (g.exited != exited) continue;
      text += first ? "" : "; ";
      text += std::to_string(g.members.size());
      if (first) text += " of " + std::to_string(threads.size()) + " threads";
      text += " " + g.state + ": " + members_text(g);
      first = false;
    }
  }
  return text;
}

}  // namespace kzoo::sim
