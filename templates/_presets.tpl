{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /*
Returns the default options of sinks by type. An option in the values takes precedence. Maps such as `encoding` and
`batch` are merged, except the maps in `whole`. The sizes of batches and buffers suit a sidecar, because Vector's own
defaults suit an agent with the memory of a node. A sink in `acknowledged` enables acknowledgements if all its inputs
can wait for them. A file source or an OTLP client can wait, and a socket source cannot. The templates read the
namespace only for a sink that uses it, because a rendering that does not read the namespace serves all namespaces.
*/}}
{{- define "vector-sidecar.sinkPresets" -}}
{{- $aggregator := default dict .Values.global.aggregator -}}
{{- $waits := or .Values.sidecar.logs.path .Values.sidecar.otlp.enabled -}}
{{- $types := list -}}
{{- range .Values.sidecar.sinks }}{{ if . }}{{ $types = append $types (get . "type") }}{{ end }}{{ end -}}
whole: [buffer, labels]
acknowledged: [{{ if $waits }}console, http, elasticsearch, loki, aws_s3, kafka, splunk_hec_logs{{ end }}]
console:
  encoding: {codec: json}
vector:
  {{- with $aggregator.address }}
  address: {{ . | quote }}
  {{- end }}
  compression: true
  acknowledgements: {enabled: {{ and $waits $aggregator.acknowledgements | default false }}}
  buffer: {type: memory, max_events: 2000, when_full: block}
http:
  encoding: {codec: json}
  batch: {max_bytes: 1000000, timeout_secs: 1}
  buffer: {type: memory, max_events: 2000, when_full: block}
elasticsearch:
  compression: gzip
  batch: {max_bytes: 1000000, timeout_secs: 1}
  buffer: {type: memory, max_events: 2000, when_full: block}
{{- if has "loki" $types }}
loki:
  encoding: {codec: json}
  # No label from an event: Vector 0.57 and later refuse one, and Loki wants few.
  labels:
    environment: {{ .Values.environment | quote }}
    namespace: {{ .Release.Namespace | quote }}
    vectorsidecar: {{ .Release.Name | quote }}
  batch: {max_bytes: 1000000, timeout_secs: 1}
  buffer: {type: memory, max_events: 2000, when_full: block}
{{- end }}
{{- if has "aws_s3" $types }}
aws_s3:
  encoding: {codec: json}
  compression: gzip
  key_prefix: {{ printf "%s/%s/%s/%%Y/%%m/%%d/" .Values.environment .Release.Namespace .Release.Name | quote }}
  # A pod that dies loses what it has not uploaded: a minute, in place of five.
  batch: {max_bytes: 10000000, timeout_secs: 60}
  buffer: {type: memory, max_events: 2000, when_full: block}
{{- end }}
kafka:
  encoding: {codec: json}
  compression: lz4
  buffer: {type: memory, max_events: 2000, when_full: block}
  # The library has a queue beside the buffer, which by default holds 100,000 messages.
  librdkafka_options: {queue.buffering.max.messages: "2000"}
splunk_hec_logs:
  encoding: {codec: json}
  compression: gzip
  batch: {max_bytes: 1000000, timeout_secs: 1}
  buffer: {type: memory, max_events: 2000, when_full: block}
{{- end }}

{{- /* Returns the options that the values must set for sinks of each type, each option with an example. */}}
{{- define "vector-sidecar.sinkNeeds" -}}
vector: {address: "vector-aggregator.observability.svc:6000, here or in global.aggregator.address"}
http: {uri: "https://logs.example.com/ingest"}
elasticsearch: {endpoints: "[https://search.example.com:9200]"}
loki: {endpoint: "https://loki.example.com"}
aws_s3: {bucket: "example-logs"}
kafka: {bootstrap_servers: "kafka-0.example.com:9092,kafka-1.example.com:9092", topic: "example-logs"}
splunk_hec_logs: {endpoint: "https://splunk.example.com:8088", default_token: "SECRET[splunk.token]"}
{{- end }}
