#!/usr/bin/env bash
# Resolves what is declared and writes the locks: *.lock for Python, collector/lock for the collector's Go modules.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
uv=.cache/venvs/tools/bin/uv
compile=("$uv" pip compile --no-emit-index-url --custom-compile-command "make lock" -q --generate-hashes --python-version 3.11)

"${compile[@]}" requirements.in -o requirements.lock
"${compile[@]}" streaming-jobs/requirements.in -o streaming-jobs/requirements.lock
for lock in deploy/local/bootstrap/*.lock; do
  "${compile[@]}" "${lock%.lock}.in" -o "$lock"
done

rm -rf .cache/build/collector
mkdir -p .cache/build
.cache/bin/builder --config collector/builder.yaml --skip-compilation
cp .cache/build/collector/go.mod .cache/build/collector/go.sum collector/lock/
