#include "report/errors.hpp"

#include "referee/error_map.hpp"

namespace kzoo::report {

std::string error_text(const std::optional<referee::error_map>& errors) {
  std::string text;
  if (!errors) return text;
  for (const std::string& line : referee::lines_of(*errors)) text += "      " + line + '\n';
  return text;
}

}  // namespace kzoo::report
