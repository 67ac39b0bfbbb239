#!/usr/bin/env bash
# What ./zoo decides, with stand-ins for the programs it calls and for the machine it asks; only what a
# command needs is asked of the runner itself.
#   check.sh TREE WORK RUNNER
set -euo pipefail

tree=$1
work=$2
runner=$(realpath "$3")
rm -rf "$work"
mkdir -p "$work/bin" "$work/tree" "$work/etc"

cp -r "$tree/zoo" "$tree/scripts" "$tree/CMakePresets.json" "$work/tree"
mkdir -p "$work/tree/configs/experiments"
echo 'device = "auto"' >"$work/tree/configs/experiments/quick.toml"
cat >"$work/tree/configs/experiments/ladder.toml" <<'T'
baseline = 'cublas:fp32'
plugins = [ # "mma" is another one's
  "naive:32x32", # a step
  'tiled',
]
T
echo "device = 'cpu'" >"$work/tree/configs/experiments/on_cpu.toml"
echo 'device = "cuda:all"' >"$work/tree/configs/experiments/on_gpus.toml"
# The machine as the scripts see it.
sed -i -e "s#/usr/local/cuda#\"$work\"/toolkit#; s#/etc/os-release#\"$work\"/etc/os-release#; s#EUID#USER_ID#" \
  "$work"/tree/scripts/*.sh

for tool in bash cat chmod cksum cmp cp dirname env grep head ln mkdir mktemp mv nproc printf readlink rm sed sleep sort \
  stty tail tr uname; do
  path=$(type -P "$tool") && ln -s "$path" "$work/bin/$tool"
done

stand_in() {
  cat >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
stand_in dpkg-query <<'S'
#!/usr/bin/env bash
[[ " ${MISSING-} " == *" ${!#} "* ]] || printf installed
S
stand_in g++ <<'S'
#!/usr/bin/env bash
echo 12.2.0
S
stand_in nvidia-smi <<'S'
#!/usr/bin/env bash
[[ -n ${CAPABILITY-} ]] && echo "$CAPABILITY"
S
stand_in apt-get <<'S'
#!/usr/bin/env bash
echo "apt-get $*" >>"$CALLS"
S
stand_in cmake <<'S'
#!/usr/bin/env bash
case $1 in
  --version) echo cmake version "${CMAKE_IS-3.25.1}" ;;
  --preset)
    [[ -z ${CMAKE_FAILS-} ]] || { echo "CMake Error: no fmt"; exit 1; }
    echo "configure $* CUDACXX=${CUDACXX-} CUTLASS_PATH=${CUTLASS_PATH-}" >>"$CALLS"
    printf 'build %s: phony\n' plugins_cpu kzoo_cpu_{naive,tiled,mma} >build/release/build.ninja
    [[ -z ${CUDACXX-} ]] || printf 'build %s: phony\n' plugins_cuda kzoo_cuda_{naive,tiled,mma,cublas} \
      kzoo_launcher_compiled_kernel >>build/release/build.ninja
    ;;
  --build)
    [[ $4 != build.ninja ]] || exit 0
    echo "build ${*:3}${CACHE:+ CCACHE_DISABLE=${CCACHE_DISABLE-}}" >>"$CALLS"
    mkdir -p build/release/bin
    printf '#!/usr/bin/env bash\n%s\n%s\necho "runner $*"\n' \
      "[[ \$1 != needs ]] || exec '$RUNNER' \"\$@\"" \
      "[[ -z '${OLD_DRIVER-}' || \$1 != devices ]] || exit 3" >build/release/bin/runner
    chmod +x build/release/bin/runner
    trap 'exit 1' INT # as ninja does
    [[ -z ${NINJA_SLEEPS-} ]] || { : >"$CALLS.building"; sleep 20; }
    [[ -z ${NINJA_SAYS-} ]] || printf "$NINJA_SAYS"
    [[ -z ${BUILD_FAILS-} ]]
    ;;
esac
S
stand_in ctest <<'S'
#!/usr/bin/env bash
echo "ctest $*"
S
stand_in python3 <<'S'
#!/usr/bin/env bash
[[ $* != '-m venv'* ]] || exit 1
[[ -z ${NO_PIP-} ]] || exit 1
[[ $1 != -c ]] || { echo 'the script of a page'; exit; }
[[ $* != *' wheel '* ]] || echo "wheel by $CXX" >>"$CALLS"
[[ $3 == install ]] || exit 0
echo "pip $*" >>"$CALLS"
while [[ $1 != --target ]]; do shift; done
mkdir -p "$2/nvidia/cu13/bin" "$2/nvidia/cu13/lib" "$2/cmake/data/bin"
[[ -z ${PIP_FAILS-} ]] || { echo "hashes differ"; exit 1; }
printf '#!/usr/bin/env bash\n' >"$2/nvidia/cu13/bin/nvcc"
chmod +x "$2/nvidia/cu13/bin/nvcc"
ln -s "$(type -P cmake)" "$2/cmake/data/bin/cmake"
: >"$2/nvidia/cu13/lib/libcublas.so.13"
mkdir -p "$2/vl_convert"
S
stand_in ninja <<'S'
#!/usr/bin/env bash
S
stand_in nvcc-stand-in <<'S'
#!/usr/bin/env bash
S
stand_in old-nvcc <<'S'
#!/usr/bin/env bash
echo 'error: unsupported GNU version!'
[[ ${CUDAHOSTCXX-} == older-g++ ]]
S
stand_in silent-nvcc <<'S'
#!/usr/bin/env bash
exit 1
S
stand_in failing-nvcc <<'S'
#!/usr/bin/env bash
echo 'nothing.cu'
echo 'nvcc fatal   : Could not open output file /full/tmpxft: No space left on device'
exit 1
S
echo 'ID=debian VERSION_ID="12"' >"$work/etc/os-release"

# zoo ARGUMENTS, in a fresh tree on a machine that NAME=VALUE words describe: `out` is what it
# says, `calls` what it called, `code` its exit status. `through` is what it is started by.
through=()
zoo_of=tree
zoo() {
  local machine=()
  while [[ ${1-} == *=* && $1 != -* ]]; do
    machine+=("$1")
    shift
  done
  : >"$work/calls"
  [[ -n ${keep-} ]] || rm -rf "${work:?}"/{tree/build,home}
  mkdir -p "$work/home"
  code=0
  out=$(cd "$work/$zoo_of" && "${through[@]}" env -i PATH="$work/bin" HOME="$work/home" CALLS="$work/calls" \
    RUNNER="$runner" USER_ID=0 TERM=xterm "${machine[@]}" bash ./zoo "$@" 2>&1) || code=$?
  calls=$(cat "$work/calls")
}

# expect WORD TEXT PATTERN: the text is or matches the pattern, or the test ends.
expect() {
  # shellcheck disable=SC2053
  [[ $2 == "$3" || $2 == $3 ]] && return
  printf '%s: the %s is\n%s\nand should be like\n%s\n' "$what" "$1" "$2" "$3" >&2
  exit 1
}

nvcc=CUDACXX=$work/bin/nvcc-stand-in

what='without nvcc and GPU'
zoo run
expect calls "$calls" $'*build --target runner\nbuild --target plugins_cpu'
expect output "$out" "*runner run $work/tree/configs/experiments/quick.toml"
what='with nvcc alone'
zoo "$nvcc" run quick
expect calls "$calls" $'*build --target runner\nbuild --target plugins_cpu'
expect output "$out" '*building what this command uses, for cpu;*'
what='with nvcc and GPU'
zoo "$nvcc" CAPABILITY=9.0 run quick
expect calls "$calls" $'*build --target runner\nbuild --target plugins_cuda'
expect output "$out" '*building what this command uses, for cuda;*'
what='the experiment of a run on a GPU that names none, and the plugins that it names'
mkdir -p "$work"/tree/plugins/fp32/{01_naive,02_tiled,beside}
zoo "$nvcc" CAPABILITY=9.0 run
expect calls "$calls" \
  $'*build --target runner kzoo_cuda_naive kzoo_cuda_tiled\nbuild --target kzoo_cuda_cublas kzoo_cuda_naive kzoo_cuda_tiled'
expect output "$out" "*runner run $work/tree/configs/experiments/ladder.toml"
zoo "$nvcc" CAPABILITY=9.0 run --device cpu
expect calls "$calls" $'*build --target runner\nbuild --target plugins_cpu'
expect output "$out" "*runner run $work/tree/configs/experiments/quick.toml --device cpu"
what='every variant, of the steps on a GPU and of all plugins in the simulator'
echo 'device = "auto"' >"$work/tree/configs/experiments/quick-all.toml"
cp "$work"/tree/configs/experiments/ladder{,-all}.toml
zoo "$nvcc" CAPABILITY=9.0 run --all
expect output "$out" "*runner run $work/tree/configs/experiments/ladder-all.toml"
zoo run --device cpu --all --md x
expect output "$out" "*runner run $work/tree/configs/experiments/quick-all.toml --device cpu --md x"
zoo run quick --all
expect output "$out" '*zoo: --all is for a run that names no experiment'
expect 'exit code' "$code" 2
what='an exercise, which needs the runner alone'
zoo learn 05
expect calls "$calls" '*build --target runner'
zoo learn
expect calls "$calls" ''
what='a driver that is too old'
zoo "$nvcc" CAPABILITY=9.0 OLD_DRIVER=yes run
expect calls "$calls" $'*build --target runner kzoo_cuda_*\nbuild --target plugins_cpu'
expect output "$out" "*cannot use the GPU*runner run $work/tree/configs/experiments/quick.toml"
what='plugins that are named'
zoo run quick --plugins naive:8x8,mma,./own.cu,other
expect calls "$calls" $'*build --target runner\nbuild --target kzoo_cpu_mma kzoo_cpu_naive'
expect output "$out" '*runner run quick --plugins naive:8x8,mma,./own.cu,other'
zoo run quick --plugins=./own.cu
expect calls "$calls" '*build --target runner'
zoo run quick --plugins 'naive,m*'
expect calls "$calls" $'*build --target runner\nbuild --target kzoo_cpu_naive plugins_cpu'
zoo "$nvcc" validate ./compiled.toml --device cuda
expect calls "$calls" $'*build --target runner\nbuild --target kzoo_launcher_compiled_kernel'
zoo run ladder --device cpu
expect calls "$calls" $'*build --target runner\nbuild --target kzoo_cpu_naive kzoo_cpu_tiled'
zoo validate --layout nt mma:8x8
expect calls "$calls" $'*build --target runner\nbuild --target kzoo_cpu_mma'
zoo profile ladder -- --set full
expect output "$out" '*runner profile ladder -- --set full'
what='a GPU that is hidden'
zoo "$nvcc" CAPABILITY=9.0 CUDA_VISIBLE_DEVICES= run
expect calls "$calls" $'*build --target runner kzoo_cpu_naive kzoo_cpu_tiled\nbuild --target plugins_cpu'
what='an nvcc that does not compile with the g++ that is here'
old=CUDACXX=$work/bin/old-nvcc
zoo "$old" run quick --device cpu
expect calls "$calls" $'configure *-D KZOO_CUDA=OFF CUDACXX=*build --target runner\nbuild --target plugins_cpu'
expect output "$out" "*old-nvcc does not compile C++20 with g++ 12.2.0,*CUDAHOSTCXX *./zoo setup --cuda*runner run quick*"
expect lines "$(grep -c old-nvcc <<<"$out")" 1
zoo "$old" CUDA_HOME="$work/toolkit" CUDAHOSTCXX=older-g++ build
expect calls "$calls" "configure *CUDACXX=$work/bin/old-nvcc *"
mkdir -p "$work/toolkit/bin"
cp "$work/bin/nvcc-stand-in" "$work/toolkit/bin/nvcc"
zoo "$old" run quick --device cpu
expect calls "$calls" "configure *CUDACXX=$work/toolkit/bin/nvcc *"
expect output "$out" "*old-nvcc does not compile C++20 with g++ 12.2.0, so $work/toolkit/bin/nvcc is used*"
rm -r "$work/toolkit"
zoo CUDACXX="$work/bin/failing-nvcc" run quick --device cpu
expect calls "$calls" 'configure *-D KZOO_CUDA=OFF CUDACXX=*'
expect output "$out" '*failing-nvcc failed to compile a file of one line: nvcc fatal *No space left on device; so only*'
expect lines "$(grep -c 'CUDAHOSTCXX\|does not compile' <<<"$out")" 0
zoo CUDACXX="$work/bin/silent-nvcc" run quick --device cpu
expect output "$out" '*silent-nvcc failed to compile a file of one line: it says nothing; so *: ./zoo setup --cuda fetches*runner run *'
zoo CUDACXX="$work/bin/no-nvcc" run quick --device cpu
expect output "$out" '*bin/no-nvcc failed to start: it is no program that can be run; so only*runner run *'
: >"$work/bin/nvcc"
zoo run quick --device cpu
expect output "$out" '*bin/nvcc failed to start: it is no program that can be run; so only*runner run *'
rm "$work/bin/nvcc"
zoo "$old" setup --cuda
expect calls "$calls" 'pip *--require-hashes*/scripts/cuda-13.0.txt'
what='a GPU without nvcc'
zoo CAPABILITY=9.0 run
expect calls "$calls" $'*build --target runner kzoo_cpu_naive kzoo_cpu_tiled\nbuild --target plugins_cpu'
expect output "$out" '*zoo setup --cuda*'
what='a device that is asked for'
zoo "$nvcc" run quick --device cuda:1
expect calls "$calls" $'*build --target runner\nbuild --target plugins_cuda'
zoo "$nvcc" CAPABILITY=9.0 run --device=cpu --sizes 8
expect calls "$calls" $'*build --target runner\nbuild --target plugins_cpu'
what='the device of an experiment file'
zoo "$nvcc" CAPABILITY=9.0 run on_cpu
expect calls "$calls" $'*build --target runner\nbuild --target plugins_cpu'
zoo "$nvcc" check configs/experiments/on_gpus.toml
expect calls "$calls" $'*build --target runner\nbuild --target plugins_cuda'
zoo "$nvcc" run on_gpus --device cpu
expect calls "$calls" $'*build --target runner\nbuild --target plugins_cpu'
what='options before the file'
zoo "$nvcc" CAPABILITY=9.0 run --sizes 8,16 --device cpu on_gpus --quiet
expect calls "$calls" $'*build --target runner\nbuild --target plugins_cpu'
expect output "$out" '*runner run --sizes 8,16 --device cpu on_gpus --quiet'
zoo "$nvcc" CAPABILITY=9.0 run --plugins naive on_cpu
expect calls "$calls" $'*build --target runner\nbuild --target kzoo_cpu_naive'
expect output "$out" '*runner run --plugins naive on_cpu'
zoo "$nvcc" run --layouts nt
expect output "$out" "*runner run $work/tree/configs/experiments/quick.toml --layouts nt"
what='a command that may need either'
zoo "$nvcc" CAPABILITY=9.0 validate tiled
expect calls "$calls" $'*build --target runner\nbuild --target kzoo_cuda_tiled kzoo_cpu_tiled'
what='mistakes, which the runner reports'
for mistake in 'run nosuch' 'run --bogus' 'run --resume' 'tune nosuch.cu' 'rerun some.json' 'check quick --sises 3'; do
  # shellcheck disable=SC2086
  zoo "$nvcc" CAPABILITY=9.0 $mistake
  expect calls "$calls" '*build --target runner'
  expect output "$out" "*runner $mistake"
