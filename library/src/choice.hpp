#pragma once
// The choice of a kernel for a problem.

#include "plugins.hpp"

#include <kzoo/abi.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::library {

// A kernel by name; no kernel if its plugin is in options.declined.
struct candidate {
  std::string name;
  std::optional<kernel> what;
};

class chooser {
 public:
  virtual ~chooser() = default;
  // Throws kzoo::error, with the reasons, if no kernel supports the problem.
  virtual kernel choose(const kzoo_problem& p, const kzoo_device& d) const = 0;
};

// Turns names into candidates.
class kernel_names {
 public:
  // Throws kzoo::error for an invalid plugin name.
  kernel_names(const plugin_finder& plugins, std::string_view declined);

  // "plugin:variant", or "plugin" for all of its variants. Throws kzoo::error for an unknown
  // kernel, and for an invalid name before any file is looked for.
  std::vector<candidate> resolve(const std::string& name) const;
  // Names separated by commas, at least one.
  std::vector<candidate> resolve_list(std::string_view names) const;
  // The default kernels that exist here, in order of preference.
  std::vector<candidate> defaults(kzoo_device_kind kind) const;

 private:
  const plugin_finder& plugins_;
  std::vector<std::string> declined_;
};

struct allowance {
  kzoo_precision precision = KZOO_COMPUTE_FP32;
  bool nondeterministic = false;
};

// Why it does not compute the problem; "" if it does.
std::string objection(const kernel& k, const kzoo_problem& p, const kzoo_device& d,
                      const allowance& allowed);
// Throws KZOO_DECLINED for a kernel of a declined plugin.
kernel accept(const candidate& chosen);

// Chooses the first of a list that supports the problem.
class first_of : public chooser {
 public:
  first_of(std::vector<candidate> candidates, const allowance& allowed)
      : candidates_(std::move(candidates)), allowed_(allowed) {}
  kernel choose(const kzoo_problem& p, const kzoo_device& d) const override;

 private:
  std::vector<candidate> candidates_;
  allowance allowed_;
};

}  // namespace kzoo::library
