#pragma once
// Accuracy of declared precisions, for inputs and sums, and their order.

#include "core/problem.hpp"

#include <string>

namespace kzoo {

// The stored fraction bits of a floating-point type.
int stored_bits(kzoo_type type);
// The fraction bits that a declared precision keeps of an input.
int input_bits(kzoo_precision declared);

// Whether `a` may be less accurate than `b` for such matrices. Compares in this order: bits of
// sums, bits of inputs, range of inputs, norm-wise or not. On f16 matrices fp16, tf32 and fp32 are
// equal, since all hold every input.
bool is_less_precise(kzoo_precision a, kzoo_precision b, const element_types& types);

// Whether the problem accepts this precision: as precise as its types' usual one, or allowed.
bool takes(const problem& p, kzoo_precision declared);
// The accepted precisions: "fp32", "fp32 or tf32".
std::string taken_names(const problem& p);

}  // namespace kzoo
