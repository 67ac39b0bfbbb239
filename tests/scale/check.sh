#!/usr/bin/env bash
# A long run, made up: SIDE x SIDE problems of 40 variants are stored, reported and resumed, each in
# LIMIT megabytes at most. Prints sizes, times and memory.
#
#   check.sh BIN WORK SIDE SAMPLES LIMIT
set -euo pipefail
bin=$1 work=$2 side=$3 samples=$4 limit=$5
[[ -x /usr/bin/time ]] || { echo "skipped: there is no /usr/bin/time"; exit 77; }
rm -rf "$work" && mkdir -p "$work" && cd "$work"

cat >e.toml <<TOML
plugins = ['coalesced', 'coarsened', 'double_buffer', 'float4', 'latency_hidden', 'naive',
           'outer_product', 'pipelined', 'register_gmem', 'register_tiles', 'reindexed', 'serial', 'smem',
           'warp_tiles']
baseline = 'serial:ikj'
[problem]
m = [{from = 1, to = $side, step = 1}]
n = [{from = 1, to = $side, step = 1}]
k = 16
[timing]
rounds = 1
min_samples = 1
TOML

# measure NAME COMMAND...: runs it, and fails if it takes more than the limit.
measure() {
  local name=$1 user system kilobytes
  shift
  /usr/bin/time -f '%U %S %M' -o used "$@" >"$name.out" 2>"$name.err" ||
    { echo "$name failed:"; cat "$name.err"; exit 1; }
  read -r user system kilobytes <used
  printf '%-8s %7s s of CPU %6d MB %12d bytes\n' "$name" \
    "$(awk "BEGIN {print $user + $system}")" $((kilobytes / 1024)) "$(stat -c %s "$name.out")"
  ((kilobytes / 1024 < limit)) || { echo "$name takes more than $limit MB"; exit 1; }
}

# A run that is stopped once its first problem is stored.
"$bin/runner" e.toml --device cpu --journal short.jsonl >run.out 2>&1 &
while kill -0 $! && (($(wc -l 2>/dev/null <short.jsonl || echo 0) < 41)); do sleep 0.2; done
if kill -TERM $!; then wait $! || true; fi

measure store "$bin/kzoo_made_journal" short.jsonl long.jsonl "$samples"
stat -c 'journal: %s bytes' long.jsonl
measure report "$bin/runner" report long.jsonl
measure markdown "$bin/runner" report --md long.jsonl
measure csv "$bin/runner" report --csv long.jsonl
measure json "$bin/runner" report --json long.jsonl
measure again "$bin/runner" report --csv json.out
cmp csv.out again.out
measure resume "$bin/runner" run --resume long.jsonl
(($(wc -l <long.jsonl) == 40 * side * side + 2)) # the head, and a line that says it was resumed
grep -q "^ok: $((40 * side * side)) pass" resume.out