done
what='xray, which is about the simulator'
zoo "$nvcc" CAPABILITY=9.0 xray quick --cell naive:8x8
expect calls "$calls" $'*build --target runner\nbuild --target kzoo_cpu_naive'
expect output "$out" '*runner xray quick --cell naive:8x8'
what='compile, on a machine without a GPU'
zoo "$nvcc" compile own.cu --arch 90a -o built
expect calls "$calls" '*build --target runner'
expect output "$out" '*runner compile own.cu --arch 90a -o built'
zoo "$nvcc" compile kernels.toml
expect calls "$calls" $'*build --target runner\nbuild --target kzoo_launcher_compiled_kernel'
what='commands that load no plugin'
zoo "$nvcc" CAPABILITY=9.0 report some.json
expect calls "$calls" '*build --target runner'
what='build --all'
zoo "$nvcc" build --all
expect calls "$calls" '*build --target all plugins_cuda'
what='test, which builds no plugin that only another machine could run'
zoo "$nvcc" CAPABILITY=9.0 test
expect calls "$calls" '*build --target all plugins_cuda*pip *--require-hashes*/scripts/serve.txt*/scripts/mcp.txt'
zoo "$nvcc" test
expect calls "$calls" $'*build --target all\npip *--require-hashes*/scripts/serve.txt*/scripts/mcp.txt'
expect output "$out" '*leaving out the cuda plugins*'
expect output "$out" "*ctest --preset release --parallel $(($(nproc) + 1))*"
zoo "$nvcc" test --nightly -R name
expect output "$out" "*ctest --preset release --parallel * -C nightly -R name*"

