# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by ./zoo: what the build needs from the distribution, and CMake where that is old.

# The packages by name; nothing for a distribution that this script does not know, where CMake names
# what it cannot find. CUDA is optional and comes from elsewhere: scripts/cuda.sh.
distribution_packages() {
  local distribution
  distribution=$(. /etc/os-release 2>/dev/null && echo "${ID-} ${VERSION_ID-}") || return 0
  local common=(ninja-build ccache libfmt-dev nlohmann-json3-dev libcli11-dev libopenblas-dev libssl-dev
                catch2 make python3-jsonschema) # make: for what `export` writes; the last for tests
  local new_enough=(g++ cmake libtomlplusplus-dev "${common[@]}")
  case $distribution in
    'debian 12') echo libboost1.81-dev libboost-context1.81-dev "${new_enough[@]}" ;;
    'debian 13' | 'ubuntu 24.04')
      echo libboost1.83-dev libboost-context1.83-dev "${new_enough[@]}" ;;
    'ubuntu 22.04') # g++ 11, CMake 3.22 and toml++ there are too old
      echo libboost1.74-dev libboost-context1.74-dev g++-12 "${common[@]}" ;;
  esac
}

install_distribution_packages() {
  local packages
  read -ra packages <<<"$(distribution_packages)"
  install_packages "${packages[@]}"
}

# Prints those of the packages that are not installed.
missing_packages() {
  local package
  for package; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

# Installs what is missing of the packages. Without the right to do so it sets `advice` to what to
# ask for: the libraries may still be found elsewhere, in CMAKE_PREFIX_PATH for one.
advice='' ask_for=()
install_packages() {
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null || ! sudo -v 2>/dev/null; then
      ask_for+=("${missing[@]}")
      advice="neither root nor sudo: ask an administrator for: apt-get install ${ask_for[*]}"
      return 0
    fi
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  if ! { "${as_root[@]}" apt-get update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    fail "apt-get could not install ${missing[*]}; the whole output is in $log"
  fi
}

# What `python3 -m kzoo serve` or `mcp` imports, which finds it there.
setup_module() {
  local command=$1 what=$2 pinned=$root/scripts/$1.txt
  cmp -s "$pinned" "$user_folder/$command/pinned.txt" ||
    install_wheels "$what" "$user_folder/$command" "$pinned"
}

# Fetches wheels from PyPI, pinned by a file of hashes, and unpacks them into a folder of the user's.
install_wheels() {
  local what=$1 folder=$2 pinned=$3 scratch=$2.partial pip=()
  rm -rf "$scratch"
  trap 'rm -rf "$scratch"' EXIT
  find_pip "$scratch/venv"
  say "fetching $what into $folder"
  "${pip[@]}" install --disable-pip-version-check --no-deps --no-compile --only-binary :all: \
    --require-hashes --target "$scratch/files" -r "$pinned" >"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    fail "pip could not fetch what $pinned lists; the whole output is in $log"
  }
  cp "$pinned" "$scratch/files/pinned.txt"
  rm -rf "$folder"
  mv "$scratch/files" "$folder"
  rm -rf "$scratch"
  trap - EXIT
}

# Sets `pip` to how it is called. Debian keeps it apart from Python, but makes virtual environments
# with one inside.
find_pip() {
  local attempt
  for attempt in first second; do
    pip=(python3 -m pip)
    ! "${pip[@]}" --version >/dev/null 2>&1 || return 0
    pip=("$1/bin/python" -m pip)
    ! python3 -m venv "$1" >"$log" 2>&1 || return 0
    [[ $attempt == first && -n $(distribution_packages) ]] || break
    install_packages ca-certificates python3-venv
  done
  fail "${advice:-python3 with pip or venv is needed to fetch from PyPI}"
}

# CMake 3.25 or later and Ninja on PATH, from PyPI where they are missing or old.
find_build_tools() {
  local tools=$user_folder/build-tools pinned=$root/scripts/build-tools.txt version
  version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p') || true
  ! at_least 3.25 "$version" || ! command -v ninja >/dev/null || return 0
  cmp -s "$pinned" "$tools/pinned.txt" ||
    install_wheels "CMake (3.25 is needed, ${version:-none} is here) and Ninja" "$tools" "$pinned"
  PATH=$tools/cmake/data/bin:$tools/bin:$PATH
}

# A ccache that cannot write its files ends the build, so it is not used then.
check_ccache() {
  local folder
  folder=$(ccache --get-config cache_dir 2>/dev/null) || return 0
  { mkdir -p "$folder" && [[ -w $folder ]]; } 2>/dev/null || export CCACHE_DISABLE=1
}

# A g++ that has C++20, where the default one is too old and neither CXX nor CMAKE_CXX_COMPILER
# says which to use.
find_compiler() {
  [[ -z ${CXX-} ]] || return 0
  local version
  at_least 12 "$(g++ -dumpfullversion 2>/dev/null)" && return
  for version in 15 14 13 12; do
    command -v "g++-$version" >/dev/null || continue
    export CXX=g++-$version CUDAHOSTCXX=g++-$version
    return
  done
}

# Whether the second version is there and not older than the first.
at_least() {
  [[ -n $2 && $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]
}
