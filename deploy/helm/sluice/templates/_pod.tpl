{{/* The metadata of a pod. Takes {root, component, pod, annotations}. */}}
{{- define "sluice.podMetadata" -}}
{{- $annotations := merge (dict) (default (dict) .annotations) (default (dict) .pod.annotations) .root.Values.pods.annotations -}}
labels:
  {{- include "sluice.labels" . | nindent 2 }}
  {{- with merge (dict) (default (dict) .pod.labels) .root.Values.pods.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What every pod's spec has but containers and volumes. Takes {root, component, pod, user, spread, account, token, grace}.
     The restricted pod standard holds; nothing but the account's token, where it is needed, comes in from outside: Kubernetes'
     variables for Services would have SLUICE_ names. */}}
{{- define "sluice.podSpec" -}}
{{- $pods := .root.Values.pods -}}
{{- $selector := include "sluice.selector" . -}}
serviceAccountName: {{ default "default" .account }}
automountServiceAccountToken: {{ default false .token }}
enableServiceLinks: false
terminationGracePeriodSeconds: {{ default 30 .grace }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ default 65532 .user }}
  runAsGroup: {{ default 65532 .user }}
  fsGroup: {{ default 65532 .user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .pod.priorityClassName | default $pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .pod.nodeSelector | default $pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.tolerations | default $pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.affinity | default $pods.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .spread }}
{{- with .pod.topologySpread | default $pods.topologySpread }}
topologySpreadConstraints:
  {{- range . }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: {{ $pods.whenUnsatisfiable }}
    labelSelector:
      matchLabels:
        {{- $selector | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Image and security of a container. Takes {root, image}. */}}
{{- define "sluice.container" -}}
image: {{ include "sluice.image" . | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* Probes of the health listener. A start may take 5 minutes until the loop moves. */}}
{{- define "sluice.probes" -}}
startupProbe:
  httpGet: {path: /livez, port: metrics}
  periodSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /livez, port: metrics}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: metrics}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{/* A disruption budget where more than one replica runs: with one it would hold up every drain. Takes {root, component,
     pdb, replicas}. */}}
{{- define "sluice.pdb" -}}
{{- if and .pdb.enabled (gt (int .replicas) 1) }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "sluice.metadata" . | nindent 2 }}
spec:
  maxUnavailable: {{ .pdb.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "sluice.selector" . | nindent 6 }}
{{- end }}
{{- end }}

{{/* A HorizontalPodAutoscaler by CPU. Takes {root, component, kind, autoscaling}. */}}
{{- define "sluice.hpa" -}}
{{- if .autoscaling.enabled }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "sluice.metadata" . | nindent 2 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: {{ .kind }}
    name: {{ include "sluice.fullname" .root }}-{{ .component }}
  minReplicas: {{ .autoscaling.min }}
  maxReplicas: {{ .autoscaling.max }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ .autoscaling.cpu }}}
{{- end }}
{{- end }}
