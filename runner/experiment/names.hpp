#pragma once
// The syntax of strings: selectors, devices, shapes, tiers. A k...Form constant completes "expected
// ..., found ..."; the reader of the file or flag adds the place.

#include "core/verdict.hpp"
#include "experiment/reader.hpp"

#include <kzoo/layout.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::experiment {

using extents = std::array<std::int64_t, 3>;  // m, n, k

// "512" (a cube) or "512x256x128", each dimension from 1 to kLargestDimension.
std::optional<extents> parse_shape(std::string_view text);
std::string shape_text(const extents& s);  // "512x256x128"
inline constexpr std::string_view kShapeForm =
    "a size such as \"512\" or \"512x256x128\", each dimension from 1 to 1048576";

inline constexpr std::string_view kSelectorForm =
    "a plugin such as \"smem\", a variant such as \"smem:32x32\", a pattern of either with * and "
    "?, or a file such as \"./mine.cu\"";

bool is_device_name(std::string_view text);
std::string device_fault(std::string_view text);  // the message for an invalid name
inline constexpr std::string_view kDeviceForm =
    "\"auto\", \"cpu\", \"cuda\", \"cuda:all\" or \"cuda:N\" with N a device number from 0";

inline constexpr std::string_view kPrecisionForm =
    "a precision such as \"tf32\", \"bf16\", \"fp16\", \"fp16 sums\" or \"fp8\"";

std::optional<layout> find_layout(std::string_view name);
inline constexpr std::string_view kLayoutForm = "\"nn\", \"nt\", \"tn\" or \"tt\"";

// The number of GEMMs in a batch.
std::optional<std::int64_t> parse_batch(std::string_view text);
std::optional<std::int64_t> parse_groups(std::string_view text);
inline constexpr std::string_view kGroupsForm = "a number of groups from 1 to 4096";
inline constexpr std::string_view kBatchForm = "a number of products from 1 to 65536";

// Numbers of problems: "3", or "12-15", the last included.
struct number_range {
  std::int64_t first = 0, last = 0;
};
std::optional<number_range> parse_numbers(std::string_view text);
inline constexpr std::string_view kNumbersForm =
    "a number from 0 such as 3, or a range of them such as 12-15";

std::string tier_fault(std::string_view text);  // the message for an invalid name

// Throws input::invalid with `where` unless it is "auto", "cpu", "cuda" or "cuda:N".
void check_device_name(const std::string& name, const std::string& where);
// "quick", "full", "paranoid"; throws input::invalid with `where` otherwise.
tier parse_tier(const std::string& name, const std::string& where);

// The limit of problems in a file, and of sizes in a range.
inline constexpr std::size_t kMostProblems = 10000;

// A value of m, n or k: an integer, or a range table.
std::optional<std::vector<std::int64_t>> dimensions(const value& v);

// A value of `sizes`: an integer (a cube), "MxNxK", [m, n, k], or a range table of cubes.
std::optional<std::vector<extents>> shapes(const value& v);

}  // namespace kzoo::experiment
