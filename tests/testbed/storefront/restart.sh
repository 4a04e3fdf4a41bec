#!/bin/bash
# Ends the program of a folder, where it is up, and begins it anew. Usage: restart.sh FOLDER
# The folder has run (which becomes the program), signal (which ends it), port (where it listens); pid and log are written.
set -eu
cd "$1"
gone() { [[ ! -e /proc/$1 ]] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status"; }
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
