#pragma once
// A plugin from a single source file, compiled as kzoo_add_plugin would.

#include "compile/cache.hpp"
#include "manifest/variants.hpp"
#include "results/plugin.hpp"
#include "source/annotations.hpp"
#include "source/description.hpp"

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::compile {

// Thrown where a source does not compile. what() is the compiler's output, and then what it means.
class does_not_compile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A bare kernel's source is compiled as it stands, and if it does not compile, what its kernels
// need of it is, then of its headers in quotes as well, without headers that are not found.
struct source_cut {
  bool is_cut = false, cuts_headers = false;
  std::vector<std::string> missing{};  // headers
  std::string output{};                // the compiler's about them
};

struct compiled {
  std::filesystem::path library;
  bool is_new = false;    // not from the cache
  std::string output;     // the compiler's warnings, if it is new, and which headers are missing
  bool host_code = true;  // of the source's: all but bare kernels for a GPU
  source_cut cut{};
};

// Build settings of a command line.
struct build_request {
  std::vector<std::string> options;        // of the compiler, after those of recipe and source
  std::vector<std::string> architectures;  // instead of those of recipe and source; empty: those
  // No compiler is started later, by steady_seconds(): what is in no cache throws not_begun.
  std::optional<double> deadline{};
  source_cut cut{};  // what is known of the source to be tried first
};
class not_begun {};

// The compiled text of a source at a point of its tuning space: the source itself, or a plugin's
// text that launches the kernel in it.
struct source_unit {
  source::build_settings settings;
  std::string preamble;                   // before the source, where the values are macros
  std::string generated;                  // "": the source itself
  manifest::described_kernels kernels{};  // of a plugin's text that is generated
  bool has_function = false;              // of the source's, which launches them
};
source_unit unit_of(const source::description& d, const std::filesystem::path& source,
                    const results::tuning_point& point);

// `point`: the values of its parameters, which are macros for a plugin (BM is 64), and which a
// kernel that is none gets by the description of its launch. Throws does_not_compile,
// input::invalid for what the source says in its `// kzoo:` lines, and interrupt::interrupted.
compiled source_plugin(const std::filesystem::path& source, const recipe& toolchain,
                       const build_request& asked, const cache& kept,
                       const results::tuning_point& point = {});

// A plugin of this name from a text that needs no simulator.
std::filesystem::path generated_plugin(const std::string& name, const std::string& text,
                                       const recipe& toolchain, const cache& kept);

}  // namespace kzoo::compile
