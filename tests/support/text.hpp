#pragma once
// Helpers for texts and for rejected input.

#include "input/diagnostics.hpp"

#include <stdexcept>
#include <string>

namespace kzoo::test {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Replaces the first `from`, which must exist.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::invalid_argument("no '" + from + "' in " + text);
  return text.replace(at, from.size(), to);
}

// Why `act` rejects its input; "" if it does not.
template <class Act>
std::string refusal_of(const Act& act) try {
  act();
  return "";
} catch (const input::invalid& refused) {
  return refused.what();
}

}  // namespace kzoo::test
