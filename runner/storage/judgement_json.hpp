#pragma once
// Output of `runner judge` for programs, schema kzoo.judgement/1 (docs/formats.md).

#include "results/judgement.hpp"

#include <string>
#include <string_view>

namespace kzoo::storage {

inline constexpr std::string_view kJudgementSchema = "kzoo.judgement/1";

struct judgement_setting {
  results::device device;
  std::string tier, baseline;  // baseline "": none
  std::string command;         // repeats the judgement
  double wall_seconds = 0;
};

// A single line, without its line break.
std::string to_line(const results::file_judgement& j, const judgement_setting& how);
// For a file that was only compiled. `library`: the output file; "" if it does not compile.
std::string to_line(const results::file_judgement& j);

}  // namespace kzoo::storage
