#pragma once
// A tuned table: the fastest kernel for each of some problems, as measured on one kind of device.
// `runner tune --json` writes it (docs/formats.md). It may have more keys than these:
//
//   { "schema": "kzoo.tuned/1",
//     "device": { "id": "cuda:0", "name": "NVIDIA H200" }, "compute_capability": "9.0",
//     "plugins": [ { "name": "pipelined", "file": "/…/plugins/cuda/pipelined.so" } ],
//     "problems": [
//       { "problem": { "m": 4096, "n": 4096, "k": 4096, "dtype": "f32", "layout": "nn",
//                      "batch": 1 },
//         "ranked": [ { "plugin": "pipelined", "variant": "128x256x16_s5" } ] } ] }
//
// C is row-major. The shown dtype, layout and batch are defaults; the cpu needs no name and no
// compute_capability. Only the first of `ranked` counts; a problem without any is ignored.
// `plugins` is optional and only for messages: a table is data, so no file that it names is loaded.

#include "choice.hpp"

#include <kzoo/abi.h>
#include <kzoo/caller.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kzoo::library {

struct tuned_problem : problem_sizes {
  std::string dtype, layout;
};

struct tuned_entry {
  tuned_problem problem;
  std::string plugin, variant;
};

struct tuned_table {
  std::filesystem::path file;
  std::vector<tuned_entry> entries;
  std::map<std::string, std::string> plugin_files;  // by the plugin's name
};

// Throws kzoo::error unless it is a table for this device.
tuned_table read_tuned_table(const std::filesystem::path& file, const kzoo_device& d,
                             const std::string& device_name);

// Chooses the kernel of the nearest tuned problem that supports the call, among problems with the
// same types and layout; the distance is between logarithms of sizes. Then asks another chooser.
class tuned_choice : public chooser {
 public:
  // Throws kzoo::error for a table that names an unknown kernel.
  tuned_choice(const tuned_table& table, const kernel_names& names, const allowance& allowed,
               std::unique_ptr<chooser> otherwise);
  kernel choose(const kzoo_problem& p, const kzoo_device& d) const override;

 private:
  struct entry {
    tuned_problem problem;
    candidate best;
  };
  std::vector<entry> entries_;
  allowance allowed_;
  std::unique_ptr<chooser> otherwise_;
};

}  // namespace kzoo::library
