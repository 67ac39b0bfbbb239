#pragma once
// The counters of a profile as tables, a line for each kernel that was launched.

#include "profile/counters.hpp"
#include "report/page.hpp"

#include <string>

namespace kzoo::report {

void add_profile(page& p, const profile::document& d);

// "void ns::f<(int)8, float>(T1)" as "ns::f<8, float>", and no longer than a table bears.
std::string kernel_text(const std::string& demangled);

}  // namespace kzoo::report
