# shellcheck shell=bash disable=SC2154
# Sourced by ./zoo: the site of the documents and the references.

user_site=$user_folder/site

setup_site() {
  local pinned=$root/scripts/site/packages.txt
  command -v doxygen >/dev/null || install_packages doxygen
  [[ -z $advice ]] || fail "$advice"
  cmp -s "$pinned" "$user_site/pinned.txt" ||
    install_wheels 'mkdocs-material (15 MB)' "$user_site" "$pinned"
}

make_site() {
  setup_site
  KZOO_SITE=$user_site exec "$root/scripts/site/build.sh" "$root/build/site"
}
