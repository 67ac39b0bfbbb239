#pragma once
// The checks of tier paranoid: start this runner under a tool that checks every memory access.

#include "checks/check.hpp"

namespace kzoo::checks {

class sanitizer_check : public check {
 public:
  tier from() const override { return tier::paranoid; }
};

// NVIDIA's compute-sanitizer, with one of its tools.
class compute_sanitizer final : public sanitizer_check {
 public:
  explicit compute_sanitizer(const char* tool) : tool_(tool) {}
  const char* name() const override { return tool_; }
  bool applies_to(const candidate& c) const override;
  covered run(candidate& c) const override;

 private:
  const char* tool_;
};

// Runs a build of the plugin with AddressSanitizer, from the folder cpu-asan beside the plugin's
// own. It also detects reads from the redzones around A, B, C and the workspace.
class address_sanitizer final : public sanitizer_check {
 public:
  const char* name() const override { return "AddressSanitizer"; }
  bool applies_to(const candidate& c) const override;
  covered run(candidate& c) const override;
};

}  // namespace kzoo::checks
