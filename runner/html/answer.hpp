#pragma once
// The first part of a page: what a result comes to.

#include "html/named_result.hpp"
#include "os/output.hpp"
#include "report/page.hpp"

namespace kzoo::html {

// `alone`: it is the page's only result, which has the page's title.
void add_answer(const named_result& r, bool alone, const report::view& view, const text_sink& out);

}  // namespace kzoo::html
