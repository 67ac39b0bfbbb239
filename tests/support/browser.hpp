#pragma once
// A headless browser that opens a page from a file, driven through its DevTools pipe.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kzoo::test {

class browser {
 public:
  // Whether there is one: chromium-headless-shell or chromium.
  static bool exists();

  // Starts it with a window of so many pixels.
  explicit browser(int width);
  ~browser();
  browser(const browser&) = delete;
  browser& operator=(const browser&) = delete;

  // Opens the page and waits until `ready`, an expression, is true there.
  void open(const std::filesystem::path& file, const std::string& ready);
  // The value of a JavaScript expression.
  nlohmann::json evaluate(const std::string& expression);
  // Lays the page out as for paper.
  void show_as_print();
  // Presses a key: "Tab", "Enter" …
  void press(const std::string& key);
  // Everything that it complained about: messages on the console, exceptions, requests for anything
  // but the file.
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
