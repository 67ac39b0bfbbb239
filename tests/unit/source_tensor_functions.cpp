// Functions of a source that take tensors, and their launches as a plugin has them.

#include "source/tensor_functions.hpp"

#include "os/text.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using kzoo::source::suggested_descriptions;
using kzoo::source::tensor_function;
using kzoo::source::tensor_functions_in;
using kzoo::source::types_of_tensors;
using kzoo::source::with_launches_called;
using kzoo::test::ContainsSubstring;

namespace {

std::vector<std::string> names_in(const std::string& source) {
  std::vector<std::string> names;
  for (const tensor_function& f : tensor_functions_in(source)) names.push_back(f.name);
  return names;
}
std::vector<std::string> bound_in(const std::string& source) {
  std::vector<std::string> names;
  for (const tensor_function& f : tensor_functions_in(source))
    if (f.is_bound) names.push_back(f.name);
  return names;
}

using word_list = std::vector<std::string>;

tensor_function only_in(const std::string& source) {
  const auto found = tensor_functions_in(source);
  REQUIRE(found.size() == 1);
  return found[0];
}

}  // namespace

TEST_CASE("functions of two or three tensors are found, with their namespaces", "[compile]") {
  const std::string source = R"(#include <torch/extension.h>
// torch::Tensor comment(torch::Tensor a, torch::Tensor b) {}
torch::Tensor declared(torch::Tensor a, torch::Tensor b);
torch::Tensor one(torch::Tensor a) { return a; }
std::vector<torch::Tensor> backward(torch::Tensor a, torch::Tensor b) { return {a, b}; }
void check(torch::Tensor a, torch::Tensor b) {}
int count(torch::Tensor a, torch::Tensor b) { return 0; }
template <class T> torch::Tensor any(torch::Tensor a, torch::Tensor b) { return a; }
torch::Tensor four(torch::Tensor a, torch::Tensor b, torch::Tensor c, torch::Tensor d) { return a; }
namespace gemm::v2 {
namespace {
struct helper { int x; };
static at::Tensor inner(const at::Tensor& a, const at::Tensor &b) { return a; }
}
}
inline namespace x { }
Tensor& outer(Tensor& a, Tensor& b, Tensor& out) { if (1) { } return out; }
)";
  CHECK(names_in(source) == word_list{"gemm::v2::inner", "outer"});
  CHECK(tensor_functions_in(source)[0].line == 13);
  CHECK(bound_in(source + "PYBIND11_MODULE(E, m) { m.def(\"f\", &gemm::v2::inner); }\n") ==
        word_list{"gemm::v2::inner"});
  CHECK(bound_in(source + "TORCH_LIBRARY_IMPL(e, CUDA, m) { m.impl(\"f\", TORCH_FN(outer)); }\n") ==
        word_list{"outer"});
  CHECK(bound_in(source + "TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, outer);\n") == word_list{"outer"});
  CHECK(bound_in(source).empty());
  CHECK(names_in("Tensor f(Tensor a, Tensor b) { return cute::gemm(a, b); }").empty());
}

TEST_CASE("what a function gets is known by the types and names of its parameters", "[compile]") {
  const auto given = [](const std::string& head) {
    const tensor_function f = only_in(head + " { }");
    CHECK_FALSE(f.flaw);
    return f.arguments;
  };
  CHECK(given("torch::Tensor f(torch::Tensor x, torch::Tensor w)") == word_list{"A", "B"});
  CHECK(given("torch::Tensor f(torch::Tensor a, torch::Tensor b, torch::Tensor c)") ==
        word_list{"A", "B", "C"});
  CHECK(given("void f(torch::Tensor a, torch::Tensor b, torch::Tensor r)") ==
        word_list{"A", "B", "C"});
  CHECK(given("void f(torch::Tensor& out, const torch::Tensor& a, torch::Tensor const& b)") ==
        word_list{"C", "A", "B"});
  CHECK(given("void f(int m, int64_t N, at::Tensor a, at::Tensor b, float alpha, at::Tensor C)") ==
        word_list{"M", "N", "A", "B", "alpha", "C"});
  CHECK(given("torch::Tensor f(torch::Tensor x, torch::Tensor w, torch::Tensor bias)") ==
        word_list{"A", "B", "bias"});
  CHECK(given("void f(tvm::ffi::TensorView A, tvm::ffi::TensorView B, tvm::ffi::TensorView C)") ==
        word_list{"A", "B", "C"});
  CHECK(given("torch::Tensor f(torch::Tensor a, torch::Tensor b, int splits = 4, "
              "c10::optional<at::Tensor> bias = c10::nullopt, torch::Tensor more = {})") ==
        word_list{"A", "B"});
  const auto flaw = [](const std::string& head) { return only_in(head + " { }").flaw.value(); };
  CHECK_THAT(flaw("torch::Tensor f(torch::Tensor a, torch::Tensor b, torch::Tensor scale)"),
             ContainsSubstring("third tensor is called scale"));
  CHECK_THAT(flaw("torch::Tensor f(torch::Tensor a, torch::Tensor b, int groups)"),
             ContainsSubstring("parameter groups is no tensor"));
}

