#!/usr/bin/env bash
# Writes the images that the charts and Compose name to archives, for the node of `make test-cluster`: save-images.sh [FOLDER].
# BUILDER is buildah or docker (the first on PATH).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-${SLUICE_IMAGES:-.cache/images}}
builder=${BUILDER:-$(basename "$(command -v buildah || command -v docker || true)")}
[[ $builder ]] || { echo "save-images.sh: neither buildah nor docker is on PATH; install one" >&2; exit 1; }
version=$(sed -n 's/^appVersion: "\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' deploy/helm/sluice/Chart.yaml)
store() { sed -n "/^demo:/,\$s/^    image: \(.*$1.*\)/\1/p" deploy/helm/sluice/values.yaml; }
mkdir -p "$folder"

save() { # save NAME IMAGE
  local image=$2
  [[ $image == */* ]] || image=library/$image
  echo "$folder/$1.tar: $image"
  rm -f "$folder/$1.tar"
  if [[ $builder == buildah ]]; then
    buildah push --quiet "docker.io/$image" "docker-archive:$folder/$1.tar:docker.io/$image"
  else
    docker save --output "$folder/$1.tar" "$2"
  fi
}

for name in server actuator collector collector-kubernetes decider job demo; do save "sluice-$name" "sluice/$name:$version"; done
for name in kafka clickhouse neo4j; do save "$name" "$(store "$name")"; done
