#pragma once
// The loaded shared library of one plugin. Only used in a worker, or with --in-process.

#include <kzoo/abi.h>

#include <boost/dll/shared_library.hpp>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace kzoo::worker {

// The library cannot be used as a plugin. what() says why, and what to do about it.
class unusable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class library {
 public:
  // Loads the file and checks the descriptor. Throws unusable.
  explicit library(const std::filesystem::path& file);
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  const kzoo_plugin& plugin() const { return *plugin_; }
  const kzoo_variant& variant(std::uint32_t index) const;

 private:
  // Never unloaded: code that has run may have left threads, handlers and pointers into it.
  boost::dll::shared_library& handle_;
  const kzoo_plugin* plugin_ = nullptr;
};

}  // namespace kzoo::worker
