#pragma once
// Plugins as they describe themselves, and as an experiment finds them.

#include <kzoo/abi.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::results {

struct signature_description {
  kzoo_type dtype{};  // 0 when A, B and C differ
  kzoo_precision compute{};
};

struct variant_description {
  std::string id, summary;
  std::uint32_t compute_capability = 0;
  bool nondeterministic = false;
  std::vector<signature_description> signatures;

  // What it promises for the element type; 0 where it does not have it.
  kzoo_precision declared(kzoo_type dtype) const {
    for (const signature_description& s : signatures)
      if (s.dtype == dtype) return s.compute;
    return 0;
  }
};

// A plugin's descriptor.
struct plugin_description {
  std::string id, summary, build_info;
  kzoo_device_kind device{};
  bool native = false;
  std::vector<variant_description> variants;
};

// A plugin that the experiment names.
struct plugin_record {
  std::string name;                               // its file's name: what users type
  std::filesystem::path file;                     // empty when there is no build for the device
  std::optional<plugin_description> description;  // of a library that could be loaded
  std::string problem;                            // why it could not; "" otherwise
  std::string sha256;                             // of the file; "" when there is none

  // A library is there and cannot be used: somebody's mistake, unlike a build for another device.
  bool broken() const { return !file.empty() && !description; }
};

}  // namespace kzoo::results
