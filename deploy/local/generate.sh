#!/usr/bin/env bash
# Writes all generated code from its sources: Python and Go from recommender/proto, the collectors that are built here
# from their builder.yaml, dashboards from dashboards/generate.
# With --check it changes nothing, and fails with the differences when what is committed is not current.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PYTHON="$repository/.cache/venvs/sluice/bin/python"
check=${1:-}
[[ $check == "" || $check == --check ]] || { echo "usage: generate.sh [--check]" >&2; exit 2; }

mkdir -p "$repository/.cache"
fresh=$(mktemp -d "$repository/.cache/generated.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
mkdir -p "$fresh/recommender/decide/src" "$fresh/actuators"
cp -r "$repository/recommender/proto" "$fresh/recommender/"
cp "$repository/actuators/"{go.mod,go.sum,generate.sh} "$fresh/actuators/"

# Python; the plugins of mypy-protobuf stand beside the interpreter.
cd "$fresh/recommender/proto"
mapfile -t protos < <(find sluice -name '*.proto' | sort)
PATH="$(dirname "$PYTHON"):$PATH" "$PYTHON" -m grpc_tools.protoc -I . \
  --python_out=../decide/src --grpc_python_out=../src --mypy_out=quiet:../decide/src --mypy_grpc_out=quiet:../decide/src "${protos[@]}"

# Go
sh "$fresh/actuators/generate.sh"

# Collectors. The modules' versions are `make lock`'s: go.mod stays as it is.
declare -A collectors=([collector/local]=collector/builder.yaml [tests/bench/collector]=tests/bench/collector/builder.yaml)
cd "$fresh"
for directory in "${!collectors[@]}"; do
  mkdir -p "$directory"
  "$repository/.cache/bin/builder" --config "$repository/${collectors[$directory]}" \
    --skip-compilation --skip-get-modules > "$fresh/builder.log" 2>&1 || { cat "$fresh/builder.log" >&2; exit 1; }
done

pairs=(recommender/decide/src/sluice/v1 actuators/gen)
status=0
for directory in "${pairs[@]}"; do
  if [[ $check ]]; then
    diff -ru --exclude=__pycache__ --exclude=__init__.py "$repository/$directory" "$fresh/$directory" || status=1
  else
    mkdir -p "$repository/$directory"
    find "$repository/$directory" -type f ! -name __init__.py -delete
    cp -r "$fresh/$directory/." "$repository/$directory/"
  fi
done

for directory in "${!collectors[@]}"; do
  for file in "$fresh/$directory/"*.go; do
    if [[ $check ]]; then
      diff -u "$repository/$directory/$(basename "$file")" "$file" || status=1
    else
      cp "$file" "$repository/$directory/"
    fi
  done
done

# Dashboards
if [[ -d $repository/dashboards/generate ]]; then
  cd "$repository"
  PYTHONPATH=dashboards "$PYTHON" -m generate ${check:+--check} || status=1
fi

if [[ $status != 0 ]]; then
  echo "generated code is not current: run \`make generate\` and commit what it changes" >&2
fi
exit $status
