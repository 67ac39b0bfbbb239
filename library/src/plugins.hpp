#pragma once
// Plugins by name, from folders and files. Each is loaded once in a process and never unloaded: its
// code may have left threads, handlers and pointers into it.

#include <kzoo/abi.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::library {

// The nonempty parts of a text between separators.
std::vector<std::string> split(std::string_view text, char separator);

struct plugin {
  std::string name;  // of its file
  const kzoo_plugin* descriptor = nullptr;
  std::mutex serial;  // held during calls that abi.h tags [serial]

  const kzoo_variant& variant(std::uint32_t index) const;
};

// A variant of a plugin; null: of a plugin that the caller declines to call.
struct kernel {
  plugin* of = nullptr;
  const kzoo_variant* variant = nullptr;

  std::string name() const { return of->name + ":" + variant->id; }
};

class plugin_finder {
 public:
  // Folders and .so files, separated by colons; "": the default of kzoo_options.
  plugin_finder(std::string_view places, kzoo_device_kind kind);

  // nullptr if no plugin has this name. Throws kzoo::error for an unusable plugin.
  plugin* find(const std::string& name) const;
  // The searched places, for messages.
  std::string places() const;

 private:
  std::vector<std::filesystem::path> files(const std::string& name) const;

  kzoo_device_kind kind_;
  std::vector<std::filesystem::path> places_;
};

}  // namespace kzoo::library
