#pragma once
// The checks of tier paranoid: this runner once more, under a tool that watches every access.

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
  bool applies_to(const candidate& s) const override;
  std::string look(candidate& s) const override;

 private:
  const char* tool_;
};

// A build of the plugin with AddressSanitizer, in the folder cpu-asan beside the plugin's own. The
// zones around A, B, C and the workspace are out of bounds for it, also to reads.
class address_sanitizer final : public sanitizer_check {
 public:
  const char* name() const override { return "AddressSanitizer"; }
  bool applies_to(const candidate& s) const override;
  std::string look(candidate& s) const override;
};

}  // namespace kzoo::checks
