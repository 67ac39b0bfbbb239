#pragma once
// What declared precisions keep of inputs and sums, and which of two is the lower one.

#include "core/problem.hpp"

#include <string>

namespace kzoo {

// The fraction bits that elements of a floating type store.
int stored_bits(kzoo_type type);
// And those that remain of an input in a declared precision.
int input_bits(kzoo_precision declared);

// Whether results of precision `a` for such matrices may be less accurate than those of `b`: its
// sums have fewer bits, or else its inputs, or else these have a narrower range, or its bound is
// the norm-wise one. On f16 matrices fp16, tf32 and fp32 are equal, since all hold every input.
bool is_less_precise(kzoo_precision a, kzoo_precision b, const element_types& types);

// Whether the problem takes results of this precision: that of its types, one that is as precise,
// or one that it allows.
bool takes(const problem& p, kzoo_precision declared);
// Those that it takes, for people: "fp32", "fp32 or tf32".
std::string taken_names(const problem& p);

}  // namespace kzoo
