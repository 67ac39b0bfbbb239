// What cuBLASLt's heuristic proposes for a problem: each of its candidates, and the fastest of
// them, which is the one to beat.

#include <kzoo/plugin.hpp>
#include <kzoo/trial.hpp>

#include <libraries/cublaslt/cublaslt.hpp>

#include <cstddef>
#include <string>

namespace {

using lt_types = kzoo::types<float, __half, __nv_bfloat16, double, kzoo::to<__half, float>,
                             kzoo::to<__nv_bfloat16, float>, kzoo::to<signed char, int>,
                             kzoo::to<__nv_fp8_e4m3, float>, kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>,
                             kzoo::mixed<__nv_fp8_e4m3, __nv_fp8_e5m2, __nv_bfloat16>,
                             kzoo::mixed<__nv_fp8_e5m2, __nv_fp8_e4m3, __nv_bfloat16>>;

using lt = common::lt_variant<lt_types>;

// The heuristic's candidate number kIndex, in its order.
template <std::size_t kIndex>
class heuristic : public lt {
 public:
  heuristic(const kzoo_problem& p, const kzoo_device& d) : lt(p, d) {
    if (kIndex >= product_.count())
      throw kzoo::error(KZOO_UNSUPPORTED,
                        "the heuristic has only " + std::to_string(product_.count()) +
                            (product_.count() == 1 ? " candidate" : " candidates") +
                            " for this problem");
    product_.choose(kIndex);
  }
};

// Runs all candidates when it is first created for a problem in a process, and keeps the fastest.
class best : public lt {
 public:
  // Another process may choose another, which rounds differently.
  static constexpr bool nondeterministic = true;

  best(const kzoo_problem& p, const kzoo_device& d) : lt(p, d) {
    static kzoo::trial_choices choices;
    product_.choose(choices.fastest_of(p, product_.count(), workspace_bytes(p, d),
                                       [this](std::size_t i, const kzoo_arguments& args) {
                                         product_.choose(i);
                                         product_.run(args);
                                       }));
  }
};

}  // namespace

KZOO_PLUGIN("cublaslt", "What NVIDIA cuBLASLt's heuristic proposes",
            kzoo::variant<heuristic<0>>("heuristic0", "its first candidate"),
            kzoo::variant<heuristic<1>>("heuristic1", "its second"),
            kzoo::variant<heuristic<2>>("heuristic2", "its third"),
            kzoo::variant<heuristic<3>>("heuristic3", "its fourth"),
            kzoo::variant<heuristic<4>>("heuristic4", "its fifth"),
            kzoo::variant<heuristic<5>>("heuristic5", "its sixth"),
            kzoo::variant<heuristic<6>>("heuristic6", "its seventh"),
            kzoo::variant<heuristic<7>>("heuristic7", "its eighth"),
            kzoo::variant<best>("best", "the fastest of them, measured when it is first created"));
