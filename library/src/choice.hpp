#pragma once
// Which kernel computes a problem.

#include "plugins.hpp"

#include <kzoo/abi.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::library {

// What a name stands for. Without a kernel it is of a plugin that the caller declines.
struct candidate {
  std::string name;
  std::optional<kernel> what;
};

class chooser {
 public:
  virtual ~chooser() = default;
  // Throws kzoo::error where no kernel takes the problem, and says why.
  virtual kernel choose(const kzoo_problem& p, const kzoo_device& d) const = 0;
};

// What candidates are made of, and which are refused.
class kernel_names {
 public:
  // Throws kzoo::error for what cannot be a plugin's name.
  kernel_names(const plugin_finder& plugins, std::string_view declined);

  // "plugin:variant", or "plugin" for all of its variants. Throws kzoo::error where there is none,
  // and for what cannot be a name: no file is looked for then.
  std::vector<candidate> resolve(const std::string& name) const;
  // Names separated by commas, at least one.
  std::vector<candidate> resolve_list(std::string_view names) const;
  // What is used where nothing is named: those there are of a list, in order.
  std::vector<candidate> defaults(kzoo_device_kind kind) const;

 private:
  const plugin_finder& plugins_;
  std::vector<std::string> declined_;
};

// What the caller allows kernels.
struct allowance {
  kzoo_precision precision = KZOO_COMPUTE_FP32;
  bool nondeterministic = false;
};

// Why it does not compute the problem; "" if it does.
std::string objection(const kernel& k, const kzoo_problem& p, const kzoo_device& d,
                      const allowance& allowed);
// Throws KZOO_DECLINED for a kernel of a declined plugin.
kernel accept(const candidate& chosen);

// The first of a list that takes the problem.
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
