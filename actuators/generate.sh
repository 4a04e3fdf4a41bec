#!/bin/sh
# Writes gen/ from recommender/proto. PYTHON names an interpreter that has grpcio-tools (it brings protoc);
# the two plugins are pinned as tools in go.mod.
set -eu
room=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$room")
python=${PYTHON:-"$root/.cache/venvs/sluice/bin/python"}

cd "$room"
go_plugin=$(go tool -n protoc-gen-go)
grpc_plugin=$(go tool -n protoc-gen-go-grpc)

rm -rf gen
mkdir gen
cd "$root/recommender/proto"
# shellcheck disable=SC2046 # the paths hold no spaces
"$python" -m grpc_tools.protoc -I . \
    --plugin=protoc-gen-go="$go_plugin" --plugin=protoc-gen-go-grpc="$grpc_plugin" \
    --go_out="$room/gen" --go_opt=module=sluice.dev/actuators/gen \
    --go-grpc_out="$room/gen" --go-grpc_opt=module=sluice.dev/actuators/gen \
    $(find sluice -name '*.proto' | sort)
