#pragma once
// A plugin whose library is loaded into this process.

#include "worker/library.hpp"
#include "worker/plugin.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>

namespace kzoo::worker {

class loaded_plugin final : public plugin {
 public:
  results::plugin_description open(const std::filesystem::path& file) override;
  void ask_support(std::uint32_t variant, const problem& p, const kzoo_device& on) override;
  std::uint64_t workspace_bytes(std::uint32_t variant, const problem& p,
                                const kzoo_device& on) override;
  void create(int slot, std::uint32_t variant, const problem& p, const kzoo_device& on) override;
  void place(int slot, const placement& where, void* stream) override;
  void run(int slot) override;
  std::vector<results::launch> launches(int slot) override;
  void destroy(int slot) override;
  std::int64_t heap_in_use() override;
  std::vector<std::string> product_libraries() override;

 private:
  struct instance {
    const kzoo_variant* variant = nullptr;
    void* made = nullptr;
    placement where;
    void* stream = nullptr;
  };

  std::set<std::string> libraries_before_ = worker::product_libraries();
  std::optional<library> library_;
  std::map<int, instance> instances_;
  // Launches of the last run. Every run gets the same list, so that no run can recognise itself by
  // it.
  static constexpr std::uint32_t kMaxLaunches = 16;
  std::array<kzoo_launch, kMaxLaunches> launches_{};
  kzoo_launch_list launch_list_{
      sizeof(kzoo_launch_list), launches_.data(), kMaxLaunches, sizeof(kzoo_launch), 0, 0};
};

}  // namespace kzoo::worker
