#!/usr/bin/env bash
# Builds Sluice's images with buildah or docker: make.sh [NAME...] (none: all). README.md explains what it reads:
#   CHECK=1    builds each twice, without caches, and compares the layers
#   RELEASE=1  builds without caches; refuses a base without a digest, and a checkout with changes
#   BUILDER    buildah or docker (the first on PATH)      PULL  never, or missing (default)
#   BASES      file of the bases (deploy/images/bases.env)
#   REGISTRY   prefix of the names (docker.io)            SOURCE, LICENSES  labels (git's origin; NOASSERTION)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=deploy/images
all=(server actuator collector collector-kubernetes decider job demo)
names=("$@")
(( $# )) || names=("${all[@]}")
builder=${BUILDER:-$(basename "$(command -v buildah || command -v docker || true)")}
[[ $builder ]] || { echo "make images: neither buildah nor docker is on PATH; install one" >&2; exit 1; }
version=${VERSION:-$(sed -n 's/^## v\{0,1\}\([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -1)}
[[ $version ]] || { echo "make images: no version: CHANGELOG.md has no heading like \"## 0.1.0\"; set VERSION" >&2; exit 1; }
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)

bases_file=${BASES:-$here/bases.env}
mapfile -t bases < <(grep -v '^#' "$bases_file")
if [[ ${RELEASE:-} ]]; then
  for base in "${bases[@]}"; do
    [[ $base == *@sha256:* ]] || { echo "make images: ${base%%=*} of $bases_file has no digest; a release needs one" >&2; exit 1; }
  done
  [[ -z $(git status --porcelain) ]] || { echo "make images: the checkout has changes; a release needs a commit" >&2; exit 1; }
elif [[ -n $(git status --porcelain 2>/dev/null) ]]; then revision+=-changed; fi

tag() { echo "${REGISTRY:-docker.io}/sluice/$1:$version"; }
title() { echo "Sluice $1"; }
containerfile() { case $1 in server | actuator | collector*) echo $here/go.Containerfile ;; *) echo "$here/$1.Containerfile" ;; esac; }

build() { # build NAME TAG [OPTION...]
  local name=$1 tag=$2 options=()
  shift 2
  for base in "${bases[@]}"; do options+=(--build-arg "$base"); done
  options+=(--build-arg "VERSION=$version" --build-arg "SOURCE_DATE_EPOCH=$epoch")
  for label in "title=$(title "$name")" "version=$version" "revision=$revision" "created=$created" \
    "source=${SOURCE:-$(git remote get-url origin 2>/dev/null || true)}" "licenses=${LICENSES:-NOASSERTION}"; do
    options+=(--label "org.opencontainers.image.$label")
  done
  [[ $name != demo ]] || options+=(--build-arg "DECIDER=$(tag decider)")
  options+=(--target "$name" -f "$(containerfile "$name")" "$@")
  if [[ $builder == buildah ]]; then
    # Health checks are no part of the OCI format.
    buildah bud --quiet --format docker --layers --timestamp "$epoch" --pull="${PULL:-missing}" \
      --isolation "${BUILDAH_ISOLATION:-chroot}" -t "$tag" "${options[@]}" .
  else
    docker buildx build --quiet --provenance=false --output "type=docker,name=$tag,rewrite-timestamp=true" "${options[@]}" .
  fi
}

layers() { # layers TAG: the digests of its layers without compression
  "$builder" inspect --type image "$1" | python3 -c '
import json, sys
image = json.load(sys.stdin)
print(*(image[0]["RootFS"]["Layers"] if isinstance(image, list) else image["Docker"]["rootfs"]["diff_ids"]), sep="\n")'
}

failed=()
for name in "${names[@]}"; do
  [[ " ${all[*]} " == *" $name "* ]] || { echo "make images: no image $name; there are ${all[*]}" >&2; exit 1; }
  start=$SECONDS
  # buildah takes a layer of another commit out of its cache, with that commit's times.
  build "$name" "$(tag "$name")" ${CHECK:+--no-cache} ${RELEASE:+--no-cache} >/dev/null
  echo "$(tag "$name"): $((SECONDS - start)) s"
  [[ ${CHECK:-} ]] || continue
  start=$SECONDS
  build "$name" "$(tag "$name")-again" --no-cache --build-arg GOCACHE=/tmp/go-build >/dev/null
  if diff <(layers "$(tag "$name")") <(layers "$(tag "$name")-again"); then
    echo "$name: the second build ($((SECONDS - start)) s) has the same layers:"
    layers "$(tag "$name")" | sed 's/^/  /'
  else failed+=("$name"); fi
done
(( ! ${#failed[@]} )) || { echo "make images: built twice, other layers: ${failed[*]}" >&2; exit 1; }
