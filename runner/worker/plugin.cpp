#include "worker/plugin.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <array>
#include <cstring>

namespace kzoo::worker {
namespace {

// The buffer into which a plugin writes its reason.
struct reason_buffer {
  reason_buffer() : text{characters.data(), characters.size()} {}
  std::string str(const char* instead) const {
    // A plugin may have filled it without a terminating 0.
    const std::string words(characters.data(), strnlen(characters.data(), characters.size()));
    return words.empty() ? instead : words;
  }
  std::array<char, 2048> characters{};
  kzoo_text text;
};

// Adds the limit to the bare "std::bad_alloc" that a plugin passes on.
std::string explained(std::string reason) {
  rlimit most{};
  if (reason != "std::bad_alloc" || getrlimit(RLIMIT_DATA, &most) != 0 ||
      most.rlim_cur == RLIM_INFINITY)
    return reason;
  return fmt::format("std::bad_alloc: no more host memory; a worker may have {:.1f} GB",
                     double(most.rlim_cur) / 1e9);
}

void require_ok(kzoo_status status, const reason_buffer& reason) {
  switch (status) {
    case KZOO_OK:
      return;
    case KZOO_UNSUPPORTED:
      throw refusal{"unsupported", reason.str("the plugin gives no reason")};
    case KZOO_UNAVAILABLE:
      throw refusal{"unavailable", reason.str("the plugin gives no reason")};
    case KZOO_ERROR:
    case KZOO_LAUNCH_FAILED:
      throw refusal{"error",
                    explained(reason.str("the plugin reports an error and gives no reason"))};
    default:
      throw refusal{"error", fmt::format("the plugin returned {}, which is no status", status)};
  }
}

}  // namespace

void ask_support(const kzoo_variant& variant, const kzoo_problem& p, const kzoo_device& device) {
  reason_buffer reason;
  require_ok(variant.supports(&variant, &p, &device, &reason.text), reason);
}

void* create_instance(const kzoo_variant& variant, const kzoo_problem& p,
                      const kzoo_device& device) {
  reason_buffer reason;
  void* instance = nullptr;
  require_ok(variant.create(&variant, &p, &device, &instance, &reason.text), reason);
  return instance;
}

kzoo_arguments arguments_of(const std::vector<const void*>& inputs, void* c, void* workspace) {
  constexpr std::size_t kAAndB = 2;
  return {.struct_size = sizeof(kzoo_arguments),
          .a = inputs[0],
          .b = inputs[1],
          .c = c,
          .workspace = workspace,
          .stream = nullptr,
          .launches = nullptr,
          .operands = inputs.size() > kAAndB ? inputs.data() + kAAndB : nullptr};
}

void run_instance(const kzoo_variant& variant, void* instance, const kzoo_arguments& arguments) {
  reason_buffer reason;
  try {
    require_ok(variant.run(&variant, instance, &arguments, &reason.text), reason);
  } catch (const refusal& r) {
    // An instance can no longer reject its problem: any failure is an error.
    throw refusal{"error", r.reason};
  }
}

}  // namespace kzoo::worker
