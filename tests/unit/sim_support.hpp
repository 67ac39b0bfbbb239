// What the simulator's tests share.
#pragma once

#include <string>

#include <kzoo/launch.hpp>

namespace kzoo::test {

// The text of the kzoo::error that `f` throws; "" and a wrong status fail the caller's CHECK.
template <class F>
std::string error_text(std::uint32_t expected_status, F f) {
  try {
    f();
  } catch (const kzoo::error& e) {
    return e.status == expected_status ? e.what() : "wrong status: " + std::string(e.what());
  }
  return "no error";
}

}  // namespace kzoo::test
