{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /*
Returns the sinks by id. Takes a map with root and outputs. If the values set no sinks, the only sink is the
aggregator, or the console without an aggregator. Without outputs, the result contains only sinks with inputs in the
values.
*/}}
{{- define "vector-sidecar.sinks" }}
{{- $root := .root }}
{{- $outputs := .outputs }}
{{- $collects := concat $outputs.logs $outputs.metrics $outputs.traces }}
{{- $given := dict }}
{{- range $id, $sink := $root.Values.sidecar.sinks }}
{{- if $sink }}{{ $_ := set $given $id $sink }}{{ end }}
{{- end }}
{{- if and $collects (not $given) (default dict $root.Values.global.aggregator).address }}
{{- $given = dict "aggregator" (dict "type" "vector") }}
{{- else if and $collects (not $given) }}
{{- $given = dict "console" (dict "type" "console") }}
{{- end }}
{{- $sinks := dict }}
{{- if $given }}
{{- $presets := include "vector-sidecar.sinkPresets" $root | fromYaml }}
{{- $needs := include "vector-sidecar.sinkNeeds" $root | fromYaml }}
{{- range $id, $sink := $given }}
{{- if not $sink.type }}
{{- fail (printf "sidecar.sinks.%s.type is missing: set the type of a Vector sink, such as console, vector, http, elasticsearch, loki, aws_s3, kafka or splunk_hec_logs" $id) }}
{{- end }}
{{- if or $collects (hasKey $sink "inputs") }}
{{- $filled := include "vector-sidecar.sink" (dict "id" $id "sink" $sink "presets" $presets "needs" $needs) | fromYaml }}
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
{{- end }}
{{- toYaml $sinks }}
{{- end }}

{{- /*
Fails if no sink accepts the events that OTLP clients send, because Vector would drop them without a message. The
inputs of a sink may match the output with a pattern.
*/}}
{{- define "vector-sidecar.requireTakers" }}
{{- $inputs := list }}
{{- $types := list }}
{{- range $id, $sink := .sinks }}
{{- if kindIs "slice" $sink.inputs }}{{ $inputs = concat $inputs $sink.inputs }}{{ end }}
{{- $types = append $types (printf "%s (%s)" $id $sink.type) }}
{{- end }}
{{- $isGlobbed := contains "*" (join " " $inputs) }}
{{- $left := list }}
{{- $names := list }}
{{- range $kind := list "metrics" "traces" }}
{{- range get $.outputs $kind }}
{{- if not (or $isGlobbed (has . $inputs)) }}
{{- $left = append $left . }}
{{- $names = append $names $kind }}
{{- end }}
{{- end }}
{{- end }}
{{- if $left }}
{{- fail (printf "sidecar.otlp receives %s, but no sink accepts them: %s; add a sink that accepts them, such as a sink of type vector, http or kafka, or drop them with a sink of type blackhole and inputs [%s]" (join " and " $names) (join ", " $types) (join ", " $left)) }}
{{- end }}
{{- end }}

{{- /* Returns one sink with default options. Takes a map with id, sink, presets and needs. */}}
{{- define "vector-sidecar.sink" }}
{{- $id := .id }}
{{- $sink := deepCopy .sink }}
{{- $preset := get .presets $sink.type | default dict | deepCopy }}
{{- if has $sink.type .presets.acknowledged }}{{ $_ := set $preset "acknowledgements" (dict "enabled" true) }}{{ end }}
{{- range .presets.whole }}
{{- if hasKey $sink . }}{{ $_ := unset $preset . }}{{ end }}
{{- end }}
{{- if hasKey $sink "routing" }}{{ $_ := unset $preset "address" }}{{ end }}
{{- $sink = mergeOverwrite $preset $sink }}
{{- range $key, $example := get .needs $sink.type | default dict }}
{{- if not (or (get $sink $key) (hasKey $sink "routing")) }}
{{- fail (printf "sidecar.sinks.%s.%s is missing: a sink of type %s needs it, such as %s" $id $key $sink.type $example) }}
{{- end }}
{{- end }}
{{- toYaml $sink }}
{{- end }}

{{- /* Returns the kinds of events that a sink with default options accepts, as a YAML list. */}}
{{- define "vector-sidecar.sinkTakes" }}
{{- $codec := dig "encoding" "codec" "" . }}
{{- $takes := list "logs" "metrics" "traces" }}
{{- if has .type (list "loki" "splunk_hec_logs") }}
{{- $takes = list "logs" }}
{{- else if or (eq .type "elasticsearch") (eq $codec "text") }}
{{- $takes = list "logs" "metrics" }}
{{- else if has $codec (list "avro" "cef" "csv" "gelf" "logfmt" "parquet" "raw_message" "syslog") }}
{{- $takes = list "logs" }}
{{- end }}
{{- toYaml $takes }}
{{- end }}