what='configuring again'
keep=yes
zoo "$nvcc" build
expect calls "$calls" 'build --target*'
zoo "$nvcc" CAPABILITY=8.0 build
expect calls "$calls" 'configure *--fresh*'
what='a built tree that was copied'
mkdir "$work/tree/elsewhere"
cp -R "$work"/tree/{zoo,scripts,CMakePresets.json,configs,build} "$work/tree/elsewhere"
zoo_of=tree/elsewhere
zoo "$nvcc" CAPABILITY=8.0 build
expect calls "$calls" 'configure *--fresh*'
rm "$work/tree/elsewhere/build/release/zoo.configured"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$work/tree" >"$work/tree/elsewhere/build/release/CMakeCache.txt"
zoo "$nvcc" CAPABILITY=8.0 build
expect calls "$calls" 'configure *--fresh*'
rm -rf "$work/tree/elsewhere"
zoo_of=tree
keep=

what='build NAME'
zoo build naive
expect calls "$calls" '*build --target kzoo_cpu_naive'
zoo build naive nothing
expect output "$out" "*there is no plugin 'nothing'*"
expect code "$code" 2
zoo build --every
expect output "$out" '*build takes --all*'
expect code "$code" 2

what='no home folder'
zoo HOME= validate naive
expect output "$out" '*runner validate naive'
zoo HOME="$work/nobody" setup --cutlass
expect output "$out" "*fetching * into $work/tree/build/home/.local/share/kernel-zoo/*"
what='a ccache that cannot write'
stand_in ccache <<'S'
#!/usr/bin/env bash
echo "$CACHE"
S
zoo CACHE="$work/home/cache" build
expect calls "$calls" '*build * CCACHE_DISABLE='
zoo CACHE=/proc/none build
expect calls "$calls" '*build * CCACHE_DISABLE=1'
rm "$work/bin/ccache"
what='a tree that cannot be written'
rm -rf "$work/tree/build/release"
: >"$work/tree/build/release"
keep=yes
zoo run
expect output "$out" "zoo: $work/tree/build/release cannot be written, *copy this tree to a folder of yours"
expect code "$code" 2
keep=

