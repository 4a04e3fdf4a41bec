#!/bin/sh
# Validates each set of layers against the Compose specification. tests/ compares their variables with .env.
#   check.sh COMPOSE_SPEC    the path of compose-go's program
set -eu
validator=$(readlink -f "$1")
cd "$(dirname "$0")"
status=0
for layers in compose.yaml compose.yaml:compose.demo.yaml compose.yaml:compose.demo.yaml:compose.observability.yaml; do
  if output=$(COMPOSE_FILE=$layers "$validator" -format json -no-interpolation 2>&1 >/dev/null); then
    echo "   compose $layers: ok"
  else
    echo "   compose $layers: $output" >&2
    status=1
  fi
done
exit $status
