#!/usr/bin/env bash
# Resolves what is declared and writes the locks: *.lock for Python, collector/lock* for the collectors' Go modules.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
uv=.cache/venvs/tools/bin/uv
compile=("$uv" pip compile --no-emit-index-url --custom-compile-command "make lock" -q --generate-hashes --python-version 3.11)

"${compile[@]}" requirements.in -o requirements.lock
"${compile[@]}" streaming-jobs/requirements.in -o streaming-jobs/requirements.lock
for lock in deploy/local/bootstrap/*.lock; do
  "${compile[@]}" "${lock%.lock}.in" -o "$lock"
done

mkdir -p .cache/build
for kind in "" -full; do
  rm -rf ".cache/build/collector$kind"
  .cache/bin/builder --config "collector/builder$kind.yaml" --skip-compilation
  mkdir -p "collector/lock$kind"
  cp ".cache/build/collector$kind/"{go.mod,go.sum} "collector/lock$kind/"
done
