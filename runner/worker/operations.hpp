#pragma once
// The operations of a worker: one list for both ends of its channel.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace kzoo::worker {

enum class operation {
  open,           // load the library
  supports,       // does a variant support a problem?
  prepare,        // create an instance and its matrices
  refill,         // new contents, new addresses
  run,            // once
  sample,         // timed
  sustain,        // repeatedly, timed together
  end_to_end,     // timed with allocation and copies
  profile,        // once, for a profiler
  copy_result,    // copy C
  longest_pause,  // does another process use the device?
  destroy,        // destroy the instance
  free_memory     // free all memory; the last operation
};

struct operation_names {
  operation op;
  std::string_view name;   // in requests
  std::string_view doing;  // completes "it crashed while ..."
};
inline constexpr std::array kOperations{
    operation_names{operation::open, "open", "the library was loaded"},
    operation_names{operation::supports, "supports",
                    "the variant was asked whether it supports the problem"},
    operation_names{operation::prepare, "prepare", "the variant was created"},
    operation_names{operation::refill, "refill", "its matrices were refilled"},
    operation_names{operation::run, "run", "the kernel ran"},
    operation_names{operation::sample, "sample", "the kernel was timed"},
    operation_names{operation::sustain, "sustain", "the kernel ran again and again"},
    operation_names{operation::end_to_end, "end_to_end", "it was timed from end to end"},
    operation_names{operation::profile, "profile", "the kernel was profiled"},
    operation_names{operation::copy_result, "copy_result", "its result was copied"},
    operation_names{operation::longest_pause, "longest_pause",
                    "pauses of the device were measured"},
    operation_names{operation::destroy, "destroy", "the variant was destroyed"},
    operation_names{operation::free_memory, "free_memory", "its memory was freed"}};

// names_of() relies on one entry per operation, in order.
static_assert(kOperations.size() == static_cast<std::size_t>(operation::free_memory) + 1);
static_assert([] {
  for (std::size_t i = 0; i < kOperations.size(); ++i)
    if (kOperations[i].op != static_cast<operation>(i)) return false;
  return true;
}());

constexpr const operation_names& names_of(operation op) {
  return kOperations[static_cast<std::size_t>(op)];
}

constexpr std::optional<operation> find_operation(std::string_view name) {
  for (const operation_names& each : kOperations)
    if (each.name == name) return each.op;
  return std::nullopt;
}

}  // namespace kzoo::worker
