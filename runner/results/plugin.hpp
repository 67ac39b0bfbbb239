#pragma once
// Plugins: their descriptors, the plugins that an experiment found, and the parameters that a
// kernel is tuned by.

#include "core/location.hpp"
#include "core/problem.hpp"

#include <kzoo/abi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::results {

struct tuned_parameter {
  std::string name;
  std::vector<std::int64_t> values;
  location where;
};

// The values of all parameters to try, and the restrictions on them.
struct tuning_space {
  struct restriction {
    std::string text;  // an expression of the parameters that must not be 0
    location where;
  };
  std::vector<tuned_parameter> parameters;
  std::vector<restriction> restrictions;
  location where;
};

struct parameter_value {
  std::string name;
  std::int64_t value = 0;

  bool operator==(const parameter_value&) const = default;
};

// A value for each parameter.
using tuning_point = std::vector<parameter_value>;

// "BM64_BN128", which names the variant.
std::string point_name(const tuning_point& point);

// Whether the variant belongs to a configuration: its id is the name, or, if a build has several
// variants, the variant's own id and the name, "rows_BM64_BN128".
bool is_variant_of(std::string_view variant, std::string_view point);

struct signature_description {
  element_types dtype;
  kzoo_precision compute{};
};

struct variant_description {
  std::string id, summary;
  std::uint32_t compute_capability = 0;
  bool nondeterministic = false;
  size_granularity granularity;
  std::vector<signature_description> signatures;

  // The precision that it declares for element types; 0: it does not support them.
  kzoo_precision declared(const element_types& dtype) const {
    for (const signature_description& s : signatures)
      if (s.dtype == dtype) return s.compute;
    return 0;
  }
};

// The contents of a plugin's descriptor.
struct plugin_description {
  std::string id, summary, build_info;
  kzoo_device_kind device{};
  bool native = false;
  std::vector<variant_description> variants;
  std::vector<std::string> libraries;  // the files that were loaded with it

  // Whether its kernels run in the simulator.
  bool simulated() const { return device == KZOO_CPU && !native; }
};

// A configuration of a tuned source, and its build.
struct built_point {
  std::string name;
  tuning_point values;
  std::string why_not;                 // why it does not compile; empty if it does
  std::vector<std::string> options{};  // the compiler options for the values
};

// The builds of a tuned source.
struct tuned_builds {
  std::vector<built_point> points;  // empty: it is not tuned
  std::size_t from_cache = 0;       // configurations that had been compiled before
  double seconds = 0;
  std::size_t left_out = 0;   // configurations not compiled when the time for compiling was over
  std::size_t not_drawn = 0;  // configurations of the space that the sample lacks

  // The configuration of a variant, or null.
  const built_point* point_of(std::string_view variant) const;
};

// A plugin that the experiment selects.
struct plugin_record {
  std::string name;                               // its file's: what users type
  std::filesystem::path file;                     // empty: there is no build for the device
  std::optional<plugin_description> description;  // present if the library could be loaded
  std::string problem;                            // why it could not be loaded; else empty
  std::string sha256;                             // the file's; empty: there is none
  std::filesystem::path source{};                 // its source file; empty: a library
  std::string source_sha256{};                    // empty: no source, or a folder
  tuned_builds tuned{};
  // Whether the author's host code runs in the process that times it. Otherwise: device code only.
  bool host_code = true;
  std::vector<std::string> missing{};  // headers that the source includes, and was compiled without

  // The library exists but cannot be used, which is an error; a missing build is not.
  bool broken() const { return !file.empty() && !description; }
};

// Whether the plugin is not the program's own, from …/plugins/cuda or …/plugins/cpu: it was
// compiled from a named source or comes from another folder, such as `folders` of --plugin-dir.
bool is_authors(const plugin_record& r, const std::vector<std::string>& folders);

// A device, as the driver or the operating system describes it, its conditions, and launches on it.

struct device {
  std::string id;    // "cpu", "cuda:0"
  std::string name;  // "NVIDIA H200"; the processor's own name for cpu
  kzoo_device abi{};
  std::string pci_bus_id;  // "0000:18:00.0"; empty for cpu
  std::uint64_t memory_bytes = 0;
  double highest_mhz = 0;                    // maximum SM clock of a GPU; 0: unknown
  std::map<std::string, std::string> facts;  // driver, runtime, clocks …

  // A value of `facts`. Empty if it is unknown.
  std::string fact(const std::string& key) const {
    const auto found = facts.find(key);
    return found == facts.end() ? "" : found->second;
  }
};

// The operating conditions of a GPU, as its driver reports them. Absent: it does not report it.
struct conditions {
  std::optional<double> sm_mhz, memory_mhz, celsius, watts, power_limit_watts;
  // Why the clocks are below the maximum: nvidia-smi's names of its clocks_event_reasons.
  std::set<std::string> clock_reasons;

  bool any() const;
  // The hardware lowers the clocks, or the driver does because of the temperature.
  bool slowed_down() const;
  // The power limit lowers the clocks, which is normal for large problems.
  bool power_capped() const;
  // Merges a later reading: its clocks and power limit, the higher temperature and power, all
  // reasons.
  void add(const conditions& later);

  bool operator==(const conditions&) const = default;
};

// "1980 MHz, 34 °C, 75 of 700 W, gpu_idle"
std::string to_string(const conditions& c);

// A kernel launch: kzoo_launch, in the same units.
struct launch {
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t dynamic_shared = 0, static_shared = 0, local_bytes = 0;
  std::uint32_t registers = 0, resident_warps = 0, most_warps = 0;
  std::string kernel{};  // its symbol; empty: unknown. Not stored

  double occupancy() const { return double(resident_warps) / double(most_warps); }
};

// The launch with the lowest occupancy: the GEMM's, where others convert operands or add sums. Null
// if no occupancy is known (libraries, the cpu device).
inline const launch* main_launch(const std::vector<launch>& all) {
  const launch* lowest = nullptr;
  for (const launch& one : all) {
    if (one.most_warps == 0) continue;
    if (lowest == nullptr || one.occupancy() < lowest->occupancy()) lowest = &one;
  }
  return lowest;
}

}  // namespace kzoo::results
