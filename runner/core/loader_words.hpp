#pragma once
// Why the dynamic loader refused a library, without the wrapper that Boost puts round it.

#include <string>
#include <string_view>

namespace kzoo {

// `what` is what boost::dll threw: "… (dlerror system message: FILE: WORDS): …". Gives WORDS.
std::string loader_words(std::string_view what, const std::string& file);

}  // namespace kzoo
