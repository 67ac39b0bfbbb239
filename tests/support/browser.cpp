#include "support/browser.hpp"

#include "support/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <array>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace kzoo::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string program() {
  const char* path = std::getenv("PATH");
  for (const char* name : {"chromium-headless-shell", "chromium"}) {
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      const fs::path file = fs::path(folder) / name;
      if (access(file.c_str(), X_OK) == 0) return file.string();
    }
  }
  return "";
}

// The program reads from descriptor 3 and writes to 4.
[[noreturn]] void become_browser(const std::string& file, int commands, int replies) {
  constexpr int kIn = 3, kOut = 4;
  const int in = fcntl(commands, F_DUPFD, 10), out = fcntl(replies, F_DUPFD, 10);
  dup2(in, kIn);
  dup2(out, kOut);
  const int nothing = ::open("/dev/null", O_RDWR);
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  execl(file.c_str(), file.c_str(), "--headless", "--no-sandbox", "--disable-gpu",
        "--remote-debugging-pipe", nullptr);
  _exit(127);
}

}  // namespace

bool browser::exists() { return !program().empty(); }

browser::browser(int width) {
  const std::string file = program();
  std::array<int, 2> commands{}, replies{};
  if (pipe2(commands.data(), O_CLOEXEC) != 0 || pipe2(replies.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("pipe2");
  process_ = fork();
  if (process_ == 0) become_browser(file, commands[0], replies[1]);
  close(commands[0]);
  close(replies[1]);
  to_ = commands[1];
  from_ = replies[0];
  const std::string target = call("Target.createTarget", {{"url", "about:blank"}})["targetId"];
  session_ = call("Target.attachToTarget", {{"targetId", target}, {"flatten", true}})["sessionId"];
  for (const char* domain : {"Page", "Runtime", "Log", "Network"})
    call(std::string(domain) + ".enable", json::object());
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", 900}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

browser::~browser() {
  close(to_);
  close(from_);
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

void browser::open(const fs::path& file, const std::string& ready) {
  call("Page.navigate", {{"url", "file://" + file.string()}});
  if (!eventually([&] { return evaluate(ready) == true; }))
    throw std::runtime_error("the page is never ready: " + ready);
}

json browser::evaluate(const std::string& expression) {
  const json reply =
      call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}});
  if (reply.contains("exceptionDetails"))
    throw std::runtime_error(expression + ": " + reply["exceptionDetails"].dump());
  return reply["result"].value("value", json());
}

void browser::show_as_print() { call("Emulation.setEmulatedMedia", {{"media", "print"}}); }

void browser::press(const std::string& key) {
  const int code = key == "Enter" ? 13 : key == "Tab" ? 9 : 0;
  json event{{"key", key}, {"code", key}, {"windowsVirtualKeyCode", code}};
  if (key == "Enter") event["text"] = "\r";
  for (const char* type : {"keyDown", "keyUp"}) {
    event["type"] = type;
    call("Input.dispatchKeyEvent", event);
  }
}

json browser::call(const std::string& method, const json& parameters) {
  json message{{"id", ++last_}, {"method", method}, {"params", parameters}};
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string text = message.dump() + '\0';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(to_, text.data() + sent, text.size() - sent);
    if (n <= 0) throw std::runtime_error("the browser is gone");
    sent += static_cast<std::size_t>(n);
  }
  for (;;) {
    json reply = receive();
    if (reply.value("id", 0) != last_) {
      note(reply);
      continue;
    }
    if (reply.contains("error")) throw std::runtime_error(method + ": " + reply["error"].dump());
    return reply["result"];
  }
}

json browser::receive() {
  constexpr int kPatience = 60'000;  // ms
  std::array<char, 65536> part{};
  std::size_t end = 0;
  while ((end = received_.find('\0')) == std::string::npos) {
    pollfd wait{from_, POLLIN, 0};
    const ssize_t n = poll(&wait, 1, kPatience) == 1 ? read(from_, part.data(), part.size()) : 0;
    if (n <= 0) throw std::runtime_error("the browser does not answer");
    received_.append(part.data(), static_cast<std::size_t>(n));
  }
  json message = json::parse(received_.substr(0, end));
  received_.erase(0, end + 1);
  return message;
}

void browser::note(const json& event) {
  const std::string method = event.value("method", "");
  if (method == "Runtime.consoleAPICalled" || method == "Runtime.exceptionThrown" ||
      method == "Log.entryAdded") {
    complaints_.push_back(event["params"].dump());
  } else if (method == "Network.requestWillBeSent") {
    const std::string url = event["params"]["request"]["url"];
    if (!url.starts_with("file:")) complaints_.push_back("request for " + url.substr(0, 200));
  }
}

}  // namespace kzoo::test
