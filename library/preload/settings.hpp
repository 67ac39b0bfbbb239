#pragma once
// Handles of libkzoo for a preloaded library, as environment variables say.

#include <kzoo/kzoo.h>

#include <string>

namespace kzoo::preload {

struct opened {
  kzoo_handle handle = nullptr;  // of the current device; nullptr: there is none
  std::string why_not;
  bool by_dispatch = false;  // since neither a table nor names are given
};

opened open_zoo();
bool on_cpu();
bool is_verbose();
const char* recording_file();  // nullptr: nothing is recorded
// Whether all products go to cuBLAS, since nothing but a recording is asked for.
bool records_alone();

}  // namespace kzoo::preload
