#!/usr/bin/env bash
# Builds the site into a folder; a warning is a failure.
# usage: build.sh FOLDER    exit code 77: MkDocs or Doxygen is not installed
set -euo pipefail

out=$(realpath -m "$1")
packages=${KZOO_SITE-${XDG_DATA_HOME:-${HOME-}/.local/share}/kernel-zoo/site}
export PYTHONPATH=$packages${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 NO_MKDOCS_2_WARNING=1
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v doxygen >/dev/null || ! python3 -c 'import mkdocs, material' 2>/dev/null; then
  echo 'skipped: MkDocs with its theme Material, or Doxygen, is not installed; ./zoo setup --site installs them'
  exit 77
fi
python3 -m mkdocs build --quiet --strict --site-dir "$out"
