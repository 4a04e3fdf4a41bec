#!/bin/bash
# As neo4j's: NEO4J_a_b__c is the setting a.b_c; NEO4J_X_FILE names a file with the value of NEO4J_X; NEO4J_AUTH is
# neo4j/PASSWORD or none. Runs as neo4j (7474) when it starts as root.
set -euo pipefail
if [ "$(id -u)" = 0 ]; then
  for name in $(compgen -e | grep '^NEO4J_.*_FILE$' || true); do
    [ -z "${!name}" ] || export "${name%_FILE}=$(cat "${!name}")"; unset "$name"
  done
  chown -R neo4j:neo4j /data /logs
  exec setpriv --reuid 7474 --regid 7474 --clear-groups "$0" "$@"
fi
for name in $(compgen -e | grep '^NEO4J_.*_FILE$' || true); do export "${name%_FILE}=$(cat "${!name}")"; unset "$name"; done
conf=${NEO4J_CONF:-$NEO4J_HOME/conf}
mkdir -p "$conf"
settings=$conf/neo4j.conf
{
  printf '%s\n' server.default_listen_address=0.0.0.0 server.directories.logs=/logs server.directories.data=/data \
    server.https.enabled=false dbms.usage_report.enabled=false
  compgen -e | grep '^NEO4J_' | grep -Ev '^NEO4J_(AUTH|HOME|CONF|PLUGINS|EDITION|ACCEPT_LICENSE_AGREEMENT|DEBUG)$' | while read -r name; do
    printf '%s=%s\n' "$(sed 's/^NEO4J_//; s/__/\x01/g; s/_/./g; s/\x01/_/g' <<<"$name")" "${!name}"
  done
  [ "${NEO4J_AUTH:-}" != none ] || echo dbms.security.auth_enabled=false
} >"$settings"
export NEO4J_CONF=$conf
java=(java -cp "$NEO4J_HOME/lib/*" -XX:+UseSerialGC -XX:TieredStopAtLevel=1)
case ${NEO4J_AUTH:-neo4j/neo4j} in
  none) ;;
  neo4j/*)
    if [ ! -e /data/dbms/auth.ini ] && [ "${NEO4J_AUTH:-neo4j/neo4j}" != neo4j/neo4j ]; then
      printf '"%s" dbms set-initial-password "%s"\n' org.neo4j.server.startup.Neo4jAdminCommand "${NEO4J_AUTH#neo4j/}" >"$conf/words"
      "${java[@]}" "@$conf/words"
      rm "$conf/words"
    fi ;;
  *) echo "NEO4J_AUTH is not legal; legal: none, neo4j/PASSWORD" >&2; exit 1 ;;
esac
setting() { sed -n "s/^$1=//p" "$settings" | tail -1; }
initial=$(setting server.memory.heap.initial_size) maximal=$(setting server.memory.heap.max_size)
opens=(--add-opens=java.base/{java.nio,java.io,sun.nio.ch,java.util.concurrent})
exec "${java[@]}" ${initial:+-Xms$initial} ${maximal:+-Xmx$maximal} ${opens[@]/%/=ALL-UNNAMED} \
  org.neo4j.server.CommunityEntryPoint --home-dir="$NEO4J_HOME" --config-dir="$conf" --console-mode
