#pragma once
// What `runner judge` tells programs, schema kzoo.judgement/1: docs/formats.md describes every
// field.

#include "results/judgement.hpp"

#include <string>
#include <string_view>

namespace kzoo::storage {

inline constexpr std::string_view kJudgementSchema = "kzoo.judgement/1";

// How it was judged.
struct judgement_setting {
  results::device device;
  std::string tier, baseline;  // baseline "": none
  std::string command;         // that does the same again
  double wall_seconds = 0;
};

// One line, without its end.
std::string to_line(const results::file_judgement& j, const judgement_setting& how);
// Of a file that was compiled, or was not, and nothing more; `library`: where to, "": not.
std::string to_line(const results::file_judgement& j);

}  // namespace kzoo::storage
