{{/* Names, configuration and arguments of the streaming job, for both modes. */}}

{{/* The generation alone makes the place of checkpoints and of high availability. Options, parallelism and image are no part of it:
     each start takes them, and the newest checkpoint of the place. A checksum of them would go back to an older checkpoint at a
     rollback. */}}
{{- define "sluice.flinkId" -}}
{{ include "sluice.fullname" . }}-jobs-{{ .Values.jobs.generation }}
{{- end }}

{{- define "sluice.flinkStorage" -}}
{{- if .Values.jobs.storage.url -}}
{{ trimSuffix "/" .Values.jobs.storage.url }}/{{ include "sluice.flinkId" . }}
{{- else -}}
file:///var/lib/flink/{{ include "sluice.flinkId" . }}
{{- end -}}
{{- end }}

{{/* A quantity of Kubernetes as Flink writes it. */}}
{{- define "sluice.flinkMemory" -}}
{{- if hasSuffix "Gi" . -}}{{ trimSuffix "Gi" . }}g
{{- else if hasSuffix "Mi" . -}}{{ trimSuffix "Mi" . }}m
{{- else -}}{{ fail (printf "the memory limit %s of Flink is not legal; legal: whole numbers of Mi or Gi" .) }}
{{- end -}}
{{- end }}

{{/* On top of the image's own configuration, which has ports, metrics, the state backend and options of Java. */}}
{{- define "sluice.flinkConfig" -}}
{{- $jobs := .Values.jobs -}}
{{- $storage := include "sluice.flinkStorage" . -}}
{{- $config := dict
  "jobmanager.memory.process.size" (include "sluice.flinkMemory" .Values.sizing.jobManager.limits.memory)
  "taskmanager.memory.process.size" (include "sluice.flinkMemory" .Values.sizing.taskManager.limits.memory)
  "taskmanager.memory.managed.fraction" "0.3"
  "taskmanager.numberOfTaskSlots" ($jobs.slots | toString)
  "parallelism.default" ($jobs.parallelism | toString)
  "pipeline.max-parallelism" ($jobs.maxParallelism | toString)
  "restart-strategy.type" "exponential-delay"
  "restart-strategy.exponential-delay.initial-backoff" "1 s"
  "restart-strategy.exponential-delay.max-backoff" "10 s"
  "restart-strategy.exponential-delay.reset-backoff-threshold" "2 min"
  "restart-strategy.exponential-delay.jitter-factor" "0.1"
  "state.backend.rocksdb.use-bloom-filter" "true"
  "execution.checkpointing.interval" $jobs.checkpointInterval
  "execution.checkpointing.min-pause" "1 s"
  "execution.checkpointing.timeout" "2 min"
  "execution.checkpointing.tolerable-failed-checkpoints" "100"
  "execution.checkpointing.mode" "EXACTLY_ONCE"
  "execution.checkpointing.externalized-checkpoint-retention" "RETAIN_ON_CANCELLATION"
  "execution.checkpointing.num-retained" "2"
  "execution.checkpointing.dir" (printf "%s/checkpoints" $storage)
  "execution.checkpointing.savepoint-dir" (printf "%s/savepoints" $storage)
  "web.rescale.enable" "false"
-}}
{{- if $jobs.storage.url -}}
{{- with $jobs.storage.s3.endpoint -}}{{- $_ := set $config "s3.endpoint" . -}}{{- end -}}
{{- if $jobs.storage.s3.pathStyle -}}{{- $_ := set $config "s3.path.style.access" "true" -}}{{- end -}}
{{- end -}}
{{- if $jobs.highAvailability.enabled -}}
{{- $_ := set $config "high-availability.type" "kubernetes" -}}
{{- $_ := set $config "high-availability.storageDir" (printf "%s/leader" $storage) -}}
{{- end -}}
{{- with $jobs.savepoint -}}{{- $_ := set $config "execution.state-recovery.path" . -}}{{- end -}}
{{- if eq $jobs.mode "deployment" -}}
{{- $_ := set $config "kubernetes.cluster-id" (include "sluice.flinkId" .) -}}
{{- if $jobs.highAvailability.enabled -}}{{- $_ := set $config "high-availability.cluster-id" (include "sluice.flinkId" .) -}}{{- end -}}
{{- $_ := set $config "kubernetes.namespace" .Release.Namespace -}}
{{- $_ := set $config "jobmanager.rpc.address" (printf "%s-jobmanager" (include "sluice.fullname" .)) -}}
{{- $_ := set $config "high-availability.jobmanager.port" "6123" -}}
{{- $_ := set $config "taskmanager.rpc.port" "6122" -}}
{{- $_ := set $config "taskmanager.data.port" "6121" -}}
{{- $_ := set $config "rest.address" (printf "%s-jobmanager" (include "sluice.fullname" .)) -}}
{{- /* While no TaskManager is there, the job waits for one. */ -}}
{{- $_ := set $config "resourcemanager.standalone.start-up-time" "100 d" -}}
{{- end -}}
{{- range $key, $value := $jobs.flinkConfig -}}{{- $_ := set $config $key ($value | toString) -}}{{- end -}}
{{- toYaml $config -}}
{{- end }}

{{/* The arguments of PythonDriver: the program, the jobs, its options. */}}
{{- define "sluice.flinkArguments" -}}
- -pyclientexec
- python3
- -py
- /opt/sluice/streaming-jobs/jobs/run.py
{{- range .Values.jobs.names }}
- {{ . }}
{{- end }}
{{- range $option, $value := .Values.jobs.options }}
- {{ printf "--%s" $option | quote }}
- {{ $value | toString | quote }}
{{- end }}
{{- end }}

{{- define "sluice.flinkEnv" -}}
{{- include "sluice.kafkaEnv" (dict "root" . "properties" "java") }}
{{ include "sluice.clickhouseEnv" (dict "root" . "role" "writer") }}
{{- with .Values.clickhouse.quorum }}
- {name: SLUICE_CLICKHOUSE_QUORUM, value: {{ . | quote }}}
{{- end }}
{{ include "sluice.neo4jEnv" (dict "root" .) }}
{{- if and .Values.jobs.storage.url .Values.jobs.storage.s3.existingSecret }}
- name: AWS_ACCESS_KEY_ID
  valueFrom: {secretKeyRef: {name: {{ .Values.jobs.storage.s3.existingSecret }}, key: {{ .Values.jobs.storage.s3.accessKey }}}}
- name: AWS_SECRET_ACCESS_KEY
  valueFrom: {secretKeyRef: {name: {{ .Values.jobs.storage.s3.existingSecret }}, key: {{ .Values.jobs.storage.s3.secretKey }}}}
{{- end }}
{{- with .Values.jobs.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "sluice.flinkMounts" -}}
- {name: tmp, mountPath: /tmp}
{{- if not .Values.jobs.storage.url }}
- {name: storage, mountPath: /var/lib/flink}
{{- end }}
{{ include "sluice.secretMounts" (dict "root" . "clickhouse" "writer" "neo4j" true "kafka" true) | trim }}
{{- end }}

{{- define "sluice.flinkVolumes" -}}
- {name: tmp, emptyDir: {}}
{{- if not .Values.jobs.storage.url }}
- name: storage
  persistentVolumeClaim:
    claimName: {{ .Values.jobs.storage.volume.existingClaim | default (printf "%s-jobs" (include "sluice.fullname" .)) }}
{{- end }}
{{ include "sluice.secretVolumes" (dict "root" . "clickhouse" "writer" "neo4j" true "kafka" true) | trim }}
{{- end }}
