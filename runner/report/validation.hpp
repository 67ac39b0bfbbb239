#pragma once
// The report of `runner validate`: one line for each check, as it finishes.

#include "results/validation.hpp"
#include "run/plan.hpp"

#include <cstdio>
#include <map>
#include <string>

namespace kzoo::report {

class validation_text {
 public:
  explicit validation_text(std::FILE* out);

  void begins(const std::vector<run::loaded_plugin>& plugins, const results::device& device,
              tier t);
  void starts(const results::validated_variant& v);
  void takes(const results::validated_variant& v);  // problems of this kind
  void found(const results::finding& f);
  void ends(const results::validation& v);
  void is_interrupted();

 private:
  // The finding's sentence; one that was said of another check refers to that.
  std::string sentence(const results::finding& f);

  std::FILE* out_;
  bool colour_;
  std::size_t columns_;
  std::string kernel_;                       // whose findings follow
  std::map<std::string, std::string> said_;  // reasons of failures, and the check they were said of
};

}  // namespace kzoo::report
