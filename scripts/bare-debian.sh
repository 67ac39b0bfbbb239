#!/usr/bin/env bash
# Tries a wheel where there is nothing but Debian, Python and g++: the steps of action.yml, the fixture
# for pytest, and the notebooks. As root, with debootstrap:
#   scripts/bare-debian.sh dist/kernel_zoo-….whl [bookworm trixie]
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(realpath "$1")
shift
releases=("$@")
(($#)) || releases=(bookworm trixie)
folder=${KZOO_BARE:-/var/tmp/kernel-zoo-bare} # kept for the next time

make_root() {
  local release=$1 place=$2 mirror
  [[ ! -e $place/.made ]] || return 0
  # shellcheck disable=SC2016 # apt expands these
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN)' |
    awk '$2 !~ /-(security|updates|backports)$/ && $3 == "Debian" { print $1; exit }')
  rm -rf "$place"
  mkdir -p "$folder"
  debootstrap --variant=minbase --include=ca-certificates,g++,python3-venv "$release" "$place" "$mirror" \
    >"$place.log" 2>&1 || {
    tail -n 5 "$place.log" >&2
    exit 1
  }
  touch "$place/.made"
}

# Where pip finds packages here, it does there.
copy_settings() {
  cp /etc/resolv.conf "$1/etc/"
  cp --remove-destination /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
  [[ ! -e /etc/pip.conf ]] || cp /etc/pip.conf "$1/etc/"
}

try_in() (
  place=$1
  trial=$place/trial
  rm -rf "$trial"
  mkdir -p "$trial/runner temp" "$trial/kernels" "$trial/python" "$trial/examples"
  cp "$wheel" "$trial/"
  cp "$root/sdk/template/mine.cu" "$trial/kernels/"
  printf '__global__ void f() {}\n' >"$trial/kernels/undescribed.cu"
  cp -r "$root/python/tests" "$trial/python/"
  cp -r "$root/examples/notebook" "$trial/examples/"
  cat >"$trial/test_mine.py" <<'TEST'
def test_mine(kzoo_judge):
    kzoo_judge("kernels/mine.cu", device="cpu", tier="quick")
TEST
  trap 'umount "$place/dev/shm" "$place/dev" "$place/sys" "$place/proc"' EXIT
  mount -t proc proc "$place/proc"
  mount --bind /sys "$place/sys"
  mount --bind /dev "$place/dev"
  mount --bind /dev/shm "$place/dev/shm"
  inside() {
    chroot "$place" env -i HOME=/root PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 \
      PIP_CERT=/etc/ssl/certs/ca-certificates.crt RUNNER_TEMP='/trial/runner temp' \
      GITHUB_OUTPUT=/trial/output GITHUB_STEP_SUMMARY=/trial/summary WHEEL="/trial/${wheel##*/}" \
      KERNELS='kernels/*.cu' PROBLEMS=quick BENCHMARK='' DEVICE=cpu VERIFY=quick BASELINE='' \
      bash -e -c "cd /trial; $1"
  }
  python='"/trial/runner temp/kernel-zoo/bin/python"'
  inside "$(python3 "$root/scripts/action_steps.py" install)"
  if inside "$(python3 "$root/scripts/action_steps.py" judge)"; then
    echo 'the action has passed a kernel that describes no launch' >&2
    exit 1
  fi
  grep -q '^| kernels/mine.cu | PASSED' "$trial/summary"
  grep -q '^| kernels/undescribed.cu | COMPILE_ERROR' "$trial/summary"
  inside "$python -m pip install --quiet pytest; $python -m pytest -q test_mine.py"
  inside "$python python/tests/test_notebook.py"
)

for release in "${releases[@]}"; do
  make_root "$release" "$folder/$release"
  copy_settings "$folder/$release"
  try_in "$folder/$release"
  echo "$release: the action, the fixture for pytest and the notebooks run from the wheel"
done
