#pragma once
// Why the dynamic loader refused a library, without the text that Boost puts around its message.

#include <string>
#include <string_view>

namespace kzoo {

// `what`: of an exception from boost::dll, "… (dlerror system message: FILE: MESSAGE): …". Returns
// MESSAGE.
std::string loader_message(std::string_view what, const std::string& file);

}  // namespace kzoo
