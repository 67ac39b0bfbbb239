#pragma once
// The buffer into which a plugin writes why it declines or fails.

#include <kzoo/abi.h>

#include <array>
#include <cstring>
#include <string>

namespace kzoo::library {

class reason {
 public:
  kzoo_text* text() { return &text_; }
  // "" where the plugin has given none.
  std::string words() const { return {words_.data(), strnlen(words_.data(), words_.size())}; }

 private:
  std::array<char, 1024> words_{};
  kzoo_text text_{words_.data(), words_.size()};
};

}  // namespace kzoo::library
