#pragma once
// Compiled plugins, kept by what they were made of, under $XDG_CACHE_HOME/kernel-zoo/plugins:
//
//   KEY.includes     the files that the compiler read for a KEY, which is the hash of the
//                    command, the compiler and the source
//   HASH/NAME.so     HASH covers the KEY and the content of all those files
//   HASH/sha256      of NAME.so: a damaged entry, as a full disk leaves it, is made again
//
// An entry is written beside them and renamed, and never changed: runners at the same time use one
// another's or make the same. What was not used for a month is removed, and while all together is
// larger than KZOO_CACHE_GB says, what was used longest ago; but nothing that a running process
// uses, which holds a lock on it.

#include "input/diagnostics.hpp"
#include "os/files.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::compile {

// A name for a folder, such as {"{source}", "/home/me"}: an entry also serves equal files in other
// folders.
struct place {
  std::string name;
  std::filesystem::path folder;
};
using places = std::vector<place>;
// The text with names in place of folders, at the beginning of its only path or of paths in quotes.
std::string with_names(std::string text, const places& known);

// This machine cannot compile; the source is not to blame.
class cannot_compile : public input::invalid {
 public:
  explicit cannot_compile(const input::invalid& why) : invalid(why) {}
};

class cache {
 public:
  // Bytes of an entry: far more than kernels take. Larger entries are not kept.
  static constexpr std::uint64_t kLargest = std::uint64_t{256} << 20;

  // Throws cannot_compile where the folder cannot be made, is not the user's own, or can be written
  // by others, who could run code as this user; or where KZOO_CACHE_GB is no number.
  cache();

  // The library `file` of an entry that is up to date.
  std::optional<std::filesystem::path> find(const std::string& key, const std::string& file,
                                            const places& known) const;

  // A new folder in which an entry is made.
  temporary_folder new_folder() const;
  // The folder's bytes on the disk.
  static std::uint64_t size_of(const std::filesystem::path& folder);
  // Protects a folder of the cache from eviction by other processes until this process ends.
  // Returns false if the folder is gone, or is being evicted.
  static bool keep_in_use(const std::filesystem::path& folder);

  // Makes an entry of `file`, which was compiled in the folder `begun` from these files. Returns
  // the library's path.
  std::filesystem::path store(const std::filesystem::path& begun, const std::string& key,
                              const std::string& file, std::vector<std::string> includes,
                              const places& known) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path entry(const std::string& key, const std::vector<std::string>& includes,
                              const places& known) const;
  // Removes entries that nobody has used for a month, and the longest unused above the limit.
  void evict() const;

  std::filesystem::path folder_;
  std::uint64_t most_;  // bytes of all entries
};

// A folder of the cache for what CUDA compiles from PTX in processes that load this library. Each
// content of a library has its own, since whoever can write there can replace kernels. nullopt
// where there is no GPU, or the folder cannot be made.
std::optional<std::filesystem::path> device_code_folder(const std::filesystem::path& library);

// kzoo_add_plugin's commands and options for a device, as CMake recorded them
// (cmake/kernel-zoo-recipes.cmake).

struct recipe {
  std::string device;                      // cpu, cuda, cpu-xray
  std::string compiler, version;           // its path; its name and version
  std::string build_info;                  // with {architectures} in it, for cuda
  std::string include;                     // the folder of the SDK's headers
  std::string simulated_include;           // the folder that stands for CUDA's in the simulator
  std::string package;                     // the folder of the SDK's CMake package
  std::vector<std::string> architectures;  // as CMAKE_CUDA_ARCHITECTURES
  std::vector<std::string> options;        // compiler options
  std::vector<std::string> definitions;    // NAME=VALUE
  std::vector<std::string> link_options;   // linker options, by way of the compiler
  std::vector<std::string> libraries;
  // Launches kernels compiled to device code alone; empty: bare kernels become plugins with host
  // code. Not in the file.
  std::filesystem::path launcher{};
};

// `folder` has a file DEVICE.toml for each device. Throws cannot_compile, with what to do, where
// there is none, and where what it names is not here.
recipe read_recipe(const std::filesystem::path& folder, const std::string& device);

}  // namespace kzoo::compile
