{{/* 80 % of a memory limit, for Go's garbage collector: the collector takes no limit from its container. Takes a quantity in
     Mi or Gi. */}}
{{- define "sluice.goMemory" -}}
{{- if hasSuffix "Gi" . -}}
{{- printf "%dMiB" (div (mul 1024 80 (trimSuffix "Gi" . | int)) 100) -}}
{{- else if hasSuffix "Mi" . -}}
{{- printf "%dMiB" (div (mul 80 (trimSuffix "Mi" . | int)) 100) -}}
{{- else -}}
{{- fail (printf "the memory limit %s of a collector is not legal; legal: whole numbers of Mi or Gi" .) -}}
{{- end -}}
{{- end }}

{{/* What both collectors have: receivers of OTLP, and limits. Takes {tls}. */}}
{{- define "sluice.collectorReceivers" -}}
otlp:
  protocols:
    grpc:
      endpoint: 0.0.0.0:4317
      max_recv_msg_size_mib: 32
      {{- if .tls }}
      tls: {cert_file: /run/secrets/otlp/tls.crt, key_file: /run/secrets/otlp/tls.key, reload_interval: 1m}
      {{- end }}
    http:
      endpoint: 0.0.0.0:4318
      {{- if .tls }}
      tls: {cert_file: /run/secrets/otlp/tls.crt, key_file: /run/secrets/otlp/tls.key, reload_interval: 1m}
      {{- end }}
{{- end }}

{{- define "sluice.collectorLimits" -}}
memory_limiter: # refuses (the sender retries) before memory runs out
  check_interval: 1s
  limit_percentage: 80
  spike_limit_percentage: 20
span_limit: # replaces a span that no message holds by a tombstone
  max_bytes: 4194000
{{- end }}

{{- define "sluice.gatewayConfig" -}}
{{- $gateway := .Values.collector.gateway -}}
receivers:
  {{- include "sluice.collectorReceivers" (dict "tls" $gateway.tls.existingSecret) | nindent 2 }}
  {{- if $gateway.workloadMetrics }}
  k8s_cluster: # limits, replicas and conditions of workloads; only the leader reports them
    collection_interval: 10s # container_latency needs a limit in each of its windows
    auth_type: serviceAccount
    k8s_leader_elector: k8s_leader_elector
    {{- with .Values.watchNamespaces }}
    namespaces: {{ toJson . }}
    {{- else }}
    allocatable_types_to_report: [cpu] # a node's utilization is the kubelet's CPU over this, where agents report none
    node_conditions_to_report: [Ready]
    {{- end }}
  {{- end }}
processors:
  {{- include "sluice.collectorLimits" . | nindent 2 }}
exporters:
  kafka:
    brokers: {{ splitList "," (include "sluice.kafka" .) | toJson }}
    client_id: {{ include "sluice.fullname" . }}-collector
    timeout: 10s
    traces: {topic: {{ .Values.kafka.names.otlp_spans }}, encoding: otlp_proto}
    metrics: {topic: {{ .Values.kafka.names.otlp_metrics }}, encoding: otlp_proto}
    producer:
      required_acks: -1 # all in-sync replicas; it also makes the producer idempotent
      compression: lz4
      max_message_bytes: 4194304 # the topic's max.message.bytes; max_size leaves a record its own 100 bytes
      allow_auto_topic_creation: false
    retry_on_failure:
      initial_interval: 500ms
      max_interval: 30s
      max_elapsed_time: 0s # never give up
    sending_queue:
      storage: file_storage
      sizer: bytes
      queue_size: {{ int64 $gateway.queueBytes }} # beyond it the collector refuses requests and drops none
      num_consumers: 8
      batch: # not a batch processor, which acknowledges before the queue has the data
        sizer: bytes
        flush_timeout: 200ms
        min_size: 0 # splits requests, never merges them: a request repeated after a crash has the same bytes
        max_size: 4194000
extensions:
  health_check:
    endpoint: 0.0.0.0:13133
  file_storage:
    directory: /var/lib/sluice
    create_directory: true
    fsync: true # a node that loses power keeps acknowledged requests
    compaction:
      on_rebound: true
      directory: /var/lib/sluice
      cleanup_on_start: true
  {{- if $gateway.workloadMetrics }}
  k8s_leader_elector:
    auth_type: serviceAccount
    lease_name: {{ include "sluice.fullname" . }}-collector
    lease_namespace: {{ .Release.Namespace }}
  {{- end }}
