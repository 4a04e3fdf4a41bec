#!/usr/bin/env bash
# Builds images under the names of official ones from the packages and caches of this machine. README.md says what each
# can show. Arguments: names (none: all). Needs root, podman, buildah, mmdebstrap, and `make setup` before.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../../.." && pwd)
cache=$repository/.cache
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # build NAME FOLDER [OPTION...]
  local name=$1 folder=$2
  shift 2
  echo "$name"
  buildah bud --quiet --isolation chroot --pull=never --layers -t "docker.io/$name" "$@" "$folder"
}
context() { # a folder with the files of FOLDER, and more: context FOLDER [SOURCE=NAME...]
  local folder=$work/$1
  cp -r "$here/$1" "$folder"
  shift
  for pair in "$@"; do cp -rL "${pair%%=*}" "$folder/${pair#*=}"; done
  echo "$folder"
}

names=("$@")
(( $# )) || names=(debian golang python java maven kafka neo4j clickhouse)
for name in "${names[@]}"; do
  case $name in
    debian) "$here/base.sh" "$work" ;;
    golang) build library/golang:1.26-bookworm "$(go env GOROOT)" -f "$here/golang/Containerfile" ;;
    python) build library/python:3.11-slim-bookworm "$here/python" ;;
    java) build library/eclipse-temurin:17-jre "$here/java" --target jre ;;
    maven) build library/maven:3.9-eclipse-temurin-17 "$here/java" --target maven ;;
    kafka) build apache/kafka:4.3.1 "$(context kafka "$cache/kafka/lib=lib")" ;;
    neo4j) build library/neo4j:5.26.30-community "$(context neo4j "$cache/neo4j/lib=lib")" ;;
    clickhouse)
      engine=$repository/deploy/local/clickhouse
      build clickhouse/clickhouse-server:26.7.5.10 \
        "$(context clickhouse "$cache/clickhouse=lib" "$engine/serve.py=serve.py" "$engine/confine.py=confine.py" "$engine/space.py=space.py")" ;;
    *) echo "no stand-in of this name: $name; legal: debian golang python java maven kafka neo4j clickhouse" >&2; exit 1 ;;
  esac
done
