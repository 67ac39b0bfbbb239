#pragma once
// What a program asks the fake of cuBLAS about the products that it got.

struct fake_cublas_call {
  const char* name;
  long long arguments[23];  // in the order of the function's; pointers as numbers
};

extern "C" {
int fake_cublas_calls();
const fake_cublas_call* fake_cublas_last();
}
