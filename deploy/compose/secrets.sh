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
random() { openssl rand -hex 24 | tr -d '\n'; }
sha256() { openssl dgst -sha256 -r <"$1" | cut -d' ' -f1; }
neo4j_auth() { printf 'neo4j/%s' "$(cat secrets/neo4j)"; }
tokens() { printf '%s compose read,report,operate\n' "$(cat secrets/token)"; }
users() { # ClickHouse's users: the writer may do everything, the reader reads `sluice` within limits
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
            <password_sha256_hex>$(sha256 secrets/clickhouse_writer)</password_sha256_hex>
            <networks><ip>::/0</ip></networks>
            <profile>default</profile>
            <quota>default</quota>
        </sluice_writer>
        <sluice_reader>
            <password_sha256_hex>$(sha256 secrets/clickhouse_reader)</password_sha256_hex>
            <networks><ip>::/0</ip></networks>
            <profile>sluice_reader</profile>
            <quota>default</quota>
            <grants>
                <query>GRANT SELECT, SHOW ON sluice.*</query>
                <query>GRANT SELECT ON system.parts</query>
                <query>GRANT SELECT ON system.view_refreshes</query>
            </grants>
        </sluice_reader>
    </users>
</clickhouse>
EOF
}
certificates() { # an authority and the server's certificate, for ten years
  [ -s secrets/server.pem ] && return
  folder=$(mktemp -d)
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=sluice compose" \
    -keyout "$folder/ca.key" -out "$folder/ca.pem" 2>/dev/null
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=server" \
    -keyout "$folder/server.key" -out "$folder/server.csr" 2>/dev/null
  printf 'subjectAltName=DNS:server,DNS:localhost,IP:127.0.0.1\n' >"$folder/names"
  openssl x509 -req -in "$folder/server.csr" -CA "$folder/ca.pem" -CAkey "$folder/ca.key" -CAcreateserial -days 3650 \
    -extfile "$folder/names" -out "$folder/server.pem" 2>/dev/null
  cp "$folder/ca.pem" secrets/ca.pem
  cp "$folder/server.key" secrets/server.key
  chmod 644 secrets/server.key
  cp "$folder/server.pem" secrets/server.pem # last: its presence says that all are there
  rm -r "$folder"
}

for name in clickhouse_writer clickhouse_reader neo4j token grafana; do once "$name" random; done
once neo4j_auth neo4j_auth
once tokens tokens
once clickhouse_users.xml users
certificates
echo "secrets.sh: $(ls secrets | wc -l) files in $(pwd)/secrets"
