{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /*
What is filled in for a sink of a type that is listed here. A key that the values give
stays; within `encoding`, `batch` and other maps the rest is filled in, except those in
`whole`. Batches and buffers are sized for a sidecar: Vector's own defaults are for an
agent that has the memory of a node.
*/}}
{{- define "vector-sidecar.sinkPresets" -}}
{{- $aggregator := default dict .Values.global.aggregator -}}
whole: [buffer, labels]
console:
  encoding: {codec: json}
vector:
  {{- with $aggregator.address }}
  address: {{ . | quote }}
  {{- end }}
  compression: true
  acknowledgements: {enabled: {{ default false $aggregator.acknowledgements }}}
  buffer: {type: memory, max_events: 2000, when_full: block}
http:
  encoding: {codec: json}
  batch: {max_bytes: 1000000, timeout_secs: 1}
  buffer: {type: memory, max_events: 2000, when_full: block}
elasticsearch:
  compression: gzip
  batch: {max_bytes: 1000000, timeout_secs: 1}
  buffer: {type: memory, max_events: 2000, when_full: block}
loki:
  encoding: {codec: json}
  # No label from an event: Vector 0.57 and later refuse one, and Loki wants few.
  labels:
    environment: {{ .Values.environment | quote }}
    namespace: {{ .Release.Namespace | quote }}
    vectorsidecar: {{ .Release.Name | quote }}
  batch: {max_bytes: 1000000, timeout_secs: 1}
  buffer: {type: memory, max_events: 2000, when_full: block}
aws_s3:
  encoding: {codec: json}
  compression: gzip
  key_prefix: {{ printf "%s/%s/%s/%%Y/%%m/%%d/" .Values.environment .Release.Namespace .Release.Name | quote }}
  # A pod that dies loses what it has not uploaded: a minute, in place of five.
  batch: {max_bytes: 10000000, timeout_secs: 60}
  buffer: {type: memory, max_events: 2000, when_full: block}
kafka:
  encoding: {codec: json}
  compression: lz4
  buffer: {type: memory, max_events: 2000, when_full: block}
{{- end }}

{{- /* What the values must give for a sink of these types, each with an example. */}}
{{- define "vector-sidecar.sinkNeeds" -}}
vector: {address: "vector-aggregator.observability.svc:6000, here or in global.aggregator.address"}
http: {uri: "https://logs.example.com/ingest"}
elasticsearch: {endpoints: "[https://search.example.com:9200]"}
loki: {endpoint: "https://loki.example.com"}
aws_s3: {bucket: "example-logs"}
kafka: {bootstrap_servers: "kafka-0.example.com:9092,kafka-1.example.com:9092", topic: "example-logs"}
{{- end }}

{{- /*
The sinks by id, from a map of root and outputs. Without any in the values, the
aggregator is one; without an aggregator, the console. Nothing collected, no sink.
*/}}
{{- define "vector-sidecar.sinks" }}
{{- $root := .root }}
{{- $outputs := .outputs }}
{{- $collects := concat $outputs.logs $outputs.metrics $outputs.traces }}
{{- $given := dict }}
{{- range $id, $sink := $root.Values.sidecar.sinks }}
{{- if $sink }}{{ $_ := set $given $id $sink }}{{ end }}
{{- end }}
{{- if and (not $given) (default dict $root.Values.global.aggregator).address }}
{{- $given = dict "aggregator" (dict "type" "vector") }}
{{- else if not $given }}
{{- $given = dict "console" (dict "type" "console") }}
{{- end }}
{{- $sinks := dict }}
{{- range $id, $sink := $given }}
{{- if not $sink.type }}
{{- fail (printf "sidecar.sinks.%s.type is missing: name a sink as Vector documents it, such as console, vector, http, elasticsearch, loki, aws_s3 or kafka" $id) }}
{{- end }}
{{- if or $collects (hasKey $sink "inputs") }}
{{- $filled := include "vector-sidecar.sink" (dict "root" $root "id" $id "sink" $sink) | fromYaml }}
{{- if not (hasKey $sink "inputs") }}
{{- $inputs := list }}
{{- range include "vector-sidecar.sinkTakes" $filled | fromYamlArray }}
{{- $inputs = concat $inputs (get $outputs .) }}
{{- end }}
{{- $_ := set $filled "inputs" $inputs }}
{{- end }}
{{- $_ := set $sinks $id $filled }}
{{- end }}
{{- end }}
{{- toYaml $sinks }}
{{- end }}

{{- /* One sink, filled in, from a map of root, id and sink. */}}
{{- define "vector-sidecar.sink" }}
{{- $id := .id }}
{{- $sink := deepCopy .sink }}
{{- $presets := include "vector-sidecar.sinkPresets" .root | fromYaml }}
{{- $preset := default dict (get $presets $sink.type) }}
{{- range $presets.whole }}
{{- if hasKey $sink . }}{{ $_ := unset $preset . }}{{ end }}
{{- end }}
{{- if hasKey $sink "routing" }}{{ $_ := unset $preset "address" }}{{ end }}
{{- $sink = mergeOverwrite $preset $sink }}
{{- range $key, $example := get (include "vector-sidecar.sinkNeeds" .root | fromYaml) $sink.type | default dict }}
{{- if not (or (get $sink $key) (hasKey $sink "routing")) }}
{{- fail (printf "sidecar.sinks.%s.%s is missing: a sink of type %s needs it, such as %s" $id $key $sink.type $example) }}
{{- end }}
{{- end }}
{{- toYaml $sink }}
{{- end }}

{{- /* The kinds of events that a filled in sink takes: a YAML list. */}}
{{- define "vector-sidecar.sinkTakes" }}
{{- $codec := dig "encoding" "codec" "" . }}
{{- $takes := list "logs" "metrics" "traces" }}
{{- if eq .type "loki" }}
{{- $takes = list "logs" }}
{{- else if or (eq .type "elasticsearch") (eq $codec "text") }}
{{- $takes = list "logs" "metrics" }}
{{- else if has $codec (list "avro" "cef" "csv" "gelf" "logfmt" "parquet" "raw_message" "syslog") }}
{{- $takes = list "logs" }}
{{- end }}
{{- toYaml $takes }}
{{- end }}
