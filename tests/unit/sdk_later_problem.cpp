// What a plugin of this SDK says of a problem from a runner with a later minor version of the ABI.
#include <kzoo/plugin.hpp>

#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace {

struct idle_kernel {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {}
};

struct later_problem {
  kzoo_problem known{};
  std::uint64_t appended = 0;
};

}  // namespace

TEST_CASE("what an older caller's problem ends before is not read") {
  constexpr kzoo_variant kVariant = kzoo::variant<idle_kernel>("nothing", "computes nothing");
  constexpr kzoo_device kCpu{sizeof(kzoo_device), KZOO_CPU, 0, 0, 0, 0, 1, 0};
  kzoo_problem p{};
  p.struct_size = offsetof(kzoo_problem, operand_count);  // of minor version 0
  p.m = p.n = p.k = 1;
  p.lda = p.ldb = p.ldc = 1;
  p.type_a = p.type_b = p.type_c = KZOO_F32;
  p.alpha = 1;
  p.alignment = 4;
  p.stage_count = p.operand_count = 0xdead;
  CHECK(kVariant.supports(&kVariant, &p, &kCpu, nullptr) == KZOO_OK);
}

TEST_CASE("a field that a later minor version of the ABI appends is declined unless it is 0") {
  constexpr kzoo_variant kVariant = kzoo::variant<idle_kernel>("nothing", "computes nothing");
  constexpr kzoo_device kCpu{sizeof(kzoo_device), KZOO_CPU, 0, 0, 0, 0, 1, 0};
  later_problem p;
  p.known.struct_size = sizeof p;
  p.known.m = p.known.n = p.known.k = 1;
  p.known.lda = p.known.ldb = p.known.ldc = 1;
  p.known.type_a = p.known.type_b = p.known.type_c = KZOO_F32;
  p.known.alpha = 1;
  p.known.alignment = 4;
  std::array<char, 200> words{};
  kzoo_text reason{words.data(), words.size()};
  CHECK(kVariant.supports(&kVariant, &p.known, &kCpu, &reason) == KZOO_OK);
  p.appended = 1;
  CHECK(kVariant.supports(&kVariant, &p.known, &kCpu, &reason) == KZOO_UNSUPPORTED);
  CHECK(std::string_view(words.data()) == "the problem has options newer than this plugin's SDK");
}
