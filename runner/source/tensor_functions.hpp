#pragma once
// Functions of the host that take tensors of PyTorch and start kernels: what extensions of PyTorch
// have.

#include "core/problem.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::source {

struct tensor_function {
  std::string name;  // with its namespaces
  unsigned line = 0;
  bool returns_tensor = false;
  bool is_bound = false;  // PYBIND11_MODULE or TORCH_LIBRARY names it
  // In the order of its parameters: "A", "B", "C", "M", "N", "K", "alpha", "beta".
  std::vector<std::string> arguments{};
  std::string flaw{};  // why it cannot be called, or ""
};

// Functions with two or three tensors that return a tensor, or with three that return nothing.
std::vector<tensor_function> tensor_functions_in(std::string_view source);

// For each kernel, words that begin a description of its launch, as far as names say them:
// "entry=sgemm<…> arguments=M,N,K,alpha,A,…".
std::vector<std::string> suggested_descriptions(std::string_view source);

// The types of the elements of A, B and C: those that a dispatch in the code has, or that it asks
// tensors for; f32 where neither says one.
std::vector<element_types> types_of_tensors(std::string_view code);

// The host code that starts kernels, as a plugin has it.

// The source with its launches, which have <<<>>>, as calls of the SDK, and with the functions of
// CUDA's runtime that the SDK has instead. `simulated`: also with what the simulator has in place
// of `extern __shared__`. Lines keep their numbers.
std::string with_launches_called(std::string_view source, bool simulated);

}  // namespace kzoo::source