what='packages'
zoo MISSING='libboost1.81-dev cmake' setup
expect calls "$calls" $'apt-get update\napt-get install * libboost1.81-dev cmake'
expect output "$out" 'zoo: installing libboost1.81-dev cmake'
for distribution in 'debian 12 1.81' 'debian 13 1.83' 'ubuntu 22.04 1.74' 'ubuntu 24.04 1.83'; do
  read -r id version boost <<<"$distribution"
  echo "ID=$id VERSION_ID=\"$version\"" >"$work/etc/os-release"
  zoo MISSING="libboost$boost-dev" setup
  expect output "$out" "zoo: installing libboost$boost-dev"
done
what='an unknown distribution'
echo 'ID=other' >"$work/etc/os-release"
zoo MISSING=g++ setup
expect output "$out" ''
echo 'ID=debian VERSION_ID="12"' >"$work/etc/os-release"
what='neither root nor sudo'
zoo USER_ID=1000 MISSING=libfmt-dev CMAKE_FAILS=yes run
asks='zoo: neither root nor sudo: ask an administrator for: apt-get install libfmt-dev'
expect output "$out" "$asks (*CMAKE_PREFIX_PATH*"
expect lines "$(wc -l <<<"$out")" 1
expect code "$code" 2
stand_in sudo <<'S'
#!/usr/bin/env bash
[[ -n ${MAY_SUDO-} ]] || exit 1
[[ $1 == -v ]] || { echo sudo >>"$CALLS"; "$@"; }
S
zoo USER_ID=1000 MISSING=libfmt-dev CMAKE_FAILS=yes run
expect output "$out" 'zoo: neither root nor sudo:*'
zoo USER_ID=1000 MAY_SUDO=yes MISSING=libfmt-dev setup
expect calls "$calls" $'sudo\napt-get update\nsudo\napt-get install *libfmt-dev'
zoo USER_ID=1000 MISSING=libfmt-dev BUILD_FAILS=yes NINJA_SAYS='x.cpp:1: error: no\n' run
expect output "$out" '*x.cpp:1: error*building failed*'
zoo USER_ID=1000 MISSING=libfmt-dev run # its libraries are somewhere else
expect output "$out" '*runner run *'
expect code "$code" 0
what='an old CMake'
zoo CMAKE_IS=3.22.1 build
expect calls "$calls" 'pip *--require-hashes*/scripts/build-tools.txt*build*'

