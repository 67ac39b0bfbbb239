// The calling line, as the last parameter of a function: for the simulator's messages. Nothing on a
// GPU.
#pragma once

#include <kzoo/cuda.hpp>

#if defined(KZOO_REAL_CUDA)
#define KZOO_HERE
#define KZOO_AND_HERE
#else
#include <source_location>
#define KZOO_HERE std::source_location where = std::source_location::current()
#define KZOO_AND_HERE , KZOO_HERE
#endif
