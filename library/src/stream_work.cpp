#include "stream_work.hpp"

#include <kzoo/kzoo.h>
#include <kzoo/error.hpp>

namespace kzoo::library {

stream_work::~stream_work() {
  kept_.push_back(workspace_);
  for (void* memory : kept_) {
    if (memory != nullptr) device_.free_unused(memory);
  }
}

outcome stream_work::run(const product& p, bool marked) {
  const std::lock_guard lock(mutex_);
  const bool capturing = device_.is_capturing(p.stream);
  prepared& ready = find_or_prepare(p, capturing);
  if (ready.status() != KZOO_OK) return {ready.status(), ready.why(), {}};
  if (p.workspace_needed != nullptr) {
    *p.workspace_needed = ready.workspace_bytes();
    return {};
  }
  void* const workspace = workspace_for(p, ready, capturing);
  is_marked_ = false;
  in_graph_ = in_graph_ || capturing;
  ready.in_graph = ready.in_graph || capturing;
  ready.run({.struct_size = sizeof(kzoo_arguments),
             .a = p.a,
             .b = p.b,
             .c = p.c,
             .workspace = workspace,
             .stream = p.stream,
             .launches = nullptr,
             .operands = nullptr});
  if (marked && !in_graph_) {
    if (!end_) end_ = device_.make_marker();
    end_->record(p.stream);
    is_marked_ = true;
  }
  return {KZOO_OK, "", ready.chosen()};
}

bool stream_work::is_done() {
  const std::lock_guard lock(mutex_);
  return is_marked_ && !in_graph_ && end_->reached();
}

prepared& stream_work::find_or_prepare(const product& p, bool capturing) {
  if (prepared* known = problems_.find(p.problem)) return *known;
  std::unique_ptr<prepared> made;
  device_.outside_captures([&] { made = prepare(p.problem); });
  prepared& added = problems_.add(p.problem, std::move(made));
  // A marker in a captured stream marks no time.
  if (!capturing) device_.outside_captures([&] { retire(p.stream); });
  return added;
}

std::unique_ptr<prepared> stream_work::prepare(const kzoo_problem& p) const {
  kernel chosen;
  try {
    chosen = choice_.choose(p, device_.abi());
  } catch (const error& e) {
    return std::make_unique<prepared>(e.status, e.what());
  }
  return std::make_unique<prepared>(chosen, p, device_.abi());
}

void stream_work::retire(void* stream) {
  std::erase_if(retired_, [](const retired& r) { return r.after->reached(); });
  std::vector<std::unique_ptr<prepared>> surplus = problems_.take_surplus();
  if (surplus.empty()) return;
  retired_.push_back({device_.make_marker(), std::move(surplus)});
  retired_.back().after->record(stream);
}

void* stream_work::workspace_for(const product& p, const prepared& ready, bool capturing) {
  const std::uint64_t bytes = ready.workspace_bytes();
  if (bytes == 0) return nullptr;
  const auto refuse = [&](const std::string& why) {
    throw error(KZOO_WORKSPACE_TOO_SMALL, ready.chosen().name() + " needs a workspace of " +
                                              std::to_string(bytes) + " bytes, " + why);
  };
  if (p.workspace != nullptr) {
    if (p.workspace_bytes < bytes) {
      refuse("the caller's has " + std::to_string(p.workspace_bytes));
    }
    return p.workspace;
  }
  if (workspace_bytes_ < bytes) {
    if (capturing) {
      refuse(
          "and the pool cannot grow in a graph capture: make the call once on this stream "
          "before the capture, or pass a workspace");
    }
    void* const larger = device_.allocate(bytes, p.stream);
    if (workspace_ != nullptr && workspace_in_graph_) {
      kept_.push_back(workspace_);
    } else if (workspace_ != nullptr) {
      device_.free(workspace_, p.stream);
    }
    workspace_ = larger;
    workspace_bytes_ = bytes;
    workspace_in_graph_ = false;
  }
  workspace_in_graph_ = workspace_in_graph_ || capturing;
  return workspace_;
}

}  // namespace kzoo::library
