# shellcheck shell=bash
# Sourced by ./zoo: how far a build is.

# Copies what ninja prints into a file and says on stderr how far it is: on a terminal one line that
# is rewritten, elsewhere a line every half minute.
progress() {
  local log=$1 line='' part='' done_so_far='' start=$SECONDS now drawn=0 next=30
  local terminal=''
  [[ -t 2 && ${TERM:-dumb} != dumb ]] && terminal=yes
  trap '' INT # ninja ends first, then this does
  : >"$log"
  while true; do
    if IFS= read -r -t 1 part; then
      line+=$part
      printf '%s\n' "$line" >>"$log"
      # 0 of 2: not a build yet, CMake looks for new files.
      [[ $line =~ ^\[([1-9][0-9]*)/([0-9]+)\]\  ]] &&
        done_so_far="building ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
      line=''
    elif (($? > 128)); then
      line+=$part # a second has passed; this is half a line, or nothing
    else
      break
    fi
    now=$((SECONDS - start))
    [[ -n $done_so_far ]] || continue
    if [[ -n $terminal ]]; then
      ((now == drawn)) || rewrite_line "zoo: $done_so_far, $(minutes "$now")"
      drawn=$now
    elif ((now >= next)); then
      echo "zoo: $done_so_far, $(minutes "$now")" >&2
      next=$((now + 30))
    fi
  done
  [[ -z $terminal ]] || rewrite_line ''
  now=$((SECONDS - start))
  [[ -z $done_so_far ]] || ((now < 10)) || echo "zoo: $done_so_far, $(minutes "$now")" >&2
}

minutes() {
  printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# Never longer than the terminal is wide: a line that wraps cannot be rewritten.
rewrite_line() {
  local width
  width=$(stty size <&2 2>/dev/null) && width=${width#* } || width=0
  ((width > 1)) || width=80
  printf '\r%s\e[K' "${1:0:width-1}" >&2
}
