#include "cli/json_file.hpp"

#include "experiment/experiment.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace kzoo::cli {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw experiment::invalid(fmt::format("--json {}: error: cannot be written: {}", name, why));
}

}  // namespace

json_file::json_file(const std::string& name, const std::filesystem::path& source) : name_(name) {
  if (name.empty() || name == "-") return;
  std::error_code ignored;
  if (std::filesystem::equivalent(name, source, ignored)) {
    refuse(name, "it is the experiment file");
  }
  // Devices and pipes cannot be replaced: they are written to as they are.
  const bool in_place =
      std::filesystem::exists(name, ignored) && !std::filesystem::is_regular_file(name, ignored);
  written_ = in_place ? name : fmt::format("{}.{}.part", name, getpid());
  file_ = std::fopen(written_.c_str(), "w");
  if (file_ == nullptr) refuse(name, std::strerror(errno));
}

json_file::~json_file() {
  if (file_ != nullptr) std::fclose(file_);
  if (!written_.empty() && written_ != name_) std::remove(written_.c_str());
}

void json_file::write(const nlohmann::ordered_json& document) {
  if (name_.empty()) return;
  // A plugin's texts may hold any bytes.
  const std::string text =
      document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  std::FILE* out = file_ == nullptr ? stdout : file_;
  const bool whole =
      std::fwrite(text.data(), 1, text.size(), out) == text.size() && std::fflush(out) == 0 &&
      (written_ == name_ || written_.empty() || std::rename(written_.c_str(), name_.c_str()) == 0);
  if (!whole) throw std::runtime_error(fmt::format("--json {}: {}", name_, std::strerror(errno)));
}

}  // namespace kzoo::cli
