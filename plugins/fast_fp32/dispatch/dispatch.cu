// The fastest kernel for each problem, by a model of how long each would take, or by a trial of
// those that may be the fastest.

#include <kzoo/trial.hpp>

#include "dispatch.hpp"

namespace dispatch {

enum class by { model, trial };

// Runs a kernel on the matrices of a trial.
template <class Kernel>
void run_on(const Kernel& kernel, const kzoo_problem& p, const kzoo_arguments& args) {
  const auto if_it_is = [&]<kzoo::layout kLayout>() {
    if (kzoo::layout_of(p) != kLayout) return;
    const auto first = kzoo::detail::to_gemm<float, kLayout>(p, args);
    if (p.batch > 1) {
      kernel.run(kzoo::gemm_batch<float, kLayout>{first, static_cast<int>(p.batch),
                                                  static_cast<std::ptrdiff_t>(p.stride_a),
                                                  static_cast<std::ptrdiff_t>(p.stride_b),
                                                  static_cast<std::ptrdiff_t>(p.stride_c)},
                 args);
    } else {
      kernel.run(first, args);
    }
  };
  [&]<kzoo::layout... kLayout>(kzoo::layouts<kLayout...>) {
    (if_it_is.template operator()<kLayout>(), ...);
  }
  (kzoo::every_layout{});
}

template <bool kMaySplit, by kBy>
class variant {
 public:
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;
  // Another process may choose another, which rounds differently.
  static constexpr bool nondeterministic = kBy == by::trial;

  static const char* supports(const kzoo_device& d) {
    return architecture_of(d) ? nullptr : "it is built for sm_90a alone";
  }
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    return candidates(p, d).empty() ? "no kernel has a grid for so many tiles" : nullptr;
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return workspace_bytes(p, d, candidates(p, d));
  }
  variant(const kzoo_problem& p, const kzoo_device& d) : kernel_(fastest(p, d, candidates(p, d))) {}

  template <class Gemm>
  void run(const Gemm& g, const kzoo_arguments& args) const {
    kernel_.run(g, args);
  }

 private:
  using kernels = chosen<kMaySplit>;

  static std::vector<choice> candidates(const kzoo_problem& p, const kzoo_device& d) {
    std::vector<choice> likely = kernels::likely(modelled(p), modelled(d));
    if (kBy == by::model && likely.size() > 1) likely.resize(1);
    return likely;
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d,
                                     const std::vector<choice>& all) {
    const kzoo_problem same = modelled(p);
    const kzoo_device of = modelled(d);
    std::size_t most = 0;
    for (const choice& c : all) most = std::max(most, kernels::workspace_bytes(same, of, c));
    return most;
  }
  static kernels fastest(const kzoo_problem& p, const kzoo_device& d,
                         const std::vector<choice>& all) {
    static kzoo::trial_choices choices;
    std::vector<std::optional<kernels>> made(all.size());
    const auto make = [&](std::size_t i) -> kernels& {
      return made[i] ? *made[i] : made[i].emplace(modelled(p), modelled(d), all.at(i));
    };
    const auto run = [&](std::size_t i, const kzoo_arguments& args) { run_on(make(i), p, args); };
    return std::move(make(choices.fastest_of(p, all.size(), workspace_bytes(p, d, all), run)));
  }

  kernels kernel_;
};

struct fp32 : variant<false, by::model> {
  using variant::variant;
};
struct best : variant<false, by::trial> {
  using variant::variant;
};

struct fp32_split : variant<true, by::model> {
  using variant::variant;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32_SPLIT;
};
struct best_split : variant<true, by::trial> {
  using variant::variant;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32_SPLIT;
};

}  // namespace dispatch

KZOO_PLUGIN("dispatch", "The fastest kernel for each problem, by a model of their times",
            kzoo::variant<dispatch::fp32>("fp32", "kernels on CUDA cores"),
            kzoo::variant<dispatch::best>("best", "the same, by a trial of the likely ones"),
            kzoo::variant<dispatch::fp32_split>("fp32_split", "and split_fp16"),
            kzoo::variant<dispatch::best_split>("best_split", "and split_fp16, by a trial"));
