{{/* Addresses of the stores, and where pods find their secrets. */}}
{{- define "sluice.kafka" -}}
{{- if .Values.demo.enabled -}}{{ include "sluice.fullname" . }}-kafka:9092{{- else -}}{{ .Values.kafka.brokers }}{{- end -}}
{{- end }}

{{- define "sluice.clickhouse" -}}
{{- if .Values.demo.enabled -}}http://{{ include "sluice.fullname" . }}-clickhouse:8123{{- else -}}{{ .Values.clickhouse.url }}{{- end -}}
{{- end }}

{{- define "sluice.neo4j" -}}
{{- if .Values.demo.enabled -}}bolt://{{ include "sluice.fullname" . }}-neo4j:7687{{- else -}}{{ .Values.neo4j.url }}{{- end -}}
{{- end }}

{{/* Takes {root, properties}: librdkafka or java. */}}
{{- define "sluice.kafkaEnv" -}}
- {name: SLUICE_KAFKA, value: {{ include "sluice.kafka" .root | quote }}}
- {name: SLUICE_TOPIC_PREFIX, value: {{ .root.Values.kafka.topicPrefix | quote }}}
{{- range $topic, $variable := dict "otlp_spans" "SPANS" "otlp_metrics" "METRICS" "otlp_dead_letter" "DEAD_LETTER" }}
{{- $name := index $.root.Values.kafka.names $topic }}
{{- if ne $name $topic }}
- {name: SLUICE_{{ $variable }}_TOPIC, value: {{ $name | quote }}}
{{- end }}
{{- end }}
{{- if .root.Values.kafka.existingSecret }}
- {name: SLUICE_KAFKA_PROPERTIES, value: /run/secrets/kafka/{{ index .root.Values.kafka.keys .properties }}}
{{- end }}
{{- end }}

{{/* Takes {root, role}: reader or writer. */}}
{{- define "sluice.clickhouseEnv" -}}
{{- $clickhouse := .root.Values.clickhouse -}}
- {name: SLUICE_CLICKHOUSE, value: {{ include "sluice.clickhouse" .root | quote }}}
- {name: SLUICE_CLICKHOUSE_DATABASE, value: {{ $clickhouse.database | quote }}}
{{- if eq .role "writer" }}
- {name: SLUICE_CLICKHOUSE_USER, value: {{ $clickhouse.user | quote }}}
{{- if $clickhouse.existingSecret }}
- {name: SLUICE_CLICKHOUSE_PASSWORD_FILE, value: /run/secrets/sluice/clickhouse-password}
{{- end }}
{{- else }}
- {name: SLUICE_CLICKHOUSE_READER, value: {{ $clickhouse.reader | quote }}}
{{- if and $clickhouse.existingSecret $clickhouse.readerPasswordKey }}
- {name: SLUICE_CLICKHOUSE_READER_PASSWORD_FILE, value: /run/secrets/sluice/clickhouse-reader-password}
{{- end }}
{{- end }}
{{- if $clickhouse.tls.existingSecret }}
- {name: SLUICE_CLICKHOUSE_CA, value: /run/secrets/sluice/clickhouse-ca.crt}
{{- end }}
{{- end }}

{{- define "sluice.neo4jEnv" -}}
- {name: SLUICE_NEO4J, value: {{ include "sluice.neo4j" .root | quote }}}
- {name: SLUICE_NEO4J_DATABASE, value: {{ .root.Values.neo4j.database | quote }}}
- {name: SLUICE_NEO4J_USER, value: {{ .root.Values.neo4j.user | quote }}}
{{- if .root.Values.neo4j.existingSecret }}
- {name: SLUICE_NEO4J_PASSWORD_FILE, value: /run/secrets/sluice/neo4j-password}
{{- end }}
{{- if .root.Values.neo4j.tls.existingSecret }}
- {name: SLUICE_NEO4J_CA, value: /run/secrets/sluice/neo4j-ca.crt}
{{- end }}
{{- end }}