mv "$work/bin/ninja" "$work/bin/no-ninja"
zoo build
expect calls "$calls" 'pip *build*'
mv "$work/bin/no-ninja" "$work/bin/ninja"
zoo USER_ID=1000 MISSING='cmake libfmt-dev python3-venv' CMAKE_IS= NO_PIP=yes build
expect output "$out" '*ask an administrator for: apt-get install cmake libfmt-dev python3-venv'

what='setup --site'
zoo MISSING=doxygen setup --site
expect calls "$calls" '*apt-get install -y --no-install-recommends doxygen*pip *--require-hashes*/scripts/site/packages.txt'
zoo site there
expect output "$out" "*site takes nothing, not 'there'*"
expect code "$code" 2
what='setup --cuda'
zoo setup --cuda
expect calls "$calls" 'pip *--require-hashes*/scripts/cuda-13.0.txt'
cuda=$work/home/.local/share/kernel-zoo/cuda-13.0/nvidia/cu13
expect link "$(readlink "$cuda/lib64")" lib
expect link "$(readlink "$cuda/lib/libcublas.so")" libcublas.so.13
keep=yes
zoo setup --cuda
expect calls "$calls" ''
zoo CAPABILITY=9.0 run
expect calls "$calls" "configure *CUDACXX=$cuda/bin/nvcc*kzoo_cuda_naive*"
echo 'an older list' >"$work/home/.local/share/kernel-zoo/cuda-13.0/pinned.txt"
zoo CAPABILITY=9.0 run
expect output "$out" '*zoo setup --cuda*'
zoo setup --cuda
expect calls "$calls" 'pip *'
keep=
zoo "$nvcc" setup --cuda
expect output "$out" '*there is an nvcc already*'
expect calls "$calls" ''
zoo PIP_FAILS=yes setup --cuda
expect output "$out" '*hashes differ*could not fetch*'
expect code "$code" 2
expect folder "$(ls "$work/home/.local/share/kernel-zoo")" ''
zoo MISSING=python3-venv NO_PIP=yes setup --cuda
expect calls "$calls" '*apt-get install *python3-venv*'
expect output "$out" '*python3 with pip or venv is needed*'
expect code "$code" 2
zoo USER_ID=1000 MISSING=python3-venv NO_PIP=yes setup --cuda
expect output "$out" '*ask an administrator for: apt-get install python3-venv'

