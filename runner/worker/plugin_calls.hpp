#pragma once
// Calls into a plugin; a status other than KZOO_OK becomes an exception.

#include <kzoo/abi.h>

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::worker {

// Ends the handling of a request with a status; see session.hpp.
struct refusal {
  const char* status;
  std::string reason;
  std::string_view step{};  // of core/step.hpp
};

// All throw a refusal unless the plugin answers KZOO_OK.
void ask_support(const kzoo_variant& variant, const kzoo_problem& p, const kzoo_device& device);
void* create_instance(const kzoo_variant& variant, const kzoo_problem& p,
                      const kzoo_device& device);
// Arguments without stream and launches. `inputs` (A, B, other operands) must outlive the call.
kzoo_arguments arguments_of(const std::vector<const void*>& inputs, void* c, void* workspace);
void run_instance(const kzoo_variant& variant, void* instance, const kzoo_arguments& arguments);

}  // namespace kzoo::worker
