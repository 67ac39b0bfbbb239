# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by ./zoo: the charting library of `report --html` and `report --svg`.

user_charts=$user_folder/charts
pinned_charts=$root/scripts/charts.txt

# The script that pages contain, from the package of the first argument, which has no licences in it.
bundle_for_pages='import sys
sys.path.insert(0, sys.argv[1])
import vl_convert
print(vl_convert.javascript_bundle(vl_version="6.4"))'

setup_charts() {
  local package=$user_folder/charts-package
  if cmp -s "$pinned_charts" "$user_charts/pinned.txt"; then
    say "the charting library is in $user_charts"
    return
  fi
  install_wheels 'Vega-Lite (34 MB)' "$package" "$pinned_charts"
  {
    printf '/*\n%s\n*/\n' "$(<"$root/scripts/charts-licences.txt")"
    python3 -c "$bundle_for_pages" "$package"
  } >"$package/charts.js" 2>"$log" || {
    tail -n 5 "$log" >&2
    fail "python3 cannot use $package"
  }
  rm -rf "$user_charts"
  mv "$package" "$user_charts" # last: what is cut off before starts anew
}

# A page has charts if that can be had, and its tables in any case.
prepare_charts() {
  cmp -s "$pinned_charts" "$user_charts/pinned.txt" || [[ -n ${KZOO_CHARTS-} ]] ||
    (setup_charts) || say 'without it there are no charts; a page has its tables'
}
