#include "report/csv_line.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kzoo::report {
namespace {

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

void csv_line::add(std::string_view column, std::string_view value) {
  fields_.emplace_back(quoted(column), quoted(value));
}

void csv_line::number(std::string_view column, double value) {
  add(column, std::isfinite(value) ? fmt::format("{}", value) : "");
}

void csv_line::append(const csv_line& other, const std::function<bool(std::string_view)>& wanted) {
  for (const field& f : other.fields_)
    if (wanted(f.first)) fields_.push_back(f);
}

std::string csv_line::joined(std::string field::*part) const {
  std::string text;
  for (const field& f : fields_) text += f.*part + ',';
  text.back() = '\n';
  return text;
}

}  // namespace kzoo::report
