#pragma once
// The functions of the cuBLAS that the program uses, behind those of this library.

namespace kzoo::preload {

// nullptr where no cuBLAS is loaded that has it.
void* find_real(const char* name);

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(find_real(name));
}

}  // namespace kzoo::preload
