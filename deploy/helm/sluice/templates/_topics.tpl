{{/* The topics of files/topics.yaml with the partitions of the values: the topics of the journal are `fixed`, and have one for
     each shard. */}}
{{- define "sluice.topics" -}}
{{- $declared := (.Files.Get "files/topics.yaml" | fromYaml).topics -}}
{{- range $name, $topic := $declared -}}
{{- if $topic.fixed -}}
{{- $_ := set $topic "partitions" (int $.Values.kafka.shards) -}}
{{- else -}}
{{- $_ := set $topic "partitions" (int (get $.Values.kafka.topics.partitions $name | default $topic.partitions)) -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := .Values.kafka.topics.partitions -}}
{{- if not (hasKey $declared $name) -}}
{{- fail (printf "kafka.topics.partitions.%s is no topic; legal: %s" $name (keys $declared | sortAlpha | join ", ")) -}}
{{- end -}}
{{- end -}}
{{- toYaml (dict "topics" $declared) -}}
{{- end }}
