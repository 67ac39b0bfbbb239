// How kernels of a source are launched of which nothing but device code is compiled: what PTX says
// of them.

#include "compile/bare_kernel.hpp"
#include "compile/source_plugin.hpp"
#include "input/diagnostics.hpp"
#include "source/description.hpp"
#include "support/catch.hpp"

#include <string>

using namespace kzoo;
using compile::launches_of;
using kzoo::test::ContainsSubstring;
using manifest::number_type;

namespace {

manifest::described_kernels described(const std::string& keys) {
  const std::string text = "// kzoo: " + keys + "\n__global__ void f() {}\n";
  return compile::unit_of(source::describe("f.cu", "f.cu", text), "f.cu", {}).kernels;
}

// As nvcc writes the marks, whose numbers are those of number_type, plus one; 0 at the end is left
// out.
std::string mark(int number, const std::string& name, const std::string& parameters, int count) {
  const std::string of = std::to_string(number);
  return ".visible .entry " + name + "()\n.global .align 8 .u64 kzoo_entry_" + of + " = " + name +
         ";\n.global .align 1 .b8 kzoo_parameters_" + of + "[" + std::to_string(count + 1) + "]" +
         (parameters.empty() ? "" : " = {" + parameters + "}") + ";\n";
}

std::string refused(const manifest::described_kernels& kernels, const std::string& ptx) {
  try {
    launches_of(kernels, ptx, "/src/f.cu");
  } catch (const input::invalid& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a kernel is launched by its name in machine code, with numbers as its parameters have") {
  const auto kernels = described(
      "entry=f<T> grid=N,M block=32 arguments=A,B,C,M,N,K,alpha,1 types=f32,f16 "
      "layouts=nn,nt");
  const auto m = launches_of(kernels,
                             mark(0, "_Z1fIfEv", "1, 1, 1, 2, 3, 9, 6, 8", 8) +
                                 mark(1, "_Z1fI6__halfEv", "1, 1, 1, 2, 3, 9, 4, 8", 8),
                             "/src/f.cu");
  CHECK(m.id == "f");
  CHECK(m.kernel == "f.cu");
  REQUIRE(m.variants.size() == 4);  // for each type, each layout
  for (const manifest::kernel_variant& v : m.variants) CHECK(v.id == m.variants[0].id);
  const manifest::kernel_variant& f32 = m.variants[0];
  CHECK(f32.entry == "_Z1fIfEv");
  CHECK(f32.type_a == KZOO_F32);
  CHECK(f32.arguments[3].type == number_type::i32);
  CHECK(f32.arguments[4].type == number_type::i64);
  CHECK(f32.arguments[5].type == number_type::i16);
  CHECK(f32.arguments[6].type == number_type::f32);
  CHECK(f32.arguments[7].type == number_type::i8);
  CHECK(m.variants[1].layout == layout::nt);
  const manifest::kernel_variant& f16 = m.variants[2];
  CHECK(f16.entry == "_Z1fI6__halfEv");
  CHECK(f16.precision == KZOO_COMPUTE_FP16);
  CHECK(f16.arguments[6].type == number_type::f16);
  CHECK(launches_of(described("entry=f grid=1 block=1 arguments=A precision=tf32"),
                    mark(0, "f", "1", 1), "/src/f.cu")
            .variants.at(0)
            .precision == KZOO_COMPUTE_TF32);
}

TEST_CASE("PTX that an author has changed is refused, whatever it says") {
  const auto kernels = described("entry=f grid=1 block=1 arguments=A,M");
  CHECK(refused(kernels, mark(0, "f", "1, 2", 2)).empty());
  for (const std::string& ptx :
       {std::string(), mark(1, "f", "1, 2", 2), mark(0, "f", "1", 1), mark(0, "f", "1, 2, 2", 3),
        mark(0, "f", "1, 0", 2), mark(0, "f", "1, 10", 2), mark(0, "f", "1, -1", 2),
        mark(0, "f", "1, x", 2), mark(0, "f", ", ", 2), mark(0, "", "1, 2", 2),
        mark(0, "f\xff", "1, 2", 2), mark(0, "\"f", "1, 2", 2), std::string("kzoo_entry_0 = f"),
        std::string("kzoo_entry_0 = f;kzoo_parameters_0[3] = {")}) {
    INFO(ptx);
    CHECK_THAT(refused(kernels, ptx),
               ContainsSubstring("f.cu: error: the compiled kernels are not"));
  }
}

TEST_CASE("the marks are made for each type of each variant") {
  const std::string text =
      compile::mark_text(described("entry=f<T> grid=1 block=1 arguments=A types=f32,bf16->f32"));
  CHECK_THAT(text, ContainsSubstring("kzoo_entry_0 = kzoo_description_0::entry<float>;"));
  CHECK_THAT(text, ContainsSubstring("kzoo_entry_1 = kzoo_description_0::entry<kzoo::mixed<"
                                     "__nv_bfloat16, __nv_bfloat16, float>>;"));
}