TEST_CASE("the types of tensors are those that the code asks for", "[compile]") {
  using kzoo::element_types;
  using types = std::vector<element_types>;
  CHECK(types_of_tensors("f(a.data_ptr());") == types{KZOO_F32});
  CHECK(types_of_tensors("f(a.data_ptr<double>());") == types{KZOO_F64});
  CHECK(types_of_tensors("f(a.data_ptr<at::Half>(), c.mutable_data_ptr<at::Half>());") ==
        types{KZOO_F16});
  CHECK(types_of_tensors(
            "f(n, reinterpret_cast<const __half*>(a.data_ptr()), (half*)c.data_ptr());") ==
        types{KZOO_F16});
  CHECK(types_of_tensors("k<float><<<g, b>>>(static_cast<nv_bfloat16*>(a.data_ptr()), n);") ==
        types{KZOO_BF16});
  CHECK(types_of_tensors("f(a.data_ptr<at::BFloat16>(), c.data_ptr<float>());") ==
        types{{KZOO_BF16, KZOO_BF16, KZOO_F32}});
  CHECK(types_of_tensors("AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), \"f\", [&] { half x; });") ==
        types{KZOO_F32});
  CHECK(types_of_tensors("AT_DISPATCH_FLOATING_TYPES_AND_HALF(a.type(), \"f\", ([&] {}));") ==
        types{KZOO_F32, KZOO_F16});
  CHECK(types_of_tensors("AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::kBFloat16, "
                         "a.scalar_type(), \"f\", [&] {});") ==
        types{KZOO_F32, KZOO_F16, KZOO_BF16});
  CHECK(types_of_tensors("AT_DISPATCH_REDUCED_FLOATING_TYPES(a.type(), \"f\", [&] {});") ==
        types{KZOO_F16, KZOO_BF16});
  CHECK(types_of_tensors("AT_DISPATCH_SWITCH(t, \"f\", AT_DISPATCH_CASE(at::kHalf, [&] {}))") ==
        types{KZOO_F16});
}

TEST_CASE("a description of a kernel begins with what the names of its parameters say",
          "[compile]") {
  CHECK(
      suggested_descriptions(
          "__global__ void f(const float* __restrict__ A, float *d_b, float out[], int M, int n, "
          "size_t lda, float alpha, int splits = 1) { g(); }\n__global__ void declared(float* a);") ==
      word_list{"entry=f arguments=A,B,…,M,N,lda,alpha,…"});
  CHECK(
      suggested_descriptions("template <int kTile>\nstatic __global__ void __launch_bounds__(256)\n"
                             "    g(float* c, const T* b, T** lists) {}\nvoid h(float* a) {}") ==
      word_list{"entry=g<…> arguments=C,B,…"});
}

TEST_CASE("launches become calls, each in its lines", "[compile]") {
  const auto called = [](const std::string& source) { return with_launches_called(source, true); };
  const std::string to = ", [&](const auto& kzoo_launch, auto&&... kzoo_argument) KZOO_LAUNCHED(";
  const std::string begin = "::kzoo::tensors::launch(::kzoo::tensors::config_of(";
  CHECK(called("else k<<<g, dim3(1, 2), 0, s>>>(a, b);") ==
        "else " + begin + "g, dim3(1, 2), 0, s)" + to + "k), a, b);");
  CHECK(called("else ::ns::k<<<1, 2>>>(a);") == "else " + begin + "1, 2)" + to + "::ns::k), a);");
  CHECK(called("cudaMemcpy(a, b, 4, kind);") == "::kzoo::tensors::cudaMemcpy(a, b, 4, kind);");
  CHECK(called("k<<<1, 2>>>();") == begin + "1, 2)" + to + "k));");
  CHECK(called("ns::k<4, (1 > 0), T<3>>  // which\n  <<<1,  /* and */\n2>>>(a);") ==
        begin + "1, 2)" + to + "ns::k<4, (1 > 0), T<3>>), \n\na);");
  CHECK(called("(k<4>)<<<1, f(x >> 3)>>>(a)") == begin + "1, f(x >> 3))" + to + "(k<4>)), a)");
  CHECK(called("#define GO(T) \\\n  k<T><<<1, \\\n    2>>>(a)\nGO(x);") ==
        "#define GO(T) \\\n  " + begin + "1, 2)" + to + "k<T>), \\\na)\nGO(x);");
  for (const char* callee : {"table[i + 1]", "p->k", "x.list[0].k", "find(3)", "a::b(c)[1]"})
    CHECK(called("if (x) " + std::string(callee) + "<<<1, 2>>>(a);") ==
          "if (x) " + begin + "1, 2)" + to + callee + "), a);");
  CHECK(called("return (k)<<<1, 2>>>(a);") == "return " + begin + "1, 2)" + to + "(k)), a);");
  for (const char* same : {"x << 3; y >> 2;", "\"k<<<1, 2>>>(a)\"", "// k<<<1, 2>>>(a)\n"})
    CHECK(called(same) == same);
  CHECK(called("cudaDeviceSynchronize(); ::cudaFree(0); x::cudaGetLastError();") ==
        "::kzoo::tensors::cudaDeviceSynchronize(); ::cudaFree(0); x::cudaGetLastError();");
  const std::string shared = "__global__ void f() {\n  extern __shared__ float x[];\n}\n";
  CHECK_THAT(called(shared), ContainsSubstring("\n  float* x = kzoo::dynamic_shared<float>();\n"));
  CHECK(with_launches_called(shared, false) == shared);
}
