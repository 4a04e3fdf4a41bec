#!/usr/bin/env bash
# Writes the generated code that git has from its sources: Go from recommender/proto, with the image that later versions of
# the API are compared with; the collectors that are built here from their builder.yaml; sinks and row types of Flink from
# storage/clickhouse; dashboards from dashboards/generate; docs/reference; what the charts of deploy/helm copy and render.
# With --check it changes nothing, and fails with the differences when what is committed is not current.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PYTHON="$repository/.cache/venvs/sluice/bin/python"
check=${1:-}
[[ $check == "" || $check == --check ]] || { echo "usage: generate.sh [--check]" >&2; exit 2; }

mkdir -p "$repository/.cache"
fresh=$(mktemp -d "$repository/.cache/generated.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
proto=$repository/recommender/proto
image=$proto/baseline.binpb
status=0

# An image that breaks the committed API never replaces it.
buf="$repository/.cache/buf/bin/buf"
[[ ! -e $image ]] || "$buf" breaking "$proto" --against "$image" || exit 1
"$buf" build "$proto" --exclude-source-info -o "$fresh/baseline.binpb"
if [[ $check ]]; then
  cmp "$image" "$fresh/baseline.binpb" || status=1
else
  cp "$fresh/baseline.binpb" "$image"
fi

# Go; the plugins are pinned as tools in its go.mod. Set-up writes Python's code.
mkdir "$fresh/go"
mapfile -t protos < <(cd "$proto" && find sluice -name '*.proto' | sort)
cd "$proto/go"
plugin=$(go tool -n protoc-gen-go) grpc_plugin=$(go tool -n protoc-gen-go-grpc)
"$PYTHON" -m grpc_tools.protoc -I "$proto" \
  --plugin=protoc-gen-go="$plugin" --plugin=protoc-gen-go-grpc="$grpc_plugin" \
  --go_out="$fresh/go" --go_opt=module=sluice.dev/api --go-grpc_out="$fresh/go" --go-grpc_opt=module=sluice.dev/api "${protos[@]}"

# Each package has a folder of its own.
while read -r package; do
  kept=$proto/go/$package
  if [[ $check ]]; then
    diff -ru "$kept" "$fresh/go/$package" || status=1
  else
    mkdir -p "$kept"
    find "$kept" -type f -delete
    cp -r "$fresh/go/$package/." "$kept/"
  fi
done < <(cd "$proto/sluice" && find . -name '*.proto' -printf '%P\n' | xargs -n1 dirname | sort -u)

# Collectors. The modules' versions are `make lock`'s: go.mod stays as it is.
declare -A collectors=([collector/local]=collector/builder.yaml [collector/kubernetes]=collector/builder-kubernetes.yaml
  [tests/bench/collector]=tests/bench/collector/builder.yaml)
cd "$fresh"
for directory in "${!collectors[@]}"; do
  mkdir -p "$directory"
  "$repository/.cache/bin/builder" --config "$repository/${collectors[$directory]}" \
    --skip-compilation --skip-get-modules > "$fresh/builder.log" 2>&1 || { cat "$fresh/builder.log" >&2; exit 1; }
  for file in "$fresh/$directory/"*.go; do
    if [[ $check ]]; then
      diff -u "$repository/$directory/$(basename "$file")" "$file" || status=1
    else
      cp "$file" "$repository/$directory/"
    fi
  done
done

# The streaming jobs' sinks and row types
cd "$repository"
PYTHONPATH=storage "$PYTHON" -m schema ${check:+--check} || status=1

# Dashboards
if [[ -d $repository/dashboards/generate ]]; then
  PYTHONPATH=dashboards "$PYTHON" -m generate ${check:+--check} || status=1
fi

# Reference pages of docs/
PYTHONPATH=recommender/decide/src:storage:deploy/alerts "$PYTHON" -m docs.generate ${check:+--check} || status=1

# Alerts: the chart's, Prometheus' and Grafana's form
"$PYTHON" deploy/alerts/alert_forms.py ${check:+--check} || status=1

# Charts: schemas and tables of their values, and the rendered examples; `make lint-deploy` compares them
if [[ ! $check ]]; then
  "$PYTHON" deploy/helm/check.py --write || status=1
fi

if [[ $status != 0 ]]; then
  echo "generated code is not current: run \`make generate\` and commit what it changes" >&2
fi
exit $status
