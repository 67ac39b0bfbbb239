#pragma once
// The report of `runner validate`: one line for each check, as it finishes.

#include "results/validation.hpp"
#include "run/plan.hpp"

#include <cstdio>

namespace kzoo::report {

class validation_text {
 public:
  explicit validation_text(std::FILE* out);

  void begins(const std::vector<run::loaded_plugin>& plugins, const results::device& device,
              tier t);
  void starts(const results::validated_variant& v);
  void found(const results::finding& f);
  void ends(const results::validation& v);
  void is_interrupted();

 private:
  std::FILE* out_;
  bool colour_;
};

}  // namespace kzoo::report
