#!/usr/bin/env bash
# debian:bookworm-slim from the packages that this machine's apt has, with this machine's certificates. Arguments: the
# folder for the archive. Needs root, mmdebstrap and podman.
set -euo pipefail
folder=$1
sources=$(find /etc/apt -name debian.sources -o -name sources.list | sort | tail -1)
certificates=/usr/local/share/ca-certificates
mmdebstrap --variant=minbase --include=ca-certificates \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --customize-hook="[ ! -d $certificates ] || cp -rT $certificates \"\$1$certificates\"" \
  --customize-hook='chroot "$1" update-ca-certificates' \
  --customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/log/*' \
  bookworm "$folder/base.tar" "$sources"
podman import --quiet --change 'CMD ["bash"]' "$folder/base.tar" docker.io/library/debian:bookworm-slim
rm "$folder/base.tar"
