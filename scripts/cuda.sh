# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by ./zoo: which nvcc there is, which GPUs, a toolkit for those without one, and CUTLASS.

user_cuda=$user_folder/cuda-13.0
user_toolkit=$user_cuda/nvidia/cu13 # as the wheels lay it out
pinned_cuda=$root/scripts/cuda-13.0.txt
user_cutlass=$user_folder/cutlass-4.2
pinned_cutlass=$root/scripts/cutlass-4.2.txt

# Sets `nvcc` to the first that compiles here, '' where there is none, `refused` to the first that does
# not, and `refusal` to why.
nvcc='' refused='' refusal=''
find_nvcc() {
  local candidates=("${CUDACXX-}" ${CUDA_HOME:+"$CUDA_HOME/bin/nvcc"} ${CUDA_PATH:+"$CUDA_PATH/bin/nvcc"}) folders
  IFS=: read -ra folders <<<"$PATH"
  candidates+=("${folders[@]/%//nvcc}" /usr/local/cuda/bin/nvcc)
  ! cmp -s "$pinned_cuda" "$user_cuda/pinned.txt" || candidates+=("$user_toolkit/bin/nvcc")
  refused='' refusal=''
  for nvcc in "${candidates[@]}"; do
    if [[ -x $(command -v "$nvcc") ]]; then
      nvcc=$(command -v "$nvcc")
      ! nvcc_works || return 0
    elif [[ -f $nvcc || (-n $nvcc && $nvcc == "${CUDACXX-}") ]]; then
      why_not='failed to start: it is no program that can be run'
    else
      continue
    fi
    refused=${refused:-$nvcc} refusal=${refusal:-$why_not}
  done
  nvcc=''
}

# Whether `nvcc` compiles C++20 with its host compiler; `why_not` says why it does not. That it does is
# kept in the build folder.
nvcc_works() {
  local pair said known=$build/zoo.nvcc
  pair="$(readlink -f "$nvcc") with $(cuda_host)"
  ! grep -qxF "$pair" "$known" 2>/dev/null || return 0
  if said=$({ mkdir -p "$build" && echo '__global__ void nothing() {}' >"$known.cu" &&
    "$nvcc" -std=c++20 ${CUDAHOSTCXX:+-ccbin "$CUDAHOSTCXX"} -c -o "$known.o" "$known.cu"; } 2>&1); then
    echo "$pair" >>"$known"
    return
  fi
  why_not="does not compile C++20 with $(cuda_host)"
  [[ $said == *'unsupported GNU version'* ]] ||
    why_not="failed to compile a file of one line: $(
      grep -im1 -E 'error|fatal|cannot|could not|denied|space' <<<"$said" || tail -n 1 <<<"${said:-it says nothing}"
    )"
  return 1
}

# "g++ 14.2.0": the host compiler that nvcc uses.
cuda_host() {
  local host=${CUDAHOSTCXX:-${NVCC_CCBIN:-g++}}
  echo "$host $("$host" -dumpfullversion 2>/dev/null)"
}

say_refused() {
  [[ -n $refused ]] || return 0
  local words="$refused $refusal, so"
  [[ $refusal != failed* ]] || words="$refused $refusal; so"
  if [[ -n $nvcc ]]; then
    say "$words $nvcc is used"
  elif [[ $refusal == failed* ]]; then
    say "$words only the simulator is built: ./zoo setup --cuda fetches another (530 MB, no root)"
  else
    say "$words only the simulator is built: CUDAHOSTCXX names another g++ for it, and ./zoo setup --cuda" \
      "fetches an nvcc that compiles with this one (530 MB, no root)"
  fi
}

# Whether a program started now would see a GPU, in `gpu`, and in `capabilities` the compute
# capabilities there are. Where the driver's own program is missing, its device files have to do.
gpu='' capabilities=''
find_gpu() {
  case ${CUDA_VISIBLE_DEVICES-all} in '' | -1*) return ;; esac
  if command -v nvidia-smi >/dev/null; then
    capabilities=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -u) ||
      capabilities=''
    gpu=${capabilities:+yes}
  else
    ! compgen -G '/dev/nvidia[0-9]*' >/dev/null || gpu=yes
  fi
}

no_nvcc='there is a GPU here and no nvcc, so only the simulator runs; ./zoo setup --cuda fetches '
no_nvcc+='one (530 MB, no root)'

setup_cuda() {
  local library
  find_nvcc
  if [[ -n $nvcc && $nvcc != "$user_cuda"/* ]]; then
    say "there is an nvcc already, and it will be used: $nvcc"
    return
  fi
  [[ $(uname -sm) == 'Linux x86_64' ]] || fail "setup --cuda is for Linux on x86-64"
  if ! cmp -s "$pinned_cuda" "$user_cuda/pinned.txt"; then
    install_wheels 'nvcc 13.0, cuBLAS and NVTX (530 MB, unpacked 880)' "$user_cuda" "$pinned_cuda"
  fi
  # What nvcc and the linker look for, and wheels cannot hold: links.
  ln -sfn lib "$user_toolkit/lib64"
  for library in "$user_toolkit"/lib/*.so.*; do
    ln -sf "${library##*/}" "${library%.so.*}.so"
  done
  nvcc=$user_toolkit/bin/nvcc
  nvcc_works || fail "$nvcc $why_not$([[ $why_not == failed* ]] || echo ': CUDAHOSTCXX names another g++ for it')"
  say "nvcc is $nvcc; ./zoo finds it by itself"
}

# Exports CUTLASS_PATH for CMake, where nobody has set it and ./zoo setup has fetched the headers.
find_cutlass() {
  [[ -n ${CUTLASS_PATH-} ]] || ! cmp -s "$pinned_cutlass" "$user_cutlass/pinned.txt" ||
    export CUTLASS_PATH=$user_cutlass
}

setup_cutlass() {
  find_cutlass
  [[ -n ${CUTLASS_PATH-} ]] || {
    install_wheels "CUTLASS's headers (6 MB, unpacked 40)" "$user_cutlass" "$pinned_cutlass"
    find_cutlass
  }
  say "CUTLASS is in $CUTLASS_PATH; ./zoo build cutlass builds the plugin"
}