what='setup --charts'
charts=$work/home/.local/share/kernel-zoo/charts
zoo report r.json --md
expect calls "$calls" '*build --target runner'
keep=yes
zoo report r.json --svg charts
expect calls "$calls" '*pip *--require-hashes*/scripts/charts.txt'
expect charts "$(ls "$charts")" '*charts.js*pinned.txt*vl_convert*'
expect script "$(cat "$charts/charts.js")" '/\**vega 6*\*/*the script of a page'
expect folder "$(ls "$work/home/.local/share/kernel-zoo")" charts
zoo setup --charts
expect calls "$calls" ''
keep=
zoo PIP_FAILS=yes report r.json --html out.html
expect output "$out" '*could not fetch*there are no charts*runner report r.json --html out.html'
zoo PIP_FAILS=yes setup --charts
expect code "$code" 2

what='setup --cutlass'
zoo setup --cutlass
expect calls "$calls" 'pip *--require-hashes*/scripts/cutlass-4.2.txt'
expect output "$out" '*/cutlass-4.2; ./zoo build cutlass*'
keep=yes
zoo setup --cutlass
expect calls "$calls" ''
zoo run
expect calls "$calls" "configure *CUTLASS_PATH=$work/home/.local/share/kernel-zoo/cutlass-4.2*"
zoo CUTLASS_PATH=/mine setup --cutlass
expect calls "$calls" ''
expect output "$out" '*CUTLASS is in /mine*'
keep=
zoo setup --cutlas
expect output "$out" "*not '--cutlas'*"
expect code "$code" 2