service:
  extensions: [health_check, file_storage{{ if $gateway.workloadMetrics }}, k8s_leader_elector{{ end }}]
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter, span_limit]
      exporters: [kafka]
    metrics:
      receivers: [otlp{{ if $gateway.workloadMetrics }}, k8s_cluster{{ end }}]
      processors: [memory_limiter]
      exporters: [kafka]
  telemetry:
    metrics:
      readers:
        - pull:
            exporter:
              prometheus: {host: 0.0.0.0, port: 8888}
        {{- if not $gateway.tls.existingSecret }}
        - periodic: # to itself: its counters become rows, which v_span_balance compares with the topic
            interval: 10000
            timeout: 1000
            exporter:
              otlp: {protocol: grpc, endpoint: "http://127.0.0.1:4317", insecure: true}
        {{- end }}
{{- end }}

{{- define "sluice.agentConfig" -}}
{{- $agent := .Values.collector.agent -}}
{{- $tls := .Values.collector.gateway.tls.existingSecret -}}
receivers:
  {{- include "sluice.collectorReceivers" (dict) | nindent 2 }}
  {{- if $agent.hostMetrics }}
  hostmetrics: # the node's CPU: /proc/stat of a container is the node's
    collection_interval: 10s
    scrapers:
      cpu:
        metrics:
          system.cpu.utilization: {enabled: true}
  {{- end }}
  {{- if $agent.kubeletMetrics }}
  kubeletstats: # labels of containers, and utilization of limits, would need nodes/proxy, a right to run commands in pods
    collection_interval: 10s
    auth_type: serviceAccount
    endpoint: https://${env:K8S_NODE_IP}:10250
    insecure_skip_verify: {{ $agent.kubeletInsecure }}
    metric_groups: [container, pod, node]
    metrics:
      k8s.node.cpu.usage: {enabled: true}
      container.cpu.usage: {enabled: true}
  {{- end }}
processors:
  {{- include "sluice.collectorLimits" . | nindent 2 }}
  resource/node: # spans have this attribute, by which metrics of the node are joined with them
    attributes:
      - {key: k8s.node.name, value: "${env:K8S_NODE_NAME}", action: insert}
  {{- if gt (len .Values.watchNamespaces) 1 }}
  {{- fail "collector.agent.enabled with watchNamespaces: the agent's processor reads the pods of one namespace or of all; name one, or none, or set collector.agent.enabled=false" }}
  {{- end }}
  k8sattributes: # gives instances their identity: k8s.pod.name, container.id
    auth_type: serviceAccount
    wait_for_metadata: true # else the first spans of a start would have no instance; the start fails after 10 s without
    filter:
      node_from_env_var: K8S_NODE_NAME
      {{- with .Values.watchNamespaces }}
      namespace: {{ first . }}
      {{- end }}
    extract:
      metadata: [k8s.namespace.name, k8s.pod.name, k8s.pod.uid, k8s.pod.start_time, k8s.deployment.name, k8s.node.name, container.id, service.version]
      deployment_name_from_replicaset: true
    pod_association:
      - sources: [{from: resource_attribute, name: k8s.pod.uid}]
      - sources: [{from: resource_attribute, name: k8s.pod.ip}]
      - sources: [{from: connection}]
exporters:
  otlp_grpc:
    endpoint: {{ include "sluice.fullname" . }}-collector:4317
    compression: zstd
    tls: {{ if $tls }}{ca_file: /run/secrets/otlp/ca.crt}{{ else }}{insecure: true}{{ end }}
    # No queue here: the agent answers a sender once a gateway has the request on disk. A queue in an emptyDir would end
    # with the pod, and a folder of the node is outside of the restricted standard.
    sending_queue: {enabled: false}
    retry_on_failure: # within the sender's own time limit
      initial_interval: 200ms
      max_interval: 2s
extensions:
  health_check:
    endpoint: 0.0.0.0:13133
service:
  extensions: [health_check]
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter, k8sattributes, span_limit]
      exporters: [otlp_grpc]
    metrics:
      receivers: [otlp{{ if $agent.hostMetrics }}, hostmetrics{{ end }}{{ if $agent.kubeletMetrics }}, kubeletstats{{ end }}]
      processors: [memory_limiter, k8sattributes, resource/node]
      exporters: [otlp_grpc]
  telemetry:
    metrics:
      readers:
        - pull:
            exporter:
              prometheus: {host: 0.0.0.0, port: 8888}
{{- end }}

{{- define "sluice.collectorProbes" -}}
startupProbe:
  httpGet: {path: /, port: health}
  periodSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /, port: health}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /, port: health}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{- define "sluice.collectorPorts" -}}
- {name: otlp-grpc, containerPort: 4317}
- {name: otlp-http, containerPort: 4318}
- {name: health, containerPort: 13133}
- {name: metrics, containerPort: 8888}
{{- end }}
