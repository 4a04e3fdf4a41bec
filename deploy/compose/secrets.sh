#!/bin/sh
# Generates the passwords, the token and the certificates of deploy/compose in secrets/, once: it keeps every file that exists.
# Needs openssl. Remove secrets/ together with the volumes (`docker compose down -v`): the stores keep the old passwords.
set -eu
cd "$(dirname "$0")"
command -v openssl >/dev/null || { echo "secrets.sh: openssl is missing; install it" >&2; exit 1; }
# Containers read the files as their own users, so the files are readable, and only their owner reaches the folder.
umask 022
mkdir -p secrets
chmod 700 secrets

once() { # once FILE COMMAND...: writes the command's output, unless the file exists
  file=secrets/$1
  shift
  [ -s "$file" ] || { "$@" >"$file.new"; mv "$file.new" "$file"; }
}
# The output of openssl goes through a variable, and not a pipe: the script ends where openssl fails.
random() { text=$(openssl rand -hex 24); printf '%s' "$text"; }
sha256() { text=$(openssl dgst -sha256 -r <"$1"); printf '%s' "${text%% *}"; }
neo4j_auth() { printf 'neo4j/%s' "$(cat secrets/neo4j)"; }
tokens() { printf '%s compose read,report,operate\n' "$(cat secrets/token)"; }
users() { # ClickHouse's users: the writer may do everything, the reader reads `sluice` within limits
  writer=$(sha256 secrets/clickhouse_writer)
  reader=$(sha256 secrets/clickhouse_reader)
  cat <<EOF
<clickhouse>
    <profiles>
        <sluice_reader>
            <readonly>2</readonly>
            <max_execution_time>30</max_execution_time>
            <max_memory_usage>536870912</max_memory_usage>
            <max_result_rows>1000000</max_result_rows>
            <constraints>
                <max_execution_time><min>1</min><max>30</max></max_execution_time>
                <max_memory_usage><min>1</min><max>536870912</max></max_memory_usage>
                <max_result_rows><min>1</min><max>1000000</max></max_result_rows>
            </constraints>
        </sluice_reader>
    </profiles>
    <users>
        <sluice_writer>
            <password_sha256_hex>$writer</password_sha256_hex>
            <networks><ip>::/0</ip></networks>
            <profile>default</profile>
            <quota>default</quota>
        </sluice_writer>
        <sluice_reader>
            <password_sha256_hex>$reader</password_sha256_hex>
            <networks><ip>::/0</ip></networks>
            <profile>sluice_reader</profile>
            <quota>default</quota>
            <grants>
                <query>GRANT SELECT, SHOW ON sluice.*</query>
                <query>GRANT SELECT ON system.parts</query>
                <query>GRANT SELECT ON system.view_refreshes</query>
                <query>GRANT SELECT ON system.detached_parts</query>
            </grants>
        </sluice_reader>
    </users>
</clickhouse>
EOF
}
quiet() { "$@" 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }; } # openssl writes its progress to stderr
certificates() { # an authority and the server's certificate, for ten years
  [ -s secrets/server.pem ] && return
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  quiet openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=sluice compose" \
    -keyout "$folder/ca.key" -out "$folder/ca.pem"
  quiet openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=server" \
    -keyout "$folder/server.key" -out "$folder/server.csr"
  printf 'subjectAltName=DNS:server,DNS:localhost,IP:127.0.0.1\n' >"$folder/names"
  quiet openssl x509 -req -in "$folder/server.csr" -CA "$folder/ca.pem" -CAkey "$folder/ca.key" -CAcreateserial -days 3650 \
    -extfile "$folder/names" -out "$folder/server.pem"
  cp "$folder/ca.pem" secrets/ca.pem
  cp "$folder/server.key" secrets/server.key
  chmod 644 secrets/server.key
  cp "$folder/server.pem" secrets/server.pem # last: its presence says that all are there
}

for name in clickhouse_writer clickhouse_reader neo4j token grafana; do once "$name" random; done
once neo4j_auth neo4j_auth
once tokens tokens
once clickhouse_users.xml users
certificates
set -- secrets/*
echo "secrets.sh: $# files in $(pwd)/secrets"
