#include "process/channel.hpp"

#include <nlohmann/json.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace kzoo::process {
namespace {

// Far more than the report of 10000 samples needs; our code sends no longer message.
constexpr std::size_t kLongestMessage = std::size_t{16} << 20;

}  // namespace

channel::~channel() { close(fd_); }

bool channel::send(const nlohmann::json& message) {
  // A plugin's text may hold invalid UTF-8: such bytes are replaced, not rejected.
  const std::string line =
      message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = ::send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<nlohmann::json> channel::receive(bool& closed) {
  closed = false;
  if (!has_message()) {
    std::array<char, 65536> bytes;
    ssize_t n = 0;
    do {
      n = ::recv(fd_, bytes.data(), bytes.size(), 0);
    } while (n < 0 && errno == EINTR);
    closed = n <= 0;
    if (n > 0) pending_.append(bytes.data(), static_cast<std::size_t>(n));
    if (pending_.size() > kLongestMessage) closed = true;
  }
  const auto end = pending_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  auto message = nlohmann::json::parse(pending_.substr(0, end));
  pending_.erase(0, end + 1);
  return message;
}

}  // namespace kzoo::process
