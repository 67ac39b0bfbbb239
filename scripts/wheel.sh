# shellcheck shell=bash disable=SC2154
# Sourced by ./zoo: the wheel that pyproject.toml describes, and that of python/cuda, built and tried.

pinned_wheel_tools=$root/scripts/wheel-tools.txt

# The second argument: nothing, or the nvcc to build the wheel for GPUs with.
make_wheels() {
  local out=$1 nvcc=$2 tools=$user_folder/wheel-tools work pip=() wheel
  cmp -s "$pinned_wheel_tools" "$tools/pinned.txt" ||
    install_wheels auditwheel "$tools" "$pinned_wheel_tools"
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # it is gone when the trap is called
  trap "rm -rf '$work'" EXIT
  find_pip "$work/venv"
  pip+=(--disable-pip-version-check)
  say 'building the wheel, which takes minutes the first time'
  build_wheel "$root"
  try_wheel "$wheel" "$work/a b é"
  if [[ -n $nvcc ]]; then
    say 'building the wheel for GPUs'
    CUDACXX=$nvcc build_wheel "$root/python/cuda"
    try_cuda_wheel "$wheel" "$work/a b é"
  fi
  mkdir -p "$out"
  for wheel in "$work"/named/*/*; do
    cp "$wheel" "$out/"
    say "$out/${wheel##*/}, $(($(stat -c %s "$wheel") / 1000000)) MB; pip install takes it"
  done
}

# Sets `wheel`.
build_wheel() {
  local project=$1 named=$work/named/${1##*/}
  rm -rf "$work/built"
  # By the name that CMake takes in the tree: ccache tells compilers apart by their names.
  quietly 'building the wheel' env CXX="${CXX:-c++}" "${pip[@]}" wheel --no-deps --wheel-dir "$work/built" "$project"
  # It names the oldest system in the file's name, and adds libraries that others lack: here it must
  # find none. CUDA's are in NVIDIA's wheels.
  quietly 'auditwheel' env PYTHONPATH="$tools" PATH="$tools/bin:$PATH" python3 -m auditwheel repair \
    --exclude 'libcuda*' --exclude 'libcublas*' --wheel-dir "$named" "$work"/built/*.whl
  wheel=$(echo "$named"/*.whl)
  ! python3 -m zipfile --list "$wheel" | grep '\.libs/' ||
    fail "the wheel needs these libraries, which $project/pyproject.toml should leave out"
  (($(stat -c %s "$wheel") < 60000000)) || fail 'the wheel is larger than 60 MB'
}

quietly() {
  local what=$1
  shift
  "$@" >"$log" 2>&1 || {
    tail -n 15 "$log" >&2
    fail "$what failed; the whole output is in $log"
  }
}

# With nothing of this tree, and nothing of this machine's but Python and g++.
try_wheel() {
  local wheel=$1 folder=$2
  mkdir -p "$folder/home"
  quietly venv python3 -m venv --without-pip "$folder/venv"
  quietly pip "${pip[@]}" --python "$folder/venv/bin/python" install --no-deps "$wheel"
  say 'trying it'
  [[ $(in_venv "$folder" kernel-zoo --version) == "kernel-zoo $(program_version)" ]] ||
    fail "the wheel's program is not of version $(program_version)"
  ! grep -rlF "$root" "$folder"/venv/lib/python3*/site-packages/kzoo/_prefix/lib/kernel-zoo/recipes ||
    fail 'these tell compilers of files that are here'
  quietly 'a run without g++' in_venv "$folder" PATH="$folder/venv/bin" kernel-zoo run quick --device cpu
  quietly 'a new plugin' in_venv "$folder" kernel-zoo new mine
  quietly 'a run of it' in_venv "$folder" kernel-zoo run quick --plugins ./mine/mine.cu --device cpu
  quietly 'its memory accesses' in_venv "$folder" kernel-zoo xray quick --cell ./mine/mine.cu --sizes 32
  quietly 'a judgement' in_venv "$folder" python -c \
    'import kzoo; v = kzoo.judge("mine/mine.cu", device="cpu"); assert v.passed, v'
}

# On top of the other wheel, with a CUDA from NVIDIA's wheels alone.
try_cuda_wheel() {
  local wheel=$1 folder=$2 site
  say "trying it with NVIDIA's wheels, 530 MB"
  quietly pip "${pip[@]}" --python "$folder/venv/bin/python" install "$wheel"
  site=$(echo "$folder"/venv/lib/python3*/site-packages)
  ! grep -lF "${nvcc%/bin/nvcc}/" "$site"/kzoo/_prefix_cuda/lib/kernel-zoo/recipes/* ||
    fail 'these tell compilers of files that are here'
  quietly 'finding the GPU' in_venv "$folder" kernel-zoo devices
  quietly 'loading cuBLAS' in_venv "$folder" python -c \
    'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$site/kzoo/_prefix_cuda/lib/kernel-zoo/plugins/cuda/cublas.so"
  quietly 'compiling for a GPU' in_venv "$folder" kernel-zoo compile ./mine/mine.cu --arch 90a -o built
  [[ -z $gpu ]] || quietly 'a run on the GPU' in_venv "$folder" kernel-zoo run quick --device cuda
}

in_venv() (
  cd "$1" &&
    env -i HOME="$1/home" TMPDIR="$1" PATH="$1/venv/bin:/usr/bin:/bin" "${@:2}"
)

program_version() {
  sed -n 's/^project(kernel-zoo VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt"
}