{{- define "sluice.healthEnv" -}}
- {name: SLUICE_HEALTH, value: "0.0.0.0:9464"}
- {name: SLUICE_HEALTH_EXPOSE, value: "true"}
{{- with .root.Values.monitoring.otlpEndpoint }}
- {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }}}
{{- end }}
{{- end }}

{{/* Sources of the projected volume `secrets`, mounted as /run/secrets/sluice: only what the component reads. Takes {root,
     clickhouse: reader or writer, neo4j: true, server: true, cli: true}. */}}
{{- define "sluice.secretSources" -}}
{{- $values := .root.Values -}}
{{- if .clickhouse }}
{{- if and $values.clickhouse.existingSecret (or (eq .clickhouse "writer") $values.clickhouse.readerPasswordKey) }}
- secret:
    name: {{ $values.clickhouse.existingSecret }}
    items:
      {{- if eq .clickhouse "writer" }}
      - {key: {{ $values.clickhouse.passwordKey }}, path: clickhouse-password}
      {{- else }}
      - {key: {{ $values.clickhouse.readerPasswordKey }}, path: clickhouse-reader-password}
      {{- end }}
{{- end }}
{{- with $values.clickhouse.tls.existingSecret }}
- secret: {name: {{ . }}, items: [{key: {{ $values.clickhouse.tls.caKey }}, path: clickhouse-ca.crt}]}
{{- end }}
{{- end }}
{{- if .neo4j }}
{{- with $values.neo4j.existingSecret }}
- secret: {name: {{ . }}, items: [{key: {{ $values.neo4j.passwordKey }}, path: neo4j-password}]}
{{- end }}
{{- with $values.neo4j.tls.existingSecret }}
- secret: {name: {{ . }}, items: [{key: {{ $values.neo4j.tls.caKey }}, path: neo4j-ca.crt}]}
{{- end }}
{{- end }}
{{- if .server }}
- secret:
    name: {{ $values.server.tls.existingSecret }}
    items:
      - {key: {{ $values.server.tls.certKey }}, path: tls.crt}
      - {key: {{ $values.server.tls.keyKey }}, path: tls.key}
{{- with $values.server.access.existingSecret }}
- secret: {name: {{ . }}, items: [{key: {{ $values.server.access.tokensKey }}, path: tokens}]}
{{- end }}
{{- with $values.server.access.clientCASecret }}
- secret: {name: {{ . }}, items: [{key: {{ $values.server.access.clientCAKey }}, path: client-ca.crt}]}
{{- end }}
{{- end }}
{{- if and .cli $values.server.enabled $values.server.tls.existingSecret }}
- secret: {name: {{ $values.server.tls.existingSecret }}, items: [{key: {{ $values.server.tls.caKey }}, path: ca.crt}]}
{{- if and $values.server.access.existingSecret $values.server.access.tokenKey }}
- secret: {name: {{ $values.server.access.existingSecret }}, items: [{key: {{ $values.server.access.tokenKey }}, path: token}]}
{{- end }}
{{- end }}
{{- end }}

{{/* Volumes of secrets, and their mounts. Takes what secretSources takes, and kafka: true. */}}
{{- define "sluice.secretVolumes" -}}
{{- $sources := include "sluice.secretSources" . | trim -}}
{{- if $sources }}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- $sources | nindent 6 }}
{{- end }}
{{- if and .kafka .root.Values.kafka.existingSecret }}
- name: kafka
  secret: {secretName: {{ .root.Values.kafka.existingSecret }}, defaultMode: 0440}
{{- end }}
{{- end }}

{{- define "sluice.secretMounts" -}}
{{- if include "sluice.secretSources" . | trim }}
- {name: secrets, mountPath: /run/secrets/sluice, readOnly: true}
{{- end }}
{{- if and .kafka .root.Values.kafka.existingSecret }}
- {name: kafka, mountPath: /run/secrets/kafka, readOnly: true}
{{- end }}
{{- end }}
