#pragma once
// Runs a program under Nsight Compute's command line tool, ncu.

#include "core/kernel_name.hpp"
#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "devices/devices.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kzoo::profile {

// Counters of kernel launches: as ncu prints them, and as JSON.

// A kernel launch of the cell.
struct launch {
  std::string kernel;  // as ncu writes it: with template arguments and parameters
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::map<std::string, double> metrics;  // by ncu's names; times in nanoseconds

  std::optional<double> value(const std::string& metric) const {
    const auto found = metrics.find(metric);
    return found == metrics.end() ? std::nullopt : std::optional(found->second);
  }
};

struct counters {
  std::vector<launch> launches;
  std::vector<std::string> missing;  // metrics unknown to this ncu, or absent on this GPU
  std::string report;                // the report file, if ncu says that it wrote one
  std::string printed;               // ncu's output, if it is no table of counters
};

struct profiled {
  kernel_id kernel;
  kzoo::problem problem;
  std::optional<counters> found;  // empty if profiling failed: see reason
  kzoo::verdict verdict = verdict::pass;
  std::string reason;
};

struct document {
  std::string experiment;  // its file
  results::device device;
  std::string ncu_version;
  std::vector<profiled> cells;
};

// Parses `ncu --csv --page raw`: other lines, column names, units, a row for each kernel launch.
// Nothing if the output has no such page. A value that is not a number ("n/a") is left out.
std::optional<std::vector<launch>> read_raw_page(const std::string& output);

// A profile as JSON, schema kzoo.profile/1: docs/formats.md describes every field.
std::string to_text(const document& d);
std::string schema();

}  // namespace kzoo::profile

namespace kzoo::profile::metric {

// The metrics that explain a GEMM kernel's speed. All exist on compute capability 8.0 to 9.0.
inline constexpr const char* kTime = "gpu__time_duration.sum";

// A request is one warp-level instruction, a sector a 32-byte unit that it accesses, a wavefront
// the part that the L1 processes in one pass.
inline constexpr const char* kLoadRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
inline constexpr const char* kLoadSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
inline constexpr const char* kLoadWavefronts =
    "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum";
inline constexpr const char* kStoreRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
inline constexpr const char* kStoreSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
// cp.async, from global to shared memory; included in the loads.
inline constexpr const char* kCopyRequests =
    "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum";
inline constexpr const char* kCopySectors =
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum";

inline constexpr const char* kSharedWavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
inline constexpr const char* kLoadConflicts =
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
inline constexpr const char* kStoreConflicts =
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum";

// In percent of the hardware's peak.
inline constexpr const char* kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";
inline constexpr const char* kFma = "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active";
inline constexpr const char* kTensor =
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
inline constexpr const char* kL1 = "l1tex__throughput.avg.pct_of_peak_sustained_active";
inline constexpr const char* kL2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr const char* kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";

// Number of fp32 FMAs, per thread.
inline constexpr const char* kFfma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

// Warp stall reasons: readable name and metric, in stalled warps per issued instruction.
const std::vector<std::pair<std::string, std::string>>& stalls();

// All metrics that a GPU of this compute capability (90 for 9.0) has.
std::vector<std::string> all(unsigned compute_capability);

}  // namespace kzoo::profile::metric

namespace kzoo::profile {

// ncu was not found, or cannot read counters. what() includes a remedy.
class no_counters : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct tool {
  std::string program, version;
  std::vector<std::string> arguments;  // given by the user, passed on unchanged
  double timeout_seconds = 600;        // for one cell, including all replay passes

  // Whether the user has given this option, as `--name value` or `--name=value`.
  bool has_option(const std::string& option) const;
};

// `asked` or, if absent, the first found in PATH, /usr/local/cuda and /opt/nvidia. Throws
// no_counters.
tool find_tool(const std::optional<std::string>& asked);

// Runs `target`, a command line from profiled_command(), confined under ncu. Omits metrics that
// ncu does not know. Throws no_counters, and failure when the target fails.
counters collect(const tool& ncu, std::vector<std::string> metrics,
                 const std::vector<std::string>& target);

// The process of a cell under a profiler: this executable, with a hidden first argument. The
// profiled range holds exactly one run, whose result is not judged.
inline constexpr std::string_view kProfiledCommand = "__profiled";

struct profiled_cell {
  std::string file, device;
  std::uint32_t variant = 0;  // in the plugin's table
  kzoo::problem problem;
  int warmup = 0;  // runs before the profiled run
};

// The command line that starts `program`, a runner, for the cell.
std::vector<std::string> profiled_command(const std::string& program, const profiled_cell& cell);

// The main function of the process. `cell`: its last argument.
int profiled_main(std::string_view cell);

}  // namespace kzoo::profile
