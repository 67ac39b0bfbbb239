#pragma once
// Host functions that take PyTorch's tensors and launch kernels, as in extensions of PyTorch.

#include "core/problem.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::source {

struct tensor_function {
  std::string name;  // "gemm::forward", with its namespaces
  unsigned line = 0;
  bool returns_tensor = false;
  bool is_bound = false;  // PYBIND11_MODULE or TORCH_LIBRARY names it
  // In the order of its parameters: "A", "B", "C", "M", "N", "K", "alpha", "beta".
  std::vector<std::string> arguments{};
  std::optional<std::string> flaw{};  // why it cannot be called
};

// Functions with two or three tensors that return a tensor, or with three that return nothing.
std::vector<tensor_function> tensor_functions_in(std::string_view source);

// For each kernel, the beginning of a description of its launch, guessed from parameters' names:
// "entry=sgemm<…> arguments=M,N,K,alpha,A,…".
std::vector<std::string> suggested_descriptions(std::string_view source);

// The element types of A, B and C: those of an AT_DISPATCH_… macro in the code, else those of its
// data_ptr() calls, else f32.
std::vector<element_types> types_of_tensors(std::string_view code);

// The source as a plugin needs it: calls of the SDK replace launches by <<<>>> and functions of
// CUDA's runtime. `simulated`: also replaces `extern __shared__`. Lines keep their numbers.
std::string with_launches_called(std::string_view source, bool simulated);

}  // namespace kzoo::source
