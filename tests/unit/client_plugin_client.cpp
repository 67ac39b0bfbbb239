// Which of several GPUs a worker sees.
#include "client/plugin_client.hpp"

#include "support/catch.hpp"
#include "worker/messages_json.hpp"

#include <nlohmann/json.hpp>

#include <string>

using kzoo::client::hiding_all_but;
using kzoo::client::visible_alone;

TEST_CASE("a worker sees its own GPU alone, of those that the user lets us see", "[client]") {
  CHECK(visible_alone("", 0) == "0");
  CHECK(visible_alone("", 3) == "3");
  CHECK(visible_alone("2,5,7", 0) == "2");
  CHECK(visible_alone("2,5,7", 1) == "5");
  CHECK(visible_alone("2, 5 ,7", 1) == "5");
  CHECK(visible_alone("2,5,7", 2) == "7");
  CHECK(visible_alone("GPU-8932f937,MIG-4b1c/1/0", 1) == "MIG-4b1c/1/0");
  CHECK(visible_alone("2,5", 2).empty());  // there is none of that number
}

TEST_CASE("nothing is hidden from a worker on the CPU", "[client]") {
  kzoo::results::device cpu;
  cpu.abi.kind = KZOO_CPU;
  CHECK_FALSE(hiding_all_but(cpu));
}

namespace {

// Accepts all problems but those with M = 1.
class counting_client final : public kzoo::client::plugin_client {
 public:
  counting_client() : plugin_client("plugin.so", 1) {}
  int asked = 0;

 protected:
  nlohmann::json exchange(const nlohmann::json& request, double) override {
    const auto op = request.at("op").get<std::string>();
    if (op == "open") {
      kzoo::results::plugin_description plugin;
      plugin.variants.emplace_back().id = "only";
      plugin.variants[0].signatures = {{KZOO_F32, KZOO_COMPUTE_FP32}};
      return {{"plugin", plugin}};
    }
    if (op != "supports") return nlohmann::json::object();
    ++asked;
    if (request.at("problem").get<kzoo::problem>().m > 1) return nlohmann::json::object();
    return {{"status", "unsupported"}, {"reason", "M is 1"}};
  }
  void restart() override {}
};

}  // namespace

TEST_CASE("a variant is asked once whether it takes a problem, and before each run", "[client]") {
  counting_client client;
  kzoo::problem taken = kzoo::sized(2, 3, 4), refused = kzoo::sized(1, 3, 4);
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(client.objection("cpu", 0, taken));
    CHECK(client.objection("cpu", 0, refused) == "M is 1");
    taken.seed = refused.seed = 7;  // which it is not told
  }
  CHECK(client.asked == 2);
  client.prepare("cpu", 0, taken);
  client.prepare("cpu", 0, taken);
  CHECK(client.asked == 4);
}
