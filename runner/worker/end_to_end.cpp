
#include "devices/backend.hpp"
#include "worker/plugin.hpp"
#include "worker/prepared_kernel.hpp"

#include <list>
#include <optional>

namespace kzoo::worker {
namespace {

// A copy in pageable host memory, as in most programs; its pages have been touched.
std::vector<std::byte> on_host(devices::backend& backend, const device_matrix& x) {
  std::vector<std::byte> words(x.bytes());
  backend.copy_to_host(words.data(), x.words(), words.size());
  return words;
}

template <class Work>
double ms_of(const Work& work) {
  const stopwatch clock;
  work();
  constexpr double kMsPerSecond = 1000;
  return kMsPerSecond * clock.seconds();
}

}  // namespace

end_to_end_report prepared_kernel::end_to_end() {
  fill(fresh_seed());
  std::vector<std::vector<std::byte>> on_hosts;
  for (const auto& input : matrices_.inputs) on_hosts.push_back(on_host(backend_, *input));
  std::vector<std::byte> c = on_host(backend_, *matrices_.c);
  std::list<device_memory> on_device;  // of the inputs
  std::optional<device_memory> on_device_c, workspace;
  backend_.synchronize();

  end_to_end_report report;
  report.times.allocate_ms = ms_of([&] {
    for (const std::vector<std::byte>& input : on_hosts)
      on_device.emplace_back(backend_, input.size());
    on_device_c.emplace(backend_, c.size());
    if (workspace_bytes_ > 0) workspace.emplace(backend_, workspace_bytes_);
  });
  const auto first = [](const device_memory& memory, const device_matrix& like) {
    return static_cast<char*>(memory.get()) + like.offset_of_first();
  };
  placement where{{}, first(*on_device_c, *matrices_.c), workspace ? workspace->get() : nullptr};
  for (const device_memory& memory : on_device)
    where.inputs.push_back(first(memory, *matrices_.inputs[where.inputs.size()]));
  plugin_.place(slot_, where, backend_.stream());  // before there is anything to multiply
  const auto send_c = [&] { backend_.copy_to_device(on_device_c->get(), c.data(), c.size()); };
  const bool c_is_input = matrices_.problem.beta != 0;
  report.times.to_device_ms = ms_of([&] {
    auto to = on_device.begin();
    for (const std::vector<std::byte>& input : on_hosts)
      backend_.copy_to_device((to++)->get(), input.data(), input.size());
    if (c_is_input) send_c();
    backend_.synchronize();
  });
  if (!c_is_input) send_c();  // poison for the check, so outside the timed copies
  backend_.synchronize();
  report.times.kernel_ms = ms_of([&] {
    call_plugin();
    backend_.synchronize();
  });
  place();
  report.times.to_host_ms =
      ms_of([&] { backend_.copy_to_host(c.data(), on_device_c->get(), c.size()); });

  // Judges the C that was copied back.
  matrices_.c->copy_from_host(c.data());
  report.judged =
      report_on(backend_.judge(matrices_.c->words(), expected(), devices::random_key()));
  return report;
}

}  // namespace kzoo::worker
