#!/usr/bin/env bash
# Resolves what is declared and writes the locks: *.lock for Python, package-lock.json for programs from npm, go.mod and
# go.sum for the collectors.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
uv=.cache/venvs/tools/bin/uv
compile=("$uv" pip compile --no-emit-index-url --custom-compile-command "make lock" -q --generate-hashes
  --universal --python-version 3.11)

"${compile[@]}" requirements.in -o requirements.lock
"${compile[@]}" streaming-jobs/requirements.in -o streaming-jobs/requirements.lock
for lock in deploy/local/bootstrap/*.lock tests/soak/envoy.lock tests/testbed/{instrumented,polyglot}/python/*.lock; do
  # Of the packages for the charts only files are used, not what they depend on.
  [[ $lock == */charts.lock ]] && alone=--no-deps || alone=
  "${compile[@]}" $alone "${lock%.lock}.in" -o "$lock"
done

# The image of the decider: of the versions above, without databases, which Optuna imports only for studies kept there.
unused=(sqlalchemy alembic mako greenlet)
"${compile[@]}" deploy/images/decider/requirements.in --constraints requirements.lock \
  "${unused[@]/#/--no-emit-package=}" -o deploy/images/decider/requirements.lock
"${compile[@]}" deploy/images/build.in --constraints requirements.lock -o deploy/images/build.lock

for folder in deploy/local/buf deploy/local/clickhouse tests/testbed/{instrumented,polyglot}/node; do
  (export PATH="$PWD/.cache/venvs/node/bin:$PATH" && cd "$folder" &&
    npm install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund)
done

for components in collector/builder.yaml collector/builder-kubernetes.yaml tests/bench/collector/builder.yaml; do
  .cache/bin/builder --config "$components" --skip-compilation
done
