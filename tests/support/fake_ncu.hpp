#pragma once
// A fake ncu: a script that prints what Nsight Compute does.

#include "support/program.hpp"

#include <filesystem>
#include <string>

namespace kzoo::test {

// Two kernels of a cell, as `ncu --csv --page raw` prints them.
inline const std::string kRawPage =
    R"page("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"
"","","","","","","","","","","","%","ns","request","sector","inst","inst"
"0","4242","runner","127.0.0.1","void tile<(int)8, float>(gemm<T2>, int)","1","7","(8, 16, 1)","(4, 2, 1)","0","9.0","12.34","1,500,000","2,048","5,120","0.50","12.25"
"1","4242","runner","127.0.0.1","reduce(float *)","1","7","(256, 1, 1)","(16, 1, 1)","0","9.0","n/a","2,500","0","0","0","1.5"
)page";

// `body`: shell code that gets ncu's arguments; run_target runs the program that they name.
inline std::string fake_ncu(const scratch_folder& folder, const std::string& body) {
  const std::string file = folder.write("ncu", R"sh(#!/bin/sh
if [ "$1" = --version ]; then
  printf 'NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 1)\n'
  exit 0
fi
printf '%s\n' "$@" >>"$(dirname "$0")/arguments"
run_target() (
  while [ "$2" != __profiled ]; do shift; done
  echo "==PROF== Connected to process 4242 ($1)"
  "$@" || echo "==ERROR== The application returned an error code ($?)."
  echo "==PROF== Disconnected from process 4242"
)
raw_page() { cat "$(dirname "$0")/page"; }
)sh" + body);
  folder.write("page", kRawPage);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

}  // namespace kzoo::test
