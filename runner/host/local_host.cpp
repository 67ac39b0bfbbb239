#include "host/plugin_host.hpp"
#include "worker/session.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace kzoo::host {
namespace {

class local_host final : public plugin_host {
 public:
  explicit local_host(std::filesystem::path file) : plugin_host(std::move(file), 0) {}

 protected:
  nlohmann::json exchange(const nlohmann::json& request, double) override {
    if (!session_) session_.emplace(output_memory());
    return session_->handle(request);
  }
  // The library stays loaded: unloading code that has run is not safe.
  void restart() override { session_.reset(); }

 private:
  std::optional<worker::session> session_;
};

}  // namespace

std::unique_ptr<plugin_host> make_local_host(std::filesystem::path file) {
  return std::make_unique<local_host>(std::move(file));
}

}  // namespace kzoo::host
