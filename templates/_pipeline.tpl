{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* Returns the configuration for the values logs, socket, otlp, metrics, secrets and sinks. */}}
{{- define "vector-sidecar.renderedConfig" }}
{{- $sidecar := .Values.sidecar }}
{{- $intake := include "vector-sidecar.intake" . | fromYaml }}
{{- $sources := default dict $intake.sources }}
{{- $sinks := include "vector-sidecar.sinks" (dict "root" . "outputs" $intake.outputs) | fromYaml }}
{{- include "vector-sidecar.requireTakers" (dict "outputs" $intake.outputs "sinks" $sinks) }}
{{- if include "vector-sidecar.cleans" . }}
{{- include "vector-sidecar.requireNoAcknowledgements" (dict "root" . "sinks" $sinks) }}
{{- $_ := set $sources "logs_cleanup" (include "vector-sidecar.cleanupSource" . | fromYaml) }}
{{- $_ := set $sinks "logs_cleanup_read" (dict "type" "blackhole" "inputs" (list "logs_cleanup")) }}
{{- end }}
{{- if $sidecar.metrics.enabled }}
{{- $_ := set $sources "vector_metrics" (dict "type" "internal_metrics") }}
{{- $_ := set $sinks "vector_metrics_exporter" (dict "type" "prometheus_exporter"
  "inputs" (list "vector_metrics") "address" (printf "%s:%d" (include "vector-sidecar.anyAddress" .) (int $sidecar.metrics.port))) }}
{{- end }}
{{- if or (not $sources) (not $sinks) }}
{{- fail "the sidecar would collect no data: set sidecar.logs.path, sidecar.socket.enabled, sidecar.otlp.enabled or sidecar.metrics.enabled, or write a configuration in sidecar.config" }}
{{- end }}
{{- $config := dict "data_dir" "/var/lib/vector" "sources" $sources "sinks" $sinks }}
{{- with $intake.transforms }}{{ $_ := set $config "transforms" . }}{{ end }}
{{- with include "vector-sidecar.secrets" . | fromYaml }}
{{- $backends := dict }}
{{- range $id, $_ := . }}
{{- $_ := set $backends $id (dict "type" "directory" "path" (include "vector-sidecar.secretPath" $id) "remove_trailing_whitespace" true) }}
{{- end }}
{{- $_ := set $config "secret" $backends }}
{{- end }}
{{- if include "vector-sidecar.hasAPI" . }}
{{- /* Vector's API listens only on localhost: it has no authentication, and clients can read all events (vector tap). */}}
{{- $host := include "vector-sidecar.localhost" . }}
{{- $_ := set $config "api" (dict "enabled" true "address" (printf "%s:%d" $host (int $sidecar.health.port))) }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{- /*
Returns a map with the sources, the transforms, and outputs: the ids from which sinks read, by the kind of event. Each
log event gets the fields of the pod.
*/}}
{{- define "vector-sidecar.intake" }}
{{- $sidecar := .Values.sidecar }}
{{- $sources := dict }}
{{- $logs := list }}
{{- $outputs := dict "logs" list "metrics" list "traces" list }}
{{- if $sidecar.logs.path }}
{{- $_ := set $sources "logs" (include "vector-sidecar.fileSource" . | fromYaml) }}
{{- $logs = append $logs "logs" }}
{{- end }}
{{- if $sidecar.socket.enabled }}
{{- $_ := set $sources "socket" (include "vector-sidecar.socketSource" . | fromYaml) }}
{{- $logs = append $logs "socket" }}
{{- end }}
{{- if $sidecar.otlp.enabled }}
{{- $localhost := include "vector-sidecar.localhost" . }}
{{- $_ := set $sources "otlp" (dict "type" "opentelemetry"
  "grpc" (dict "address" (printf "%s:%d" $localhost (int $sidecar.otlp.grpcPort)))
  "http" (dict "address" (printf "%s:%d" $localhost (int $sidecar.otlp.httpPort)))) }}
{{- $logs = append $logs "otlp.logs" }}
{{- $outputs = dict "logs" list "metrics" (list "otlp.metrics") "traces" (list "otlp.traces") }}
{{- end }}
{{- $transforms := dict }}
{{- if $logs }}
{{- $_ := set $transforms "logs_with_pod" (dict "type" "remap" "inputs" $logs "source" (include "vector-sidecar.podFields" .)) }}
{{- $_ := set $outputs "logs" (list "logs_with_pod") }}
{{- end }}
{{- dict "sources" $sources "transforms" $transforms "outputs" $outputs | toYaml }}
{{- end }}

{{- /* Returns the source that reads the application's log files, as a YAML map. */}}
{{- define "vector-sidecar.fileSource" }}
{{- $logs := .Values.sidecar.logs }}
{{- $folder := trimSuffix "/" $logs.path }}
{{- $include := list }}
{{- $ends := list "gz" "bz2" "xz" "zst" "lz4" "zip" }}
{{- range $pattern := $logs.include }}
{{- $include = append $include (printf "%s/%s" $folder $pattern) }}
{{- range $end := $ends }}
{{- if hasSuffix (printf ".%s" $end) $pattern }}{{ $ends = without $ends $end }}{{ end }}
{{- end }}
{{- end }}
{{- $source := dict "type" "file" "include" $include "read_from" "beginning" }}
{{- if $ends }}
{{- $exclude := list }}
{{- range $ends }}{{ $exclude = append $exclude (printf "%s/*.%s" $folder .) }}{{ end }}
{{- $_ := set $source "exclude" $exclude }}
{{- end }}
{{- $fingerprint := default dict $logs.fingerprint }}
{{- if eq (default "" $fingerprint.strategy) "DeviceAndInode" }}
{{- $_ := set $source "fingerprint" (dict "strategy" "device_and_inode") }}
{{- else if gt (int (default 1 $fingerprint.lines)) 1 }}
{{- $_ := set $source "fingerprint" (dict "strategy" "checksum" "lines" (int $fingerprint.lines)) }}
{{- end }}
{{- with $logs.ignoreOlderSeconds }}{{ $_ := set $source "ignore_older_secs" (int .) }}{{ end }}
{{- with $logs.maxLineBytes }}{{ $_ := set $source "max_line_bytes" (int .) }}{{ end }}
{{- toYaml $source }}
{{- end }}
