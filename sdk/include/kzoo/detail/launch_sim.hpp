// launch() on the simulator. Included by launch.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>

#include <kzoo/error.hpp>
#include <kzoo/launch_config.hpp>
#include <kzoo/launch_limits.hpp>
#include <kzoo/launch_list.hpp>
#include <kzoo/sim/grid.hpp>

namespace kzoo::detail {

template <class... P>
struct kernel_call {
  void (*kernel)(P...);
  const std::tuple<P...>& values;

  static void invoke(const void* closure) {
    const auto& self = *static_cast<const kernel_call*>(closure);
    std::apply(self.kernel, self.values);
  }
};

template <class... P>
void launch_checked(const launch_config& config, void (*kernel)(P...),
                    const std::tuple<P...>& values) {
  const auto* address = reinterpret_cast<const void*>(kernel);
  if (config.dynamic_shared != 0) {
    const std::string problem =
        shared_problem(config.dynamic_shared, 0, sim::allowed_dynamic_shared(address));
    if (!problem.empty()) throw error(KZOO_LAUNCH_FAILED, problem);
  }
  const kernel_call<P...> call{kernel, values};
  sim::run_grid({config.grid, config.block, config.dynamic_shared, address,
                 &kernel_call<P...>::invoke, &call, config.cluster, config.dependent});
  next_launch(config, nullptr);
}

inline void allow_dynamic_shared(const void* kernel, std::size_t bytes) {
  const std::string problem = opt_in_problem(bytes, launch_limits{}.shared_opt_in);
  if (!problem.empty()) throw error(KZOO_LAUNCH_FAILED, problem);
  sim::raise_allowed_dynamic_shared(kernel, bytes);
}

}  // namespace kzoo::detail
