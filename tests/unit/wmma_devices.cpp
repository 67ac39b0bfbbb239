#include "support/catch.hpp"

#include <tensor_cores/common/from_sm75.hpp>

#include <string>

TEST_CASE("steps on WMMA reject bf16 before sm_80", "[plugins]") {
  const auto reason = [](kzoo_type type, kzoo_device_kind kind, unsigned capability) {
    kzoo_problem p{};
    p.type_a = type;
    kzoo_device d{};
    d.kind = kind;
    d.compute_capability = capability;
    const char* words = common::from_sm75::supports(p, d);
    return std::string(words != nullptr ? words : "");
  };
  CHECK(reason(KZOO_F16, KZOO_CUDA, 75).empty());
  CHECK(reason(KZOO_BF16, KZOO_CUDA, 75) == "tensor cores take bf16 from sm_80 on");
  CHECK(reason(KZOO_BF16, KZOO_CUDA, 80).empty());
  CHECK(reason(KZOO_BF16, KZOO_CPU, 0).empty());
}
