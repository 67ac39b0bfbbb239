// Variants that are validated side by side, by workers that decline all problems.

#include "run/validate.hpp"

#include "support/catch.hpp"
#include "worker/messages_json.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

using namespace kzoo;
using json = nlohmann::json;

namespace {

const std::vector<std::string> kVariants{"slowest", "slow", "fast", "fastest"};

results::plugin_description description() {
  results::plugin_description plugin;
  for (const std::string& id : kVariants) {
    results::variant_description& v = plugin.variants.emplace_back();
    v.id = id;
    v.signatures = {{KZOO_F32, KZOO_COMPUTE_FP32}};
  }
  return plugin;
}

constexpr unsigned kSideBySide = 3;

// Its first answer comes when there are as many as are to work side by side.
class declining_client final : public client::plugin_client {
 public:
  explicit declining_client(const std::atomic<unsigned>& made)
      : plugin_client("plugin.so", 1), made_(made) {}

 protected:
  json exchange(const json& request, double) override {
    if (request.at("op") == "open") return {{"plugin", description()}};
    if (!request.contains("variant")) return json::object();
    const auto variant = request.at("variant").get<std::size_t>();
    const auto begin = std::chrono::steady_clock::now();
    while (made_ < kSideBySide &&
           std::chrono::steady_clock::now() - begin < std::chrono::seconds(5))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(100 * (kVariants.size() - variant)));
    return {{"status", "unsupported"}, {"reason", "not even for " + kVariants[variant]}};
  }
  void restart() override {}

 private:
  const std::atomic<unsigned>& made_;
};

struct validated {
  std::vector<std::string> started;
  std::vector<std::thread::id> told_in;
  results::validation all;
};

validated validate(const run::client_factory& make_client) {
  std::vector<run::loaded_plugin> plugins(1);
  plugins[0].record.name = "plugin";
  plugins[0].record.file = "plugin.so";
  plugins[0].record.description = description();
  const std::atomic<unsigned> none = 0;
  plugins[0].client = std::make_unique<declining_client>(none);
  for (const results::variant_description& v : description().variants)
    plugins[0].variants.push_back({static_cast<std::uint32_t>(plugins[0].variants.size()), v});
  run::validation_options how;
  how.make_client = make_client;
  how.side_by_side = kSideBySide;
  results::device device;
  device.id = "cpu";
  validated found;
  run::validation_observer watch;
  watch.starts = [&](const results::validated_variant& one) {
    found.started.push_back(one.kernel);
    found.told_in.push_back(std::this_thread::get_id());
  };
  found.all = run::validate(plugins, device, how, watch);
  return found;
}

}  // namespace

TEST_CASE("variants that are validated side by side are told in their order", "[verify]") {
  std::atomic<unsigned> made = 0;
  const validated found = validate([&](const auto&) {
    ++made;
    return std::make_unique<declining_client>(made);
  });
  CHECK(made == kSideBySide);
  REQUIRE(found.all.variants.size() == kVariants.size());
  for (std::size_t i = 0; i < kVariants.size(); ++i) {
    CHECK(found.started.at(i) == "plugin:" + kVariants[i]);
    CHECK(found.told_in.at(i) == std::this_thread::get_id());
    const results::validated_variant& one = found.all.variants[i];
    CHECK(one.kernel == found.started[i]);
    REQUIRE(one.findings.size() == 1);
    CHECK(one.findings[0].outcome == results::outcome::skipped);
    CHECK(one.findings[0].detail == "declined: not even for " + kVariants[i]);
  }
}

TEST_CASE("what fails beside another variant fails the validation", "[verify]") {
  const auto no_more = [](const auto&) -> std::unique_ptr<client::plugin_client> {
    throw std::runtime_error("no more processes");
  };
  CHECK_THROWS_WITH(validate(no_more), "no more processes");
}