what='wheel'
zoo wheel here there
expect output "$out" "*wheel takes --cuda, a folder or nothing, not 'here there'*"
expect code "$code" 2
zoo wheel --cuda
expect output "$out" '*no nvcc here that works, which ./zoo setup --cuda fetches*'
expect code "$code" 2
zoo wheel
expect calls "$calls" $'*\nwheel by c++*'
zoo CXX=g++-12 wheel
expect calls "$calls" $'*\nwheel by g++-12*'

what='a build that fails'
zoo BUILD_FAILS=yes NINJA_SAYS='[1/9] Building error_map.o\nx.cpp:1: error: no\n' run
expect output "$out" $'*\nx.cpp:1: error: no\nzoo: building failed; the whole output is in *'
expect code "$code" 2
expect names "$(grep -c error_map <<<"$out" || true)" 0

what='an interrupted build'
through=(timeout --preserve-status -s INT 2)
zoo NINJA_SLEEPS=yes build
through=()
expect building "$(ls "$work")" '*calls.building*'
expect code "$code" 130
expect output "$out" '*takes minutes the first time*'
expect words "$(grep -c failed <<<"$out" || true)" 0

what='progress'
. "$tree/scripts/progress.sh"
# A clock that is twenty seconds later after each line, and stands still between them.
unset SECONDS
SECONDS=0
# shellcheck disable=SC2162,SC2317
read() {
  SECONDS=$((SECONDS + 20))
  builtin read "$@"
}
lines=$(printf '[0/3] Re-checking\n[1/3] a\n[2/3] b\n[3/3] c\n' | progress "$work/ninja.log" 2>&1)
expect lines "$lines" $'zoo: building 1 of 3, 0:40\nzoo: building 3 of 3, 1:20\nzoo: building 3 of 3, 1:40'
expect log "$(cat "$work/ninja.log")" $'[0/3] Re-checking\n[1/3] a\n[2/3] b\n[3/3] c'
unset -f read
expect lines "$(printf '[1/3] a\n' | progress "$work/ninja.log" 2>&1)" ''
if type -P script >/dev/null; then
  on_terminal() {
    local slow='printf "[1/3] a\n"; sleep 1.2; printf "[2/3] b\n"; sleep 1.2'
    script -qec "stty cols 16; . '$tree/scripts/progress.sh'; { $slow; } | TERM=$1 progress '$work/ninja.log'" \
      /dev/null </dev/null
  }
  expect terminal "$(SHELL=$(type -P bash) on_terminal xterm)" $'\rzoo: building 1\e[K*\r\e[K'
  expect terminal "$(SHELL=$(type -P bash) on_terminal dumb)" ''
fi

if type -P shellcheck >/dev/null; then
  shellcheck -x -P "$tree" "$tree/zoo" "$tree"/scripts/*.sh "$0"
fi
echo ok
