// The fastest kernel for each problem, by a model of how long each would take.

#include "dispatch.hpp"

namespace dispatch {

template <bool kMaySplit>
class variant {
 public:
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;

  static const char* supports(const kzoo_device& d) {
    return architecture_of(d) ? nullptr : "it is built for sm_90a alone";
  }
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    return kernels::choose(modelled(p), modelled(d)) ? nullptr
                                                     : "no kernel has a grid for so many tiles";
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    const kzoo_problem same = modelled(p);
    const kzoo_device of = modelled(d);
    return kernels::workspace_bytes(same, of, kernels::choose(same, of).value());
  }
  variant(const kzoo_problem& p, const kzoo_device& d)
      : kernel_(modelled(p), modelled(d), kernels::choose(modelled(p), modelled(d)).value()) {}

  template <class Gemm>
  void run(const Gemm& g, const kzoo_arguments& args) const {
    kernel_.run(g, args);
  }

 private:
  using kernels = chosen<kMaySplit>;

  kernels kernel_;
};

struct fp32 : variant<false> {
  using variant::variant;
};

struct fp32_split : variant<true> {
  using variant::variant;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32_SPLIT;
};

}  // namespace dispatch

KZOO_PLUGIN("dispatch", "The fastest kernel for each problem, by a model of their times",
            kzoo::variant<dispatch::fp32>("fp32", "kernels on CUDA cores"),
            kzoo::variant<dispatch::fp32_split>("fp32_split", "and split_fp16"));
