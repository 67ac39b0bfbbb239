#include "worker/session.hpp"

#include "worker/messages_json.hpp"
#include "worker/plugin_calls.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

namespace kzoo::worker {
namespace {

using json = nlohmann::json;

results::plugin_description describe(const library& lib) {
  const kzoo_plugin& p = lib.plugin();
  const auto text = [](const char* s) { return std::string(s == nullptr ? "" : s); };
  results::plugin_description d{text(p.id), text(p.summary), text(p.build_info),
                                p.device,   p.native != 0,   {}};
  for (std::uint32_t i = 0; i < p.variant_count; ++i) {
    const kzoo_variant& v = lib.variant(i);
    const bool has_flag = v.struct_size >= sizeof(kzoo_variant);
    results::variant_description out{
        text(v.id), text(v.summary), v.compute_capability, has_flag && v.nondeterministic != 0, {}};
    for (std::uint32_t s = 0; s < v.signature_count; ++s) {
      const kzoo_signature& sig = v.signatures[s];
      const bool same = sig.type_a == sig.type_b && sig.type_b == sig.type_c;
      out.signatures.push_back({same ? sig.type_c : kzoo_type{0}, sig.compute});
    }
    d.variants.push_back(std::move(out));
  }
  return d;
}

}  // namespace

session::session(process::shared_memory& output) : output_(output) {}

session::~session() {
  try {
    benches_.clear();
  } catch (const std::exception&) {
    // Freeing fails if the CUDA context is broken; the context ends with this process.
  }
}

json session::handle(const json& request) {
  const auto status = [](const char* name, const std::string& reason) {
    return json{{"status", name}, {"reason", reason}};
  };
  try {
    return dispatch(request.at("op").get<std::string>(), request);
  } catch (const refusal& r) {
    return status(r.status, r.reason);
  } catch (const unusable& e) {
    return status("unavailable", e.what());
  } catch (const std::exception& e) {
    return status("error", e.what());
  }
}

json session::dispatch(const std::string& op, const json& request) {
  const phase_range phase(op);
  if (op == "open") return open(request);
  if (op == "run") return bench(request).run(request.at("output").get<output_request>());
  if (op == "sample") return bench(request).sample(request.at("how").get<sample_request>());
  if (op == "end_to_end")
    return bench(request).end_to_end(request.at("output").get<output_request>());
  if (op == "ask") {
    ask(request);
  } else if (op == "prepare") {
    prepare(request);
  } else if (op == "renew") {
    bench(request).renew(request.at("problem").get<problem>(),
                         request.at("move").get<std::string>());
  } else if (op == "profile") {
    bench(request).profile(request.at("warmup").get<int>());
  } else if (op == "show") {
    bench(request).show();
  } else if (op == "fold") {
    bench(request).fold(request.at("key").get<std::uint64_t>());
  } else if (op == "finish") {
    ranges_.erase(request.at("slot").get<int>());
    bench(request).finish();
  } else if (op == "release") {
    ranges_.clear();
    benches_.clear();
  } else {
    throw std::invalid_argument("no such request: " + op);
  }
  return json::object();
}

json session::open(const json& request) {
  const std::filesystem::path file = request.at("file").get<std::string>();
  library_.emplace(file);
  name_ = file.stem().string();
  return {{"plugin", describe(*library_)}};
}

void session::ask(const json& request) {
  open_device(request);
  ask_support(variant(request), to_abi(request.at("problem").get<problem>()), device_.abi);
}

void session::prepare(const json& request) {
  open_device(request);
  const int slot = request.at("slot").get<int>();
  const auto p = request.at("problem").get<problem>();
  ranges_.erase(slot);
  cell_range range(fmt::format("{}:{}@{}", name_, variant(request).id, shape_name(p)));
  benches_.try_emplace(slot, *backend_, device_, output_)
      .first->second.prepare(variant(request), p);
  ranges_.emplace(slot, std::move(range));
}

void session::open_device(const json& request) {
  if (backend_) return;
  device_ = devices::find(request.at("device").get<std::string>());
  backend_ = devices::open(device_.id);
}

const kzoo_variant& session::variant(const json& request) const {
  return library_->variant(request.at("variant").get<std::uint32_t>());
}

prepared_kernel& session::bench(const json& request) {
  return benches_.at(request.at("slot").get<int>());
}

}  // namespace kzoo::worker
