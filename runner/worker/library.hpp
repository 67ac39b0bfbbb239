#pragma once
// The shared libraries of this process: the plugin's, GEMM libraries, and code loaded before a
// plugin.

#include <kzoo/abi.h>

#include <boost/dll/shared_library.hpp>

#include <link.h>

#include <cstddef>
#include <deque>
#include <filesystem>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::worker {

// The library cannot be used as a plugin. what() says why, and what to do about it.
class unusable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The library of one plugin. Only used in a worker, or with --in-process.
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

// Paths as in the loader, without the program itself.
std::set<std::string> loaded_libraries();

// GEMM libraries among them, named after their files: "cublas" for libcublasLt.so.13.
std::set<std::string> product_libraries();

// Code loaded before a plugin: the runner's, and libraries that time, copy and allocate. It
// compares code with its files, and read-only tables of addresses (RELRO) with a copy.
class loaded_code {
 public:
  loaded_code();

  // The library whose code has changed; "": none. Takes less than a millisecond.
  std::string changed() const;

 private:
  struct part {
    std::string library;
    std::span<const std::byte> loaded, original;
  };

  void add(const std::string& file, const dl_phdr_info& library);

  std::vector<part> parts_;
  std::deque<std::vector<std::byte>> copies_;
};

}  // namespace kzoo::worker
