#!/bin/bash
# Starts a role of Flink: standalone-job, jobmanager, taskmanager (each with Flink's own options), or another command.
#
# The configuration is written to /tmp/flink/conf, key by key: the image's, that of /opt/flink/conf/config.yaml and
# /etc/sluice/flink/config.yaml where they are mounted, FLINK_PROPERTIES (lines `key: value`). The last one counts.
set -euo pipefail
export FLINK_CONF_DIR=/tmp/flink/conf
FUNCTIONS=/opt/sluice/streaming-jobs/functions/target/sluice-functions.jar

merge() { # merge FILE...: of each key the last line
  awk '
    /^[ \t]*(#|$)/ { next }
    /^[ \t]/ || !/:/ { print FILENAME ": line " FNR ": not legal; legal: key: value, such as rest.port: 8081" >"/dev/stderr"; exit 1 }
    { key = $0; sub(/[ \t]*:.*/, "", key); if (!(key in value)) order[++n] = key; value[key] = $0 }
    END { for (i = 1; i <= n; i++) print value[order[i]] }' "$@"
}

configure() {
  mkdir -p "$FLINK_CONF_DIR" "$FLINK_LOG_DIR"
  cp -L /opt/sluice/flink/* "$FLINK_CONF_DIR/"
  files=(/opt/sluice/flink/config.yaml)
  for folder in /opt/flink/conf /etc/sluice/flink; do
    for file in "$folder"/*; do
      [ -f "$file" ] || continue
      if [ "${file##*/}" = config.yaml ]; then files+=("$file"); else cp -L "$file" "$FLINK_CONF_DIR/"; fi
    done
  done
  printf '%s\n' "${FLINK_PROPERTIES:-}" >/tmp/flink/properties
  merge "${files[@]}" /tmp/flink/properties >"$FLINK_CONF_DIR/config.yaml"
}

# A start of the job takes this image's plan and these options, and the newest snapshot. Its id is new: TaskManagers that an
# earlier start used refuse other jars of an id that they know. Both programs end the start where they cannot look.
restore() { # restore ARGUMENT...: sets `snapshot`
  forget-plan "$FLINK_CONF_DIR/config.yaml" "$@"
  export FLINK_PLUGINS_DIR=$FLINK_HOME/plugins
  snapshot=$(ROOT_LOG_LEVEL=WARN java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -Dlog4j.configurationFile="$FLINK_CONF_DIR/log4j-console.properties" \
    -cp "$FUNCTIONS:$FLINK_HOME/lib/*" dev.sluice.restore.Main "$@")
}

case ${1:-} in
  standalone-job | jobmanager | taskmanager)
    role=$1
    shift
    configure
    if [ "$role" = standalone-job ]; then
      restore "$@"
      [[ " $* " == *" --job-id "* ]] || set -- --job-id "$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')" "$@"
      [ -z "$snapshot" ] || set -- "-Dexecution.state-recovery.path=$snapshot" "$@"
    fi
    exec "$FLINK_HOME/bin/$role.sh" start-foreground "$@" ;;
  health) # the JobManager's REST, or the TaskManager's metrics
    for port in 8081 9249; do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && exit 0; done
    echo "neither 8081 nor 9249 listens" >&2
    exit 1 ;;
  *)
    configure
    exec "$@" ;;
esac
