// Declared in client/plugin_client.hpp.

#include "client/plugin_client.hpp"
#include "worker/loaded_plugin.hpp"
#include "worker/session.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace kzoo::client {
namespace {

class local_client final : public plugin_client {
 public:
  explicit local_client(std::filesystem::path file) : plugin_client(std::move(file), 0) {}

 protected:
  nlohmann::json exchange(const nlohmann::json& request, double) override {
    if (!session_) session_.emplace(plugin_, file().stem().string(), output_memory());
    return session_->handle(request);
  }
  // The library stays loaded, since unloading code that has run is not safe.
  void restart() override { session_.reset(); }

 private:
  worker::loaded_plugin plugin_;
  std::optional<worker::session> session_;
};

}  // namespace

std::unique_ptr<plugin_client> make_local_client(std::filesystem::path file) {
  return std::make_unique<local_client>(std::move(file));
}

}  // namespace kzoo::client
