#include "xray/collector.hpp"

#include "xray/block_counter.hpp"

#include <algorithm>
#include <utility>

namespace kzoo::xray {
namespace {

collector& self_of(void* self) { return *static_cast<collector*>(self); }
block_counter& counter_of(void* worker) { return *static_cast<block_counter*>(worker); }

}  // namespace

const char* access_name(access a) {
  switch (a) {
    case access::global_load:
      return "global load";
    case access::global_store:
      return "global store";
    case access::global_atomic:
      return "global atomic";
    case access::async_copy:
      return "cp.async";
    case access::shared_load:
      return "shared load";
    case access::shared_store:
      return "shared store";
    case access::shared_atomic:
      return "shared atomic";
  }
  return "";
}

collector::collector()
    : sink_{.struct_size = sizeof(kzoo_xray_sink),
            .self = this,
            .begin_launch = [](void* self,
                               const kzoo_xray_launch* l) { self_of(self).begin_launch(*l); },
            .wants_block = [](void*, std::uint64_t) { return 1; },
            .begin_worker = [](void* self, const kzoo_xray_range* shared) -> void* {
              return &self_of(self).begin_worker(*shared);
            },
            .begin_block =
                [](void* worker, std::uint64_t, const kzoo_xray_range* dynamic) {
                  counter_of(worker).begin_block(*dynamic);
                },
            .interval = [](void* worker,
                           const kzoo_xray_interval* what) { counter_of(worker).interval(*what); },
            .end_block = [](void* worker) { counter_of(worker).end_block(); }} {}

collector::~collector() = default;

void collector::begin_launch(const kzoo_xray_launch& l) {
  gather();
  collected_launch next;
  next.about.kernel = l.kernel;
  std::copy_n(l.grid, 3, next.about.grid.begin());
  std::copy_n(l.block, 3, next.about.block.begin());
  next.about.blocks = std::uint64_t{l.grid[0]} * l.grid[1] * l.grid[2];
  global_.begin_launch(next.about.blocks);
  launches_.push_back(std::move(next));
}

block_counter& collector::begin_worker(const kzoo_xray_range& static_shared) {
  const std::lock_guard lock(mutex_);
  return *workers_.emplace_back(
      std::make_unique<block_counter>(global_, hazards_, static_shared, ignored_));
}

// What the workers have counted belongs to the last launch.
void collector::gather() {
  const std::lock_guard lock(mutex_);
  if (launches_.empty()) return;
  for (const auto& worker : workers_) worker->move_to(launches_.back());
  launches_.back().hazards = hazards_.take();
}

std::vector<collected_launch> collector::take() {
  gather();
  return std::exchange(launches_, {});
}

}  // namespace kzoo::xray
