#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy on what a CMake target would compile, or on files, two
# at a time; a finding is a failure.
# usage: clang_tidy.sh SOURCE_FOLDER BUILD_FOLDER TARGET    exit code 77: no clang-tidy is installed
#        clang_tidy.sh SOURCE_FOLDER BUILD_FOLDER -- FILE…
set -euo pipefail

# Version 18 is the first that takes this C++20, and libstdc++'s.
least=18
find_tool() {
  local tool
  for tool in "${CLANG_TIDY-}" clang-tidy clang-tidy-{22..18}; do
    command -v "$tool" >/dev/null || continue
    (($("$tool" --version | sed -n 's/.*LLVM version \([0-9]*\).*/\1/p') < least)) || {
      echo "$tool"
      return
    }
  done
}

tool=$(find_tool)
if [[ -z $tool ]]; then
  echo "skipped: clang-tidy $least or later is not installed; CLANG_TIDY can name one"
  exit 77
fi
source=$(realpath "$1") build=$2 target=$3
[[ -f $build/compile_commands.json ]] || {
  echo "$build is not configured: ./zoo build, or cmake --preset ${build##*/}"
  exit 1
}
if [[ $target == -- ]]; then
  files=("${@:4}")
else
  mapfile -t files < <(sed -n "/\"command\": .*\/$target\.dir\//{N; s|.*\n *\"file\": \"\(.*\)\",*$|\1|p}" \
    "$build/compile_commands.json")
fi
((${#files[@]})) || {
  echo "$build/compile_commands.json has no file of $target"
  exit 1
}
"$tool" --version | sed -n 's/.*LLVM version/clang-tidy/p'
printf '%s\0' "${files[@]}" |
  xargs -0 -P 2 -n 1 "$tool" -p "$build" --quiet \
    --extra-arg=-Wno-error --header-filter="^$source/(runner|sdk)/"
