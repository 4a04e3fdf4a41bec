#!/bin/bash
# Ends the program of a folder, where it is up, and begins it anew. Usage: restart.sh FOLDER
# The folder has run (which becomes the program), signal (which ends it), port (where it listens); pid and log are written.
set -eu
cd "$1"
# Of a process whose first thread has ended the others may still have its port.
gone() {
  local said
  said=$(grep -E '^(State|Threads):' "/proc/$1/status" 2>/dev/null) || return 0
  [[ $said =~ State:[[:space:]]*Z && $said =~ Threads:[[:space:]]*[01]$ ]]
}
if [[ -s pid ]]; then
  old=$(<pid)
  kill -s "$(<signal)" "$old" 2>/dev/null || true
  until gone "$old"; do sleep 0.05; done
fi
setsid ./run >>log 2>&1 </dev/null &
new=$!
echo "$new" >pid
until (exec 3<>"/dev/tcp/127.0.0.1/$(<port)") 2>/dev/null; do
  if gone "$new"; then
    rm pid
    tail -n 5 log >&2
    exit 1
  fi
  sleep 0.05
done
