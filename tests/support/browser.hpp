#pragma once
// A headless browser that opens a page from a file, driven through its DevTools pipe.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kzoo::test {

class browser {
 public:
  // Whether chromium-headless-shell or chromium is installed.
  static bool exists();

  // `width`: of the window, in pixels.
  explicit browser(int width);
  ~browser();
  browser(const browser&) = delete;
  browser& operator=(const browser&) = delete;

  // Opens the page and waits until `ready`, an expression, is true there.
  void open(const std::filesystem::path& file, const std::string& ready);
  // The value of a JavaScript expression.
  nlohmann::json evaluate(const std::string& expression);
  void show_as_print();
  // Presses a key: "Tab", "Enter" …
  void press(const std::string& key);
  // Console messages, exceptions, and requests for anything but the file.
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  nlohmann::json call(const std::string& method, const nlohmann::json& parameters);
  nlohmann::json receive();
  void note(const nlohmann::json& event);

  int process_ = 0, to_ = -1, from_ = -1, last_ = 0;
  std::string session_, received_;
  std::vector<std::string> complaints_;
};

}  // namespace kzoo::test
