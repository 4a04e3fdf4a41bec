{{/* Addresses of the stages, for `sluice doctor` in the decider's pod. A stage that this release does not have is none. A
     headless name is one of the gateway's pods. */}}
{{- define "sluice.stagesEnv" -}}
{{- $name := include "sluice.fullname" . -}}
{{- $gateway := .Values.collector.gateway.enabled -}}
{{- $shop := and .Values.demo.enabled .Values.demo.shop.enabled -}}
{{- $flink := printf "http://%s-%s:8081" $name (ternary "jobs-rest" "jobmanager" (eq .Values.jobs.mode "operator")) -}}
- {name: SLUICE_OTLP_GRPC, value: {{ ternary (printf "%s-collector:4317" $name) "none" $gateway | quote }}}
- {name: SLUICE_OTLP_HTTP, value: {{ ternary (printf "%s-collector:4318" $name) "none" $gateway | quote }}}
- {name: SLUICE_COLLECTOR_HEALTH, value: {{ ternary (printf "%s-collector-pods:13133" $name) "none" $gateway | quote }}}
- {name: SLUICE_COLLECTOR_METRICS, value: {{ ternary (printf "%s-collector-pods:8888" $name) "none" $gateway | quote }}}
- {name: SLUICE_FLINK, value: {{ ternary $flink "none" .Values.jobs.enabled | quote }}}
- {name: SLUICE_NEO4J, value: {{ include "sluice.neo4j" . | default "none" | quote }}}
- {name: SLUICE_NEO4J_HTTP, value: none}
- {name: SLUICE_DECIDER, value: "127.0.0.1:9464"}
- {name: SLUICE_ACTUATOR, value: none}
- {name: SLUICE_DEMO, value: {{ ternary (printf "http://%s-shop:8090" $name) "none" $shop | quote }}}
{{- end }}
