{{- define "actuator.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "actuator.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "actuator.metadata" -}}
name: {{ include "actuator.fullname" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "actuator.labels" . | nindent 2 }}
{{- end }}

{{- define "actuator.labels" -}}
{{ include "actuator.selector" . }}
app.kubernetes.io/component: actuator
app.kubernetes.io/part-of: sluice
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "actuator.image" -}}
{{- $name := ternary (printf "%s/%s" .Values.image.registry .Values.image.repository) .Values.image.repository (ne .Values.image.registry "") -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $name .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end }}

{{/* The actuator's file: what the values say, and what the chart knows. */}}
{{- define "actuator.file" -}}
{{- $kubernetes := ternary (dict "node" "${NODE_NAME}") (dict) (eq .Values.mode "daemonset") -}}
{{- $kubernetes = ternary (merge $kubernetes (dict "soft_resources" true)) $kubernetes .Values.softResources -}}
{{- $known := dict
  "name" (include "actuator.fullname" .)
  "recommender" (dict "address" .Values.recommender.address)
  "state" "/var/lib/sluice"
  "kubernetes" $kubernetes -}}
{{- if not (or .Values.config.discover .Values.config.targets .Values.config.subsets) -}}
{{- $token := ternary (dict "token_file" "/run/secrets/pools/token") (dict) (ne .Values.poolsSecret "") -}}
{{- $target := ternary (dict "handler" $token "hikari" $token "tomcat" $token) (dict) (ne .Values.poolsSecret "") -}}
{{- $declared := list -}}
{{- range ternary (list "") (.Values.watchNamespaces | default (list .Release.Namespace)) .Values.clusterWide -}}
{{- $declared = append $declared (dict "name" (. | default "pods") "kubernetes" (dict "namespace" .) "target" $target) -}}
{{- end -}}
{{- $_ := set $known "discover" $declared -}}
{{- end -}}
{{- toYaml (merge (deepCopy .Values.config) $known) -}}
{{- end }}
