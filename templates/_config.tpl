{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* "true" unless the configuration is in a ConfigMap of the user's. */}}
{{- define "vector-sidecar.ownsConfig" }}
{{- $ref := default dict .Values.sidecar.config.configMapRef }}
{{- if and .Values.sidecar.config.inline $ref.name }}
{{- fail "sidecar.config has both configMapRef and inline: give one of them, and set the other to null if a layer below gives it" }}
{{- end }}
{{- if not $ref.name }}true{{ end }}
{{- end }}

{{- /* "true" when the configuration is rendered here and not the user's. */}}
{{- define "vector-sidecar.rendersConfig" }}
{{- if and (include "vector-sidecar.ownsConfig" .) (not .Values.sidecar.config.inline) }}true{{ end }}
{{- end }}

{{- /* File name of the configuration; Vector reads the format off its extension. */}}
{{- define "vector-sidecar.configKey" }}
{{- $config := .Values.sidecar.config }}
{{- if not (include "vector-sidecar.ownsConfig" .) }}
{{- $config.configMapRef.key }}
{{- else if and $config.inline (hasKey (fromYaml $config.inline) "Error") (not (hasKey (fromToml $config.inline) "Error")) -}}
vector.toml
{{- else -}}
vector.yaml
{{- end }}
{{- end }}

{{- define "vector-sidecar.configMapName" }}
{{- $name := .Release.Name }}
{{- if gt (len $name) 220 }}
{{- $name = printf "%s-%s" (trunc 200 $name | trimAll "-.") (sha256sum $name | trunc 8) }}
{{- end }}
{{- if not (include "vector-sidecar.ownsConfig" .) }}
{{- .Values.sidecar.config.configMapRef.name }}
{{- else if eq .Values.sidecar.reload "Live" }}
{{- printf "%s-vector" $name }}
{{- else }}
{{- $digest := printf "%s\n%s" (include "vector-sidecar.configKey" .) (include "vector-sidecar.config" .) | sha256sum }}
{{- printf "%s-vector-%s" $name ($digest | trunc 10) }}
{{- end }}
{{- end }}

{{- /* The text of the configuration: the user's as it is, or rendered. */}}
{{- define "vector-sidecar.config" }}
{{- if .Values.sidecar.config.inline }}
{{- .Values.sidecar.config.inline }}
{{- else }}
{{- include "vector-sidecar.renderedConfig" . }}
{{- end }}
{{- end }}

{{- /*
A configuration is built as data and printed by toYaml, so that Vector's own
`{{ field }}` templates in the values stay as they are.
*/}}
{{- define "vector-sidecar.renderedConfig" }}
{{- $sidecar := .Values.sidecar }}
{{- $sources := dict }}
{{- $transforms := dict }}
{{- $sinks := dict }}
{{- $inputs := list }}
{{- if $sidecar.logs.path }}
{{- $include := list }}
{{- range $sidecar.logs.include }}
{{- $include = append $include (printf "%s/%s" (trimSuffix "/" $sidecar.logs.path) .) }}
{{- end }}
{{- $_ := set $sources "logs" (dict "type" "file" "include" $include "read_from" "beginning") }}
{{- $_ := set $transforms "logs_with_pod" (dict "type" "remap" "inputs" (list "logs") "source" (include "vector-sidecar.podFields" .)) }}
{{- $inputs = append $inputs "logs_with_pod" }}
{{- end }}
{{- if $sidecar.otlp.enabled }}
{{- $_ := set $sources "otlp" (dict "type" "opentelemetry"
  "grpc" (dict "address" (printf "127.0.0.1:%d" (int $sidecar.otlp.grpcPort)))
  "http" (dict "address" (printf "127.0.0.1:%d" (int $sidecar.otlp.httpPort)))) }}
{{- $inputs = concat $inputs (list "otlp.logs" "otlp.metrics" "otlp.traces") }}
{{- end }}
{{- range $id, $sink := $sidecar.sinks }}
{{- if and $sink (or $inputs (hasKey (default dict $sink) "inputs")) }}
{{- $_ := set $sinks $id (merge dict $sink (dict "inputs" $inputs)) }}
{{- end }}
{{- end }}
{{- if $sidecar.metrics.enabled }}
{{- $_ := set $sources "vector_metrics" (dict "type" "internal_metrics") }}
{{- $_ := set $sinks "vector_metrics_exporter" (dict "type" "prometheus_exporter"
  "inputs" (list "vector_metrics") "address" (printf "0.0.0.0:%d" (int $sidecar.metrics.port))) }}
{{- end }}
{{- if or (not $sources) (not $sinks) }}
{{- fail "the sidecar would collect nothing: set sidecar.logs.path, sidecar.otlp.enabled or sidecar.metrics.enabled, or give a configuration in sidecar.config" }}
{{- end }}
{{- $config := dict "data_dir" "/var/lib/vector" "sources" $sources "sinks" $sinks }}
{{- if $transforms }}{{ $_ := set $config "transforms" $transforms }}{{ end }}
{{- if include "vector-sidecar.probes" . }}
{{- $_ := set $config "api" (dict "enabled" true "address" (printf "0.0.0.0:%d" (int $sidecar.health.port))) }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{- /* VRL that says which pod a line came from. */}}
{{- define "vector-sidecar.podFields" -}}
.kubernetes.pod_name = get_env_var!("VECTOR_SELF_POD_NAME")
.kubernetes.pod_namespace = get_env_var!("VECTOR_SELF_POD_NAMESPACE")
.kubernetes.node_name = get_env_var!("VECTOR_SELF_NODE_NAME")
.environment = {{ .Values.environment | quote }}
{{- end }}
