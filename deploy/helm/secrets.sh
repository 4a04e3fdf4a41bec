#!/bin/sh
# Makes the namespace and the Secret `sluice` of a try-out: passwords of the stores, a token, the server's certificate. It keeps what
# exists: run it again as often as you like. Needs kubectl and openssl.
#   secrets.sh [NAMESPACE [RELEASE]]
set -eu
namespace=${1:-sluice} release=${2:-sluice}
case $release in # as the chart names its objects
  *sluice*) server=$release-server ;;
  *) server=$release-sluice-server ;;
esac
for program in kubectl openssl; do
  command -v "$program" >/dev/null || { echo "secrets.sh: $program is missing; install it" >&2; exit 1; }
done

kubectl get namespace "$namespace" >/dev/null 2>&1 || {
  kubectl create namespace "$namespace"
  kubectl label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted
}
if kubectl -n "$namespace" get secret sluice >/dev/null 2>&1; then
  echo "secrets.sh: the Secret sluice exists in $namespace and stays as it is"
  exit 0
fi

umask 077
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
random() { openssl rand -hex 24 | tr -d '\n'; }
cd "$folder"
for key in clickhouse-password clickhouse-reader-password neo4j-password token; do random >"$key"; done
printf 'neo4j/%s' "$(cat neo4j-password)" >neo4j-auth
printf '%s people read,report,operate\n' "$(cat token)" >tokens

# An authority that signs one certificate and is then thrown away; both hold for a year.
curve="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
openssl req -x509 $curve -days 365 -subj "/CN=sluice try-out" -keyout ca.key -out ca.crt 2>/dev/null
openssl req $curve -subj "/CN=$server" -keyout tls.key -out request 2>/dev/null
printf 'subjectAltName=DNS:%s,DNS:%s,DNS:%s,DNS:localhost,IP:127.0.0.1\n' \
  "$server" "$server.$namespace.svc" "$server.$namespace.svc.cluster.local" >names
openssl x509 -req -in request -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile names -out tls.crt 2>/dev/null
rm ca.key request names ./*.srl
kubectl -n "$namespace" create secret generic sluice --from-file=.
