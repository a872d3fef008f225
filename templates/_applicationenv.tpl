{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /*
Returns a map with the environment variables for the application (variables: a list with containers, name and value)
and a warning. A value may contain {kind}, {name} and {namespace} of the workload. The operator replaces them in each
workload, so that one rendering serves all workloads.
*/}}
{{- define "vector-sidecar.applicationEnv" }}
{{- $sidecar := .Values.sidecar }}
{{- $env := default dict $sidecar.applicationEnv }}
{{- $renders := include "vector-sidecar.rendersConfig" . }}
{{- $localhost := include "vector-sidecar.localhost" . }}
{{- $values := list }}
{{- $idle := list }}
{{- with $env.otlp }}
{{- if and $renders $sidecar.otlp.enabled }}
{{- $port := ternary $sidecar.otlp.grpcPort $sidecar.otlp.httpPort (eq . "grpc") }}
{{- $values = append $values (dict "name" "OTEL_EXPORTER_OTLP_ENDPOINT" "value" (printf "http://%s:%d" $localhost (int $port))) }}
{{- $values = append $values (dict "name" "OTEL_EXPORTER_OTLP_PROTOCOL" "value" .) }}
{{- $values = append $values (dict "name" "OTEL_RESOURCE_ATTRIBUTES" "value"
  "service.name={name},service.namespace={namespace},k8s.namespace.name={namespace},k8s.{kind}.name={name}") }}
{{- else }}
{{- $idle = append $idle "otlp" }}
{{- end }}
{{- end }}
{{- with $env.socket }}
{{- if and $renders $sidecar.socket.enabled }}
{{- $address := ternary $sidecar.socket.path (printf "%s:%d" $localhost (int $sidecar.socket.port)) (eq $sidecar.socket.mode "unix") }}
{{- $values = append $values (dict "name" . "value" $address) }}
{{- else }}
{{- $idle = append $idle "socket" }}
{{- end }}
{{- end }}
{{- $tells := list }}
{{- if $env.containers }}
{{- range $values }}{{ $tells = append $tells (merge (dict "containers" $env.containers) .) }}{{ end }}
{{- end }}
{{- $found := dict "variables" $tells }}
{{- if $idle }}
{{- $_ := set $found "warning" (printf "sidecar.applicationEnv.%s has no effect, because sidecar.%s is not enabled or the configuration is not rendered"
  (join " and sidecar.applicationEnv." $idle) (join " and sidecar." $idle)) }}
{{- end }}
{{- toYaml $found }}
{{- end }}
