# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by ./zoo: the charting library that `report --html` puts into its pages.

user_charts=$user_folder/charts
pinned_charts=$root/scripts/charts.txt

setup_charts() {
  local package=$user_folder/charts-package from name
  if cmp -s "$pinned_charts" "$user_charts/pinned.txt"; then
    say "the charting library is in $user_charts"
    return
  fi
  install_wheels 'Vega-Lite (30 MB, of which 0.8 are kept)' "$package" "$pinned_charts"
  from=$package/panel/dist/bundled/vegaplot
  rm -rf "$user_charts"
  mkdir -p "$user_charts"
  for name in vega vega-lite vega-embed; do
    cp "$from/$name@"* "$user_charts/$name.js" || fail "$package holds no $name"
  done
  cp "$pinned_charts" "$user_charts/pinned.txt" # last: what is cut off here starts anew
  rm -rf "$package"
}

# The pages have charts if that can be had, and their tables in any case.
prepare_charts() {
  cmp -s "$pinned_charts" "$user_charts/pinned.txt" || [[ -n ${KZOO_CHARTS-} ]] ||
    (setup_charts) || say 'without it the page has no charts, only the tables'
}
