{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* Returns a list with the sidecar container. */}}
{{- define "vector-sidecar.container" -}}
{{- $sidecar := .Values.sidecar -}}
- name: {{ $sidecar.name | quote }}
  image: {{ include "vector-sidecar.image" (list . (required "sidecar.image is empty: name an image of Vector, with a tag or a digest" $sidecar.image)) | quote }}
  imagePullPolicy: {{ $sidecar.imagePullPolicy }}
  {{- if include "vector-sidecar.isNative" . }}
  restartPolicy: Always
  {{- end }}
  {{- with include "vector-sidecar.args" . | fromYamlArray }}
  args:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  env:
    {{- include "vector-sidecar.env" . | nindent 4 }}
  {{- with $sidecar.envFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "vector-sidecar.ports" . | fromYamlArray }}
  ports:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "vector-sidecar.liveness" . | fromYaml }}
  livenessProbe:
    httpGet:
      {{- toYaml . | nindent 6 }}
    periodSeconds: 10
    timeoutSeconds: 3
    failureThreshold: {{ include "vector-sidecar.failures" $ }}
  {{- end }}
  {{- $isSleeping := eq (include "vector-sidecar.drain" . | fromYaml).method "Sleep" }}
  {{- if and $isSleeping $sidecar.shutdown.drainSeconds (semverCompare ">=1.30.0-0" (include "vector-sidecar.kubelet" .)) }}
  lifecycle:
    preStop:
      sleep:
        seconds: {{ $sidecar.shutdown.drainSeconds }}
  {{- end }}
  {{- with include "vector-sidecar.resources" (dict "root" . "resources" $sidecar.resources) | fromYaml }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "vector-sidecar.securityContext" . | fromYaml }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
    {{- include "vector-sidecar.volumeMounts" . | nindent 4 }}
{{- end }}

{{- /*
Returns the ports that Vector listens on, including ports on localhost, as a YAML list. The operator can detect
conflicts with ports of the application only for declared ports.
*/}}
{{- define "vector-sidecar.ports" }}
{{- $sidecar := .Values.sidecar }}
{{- $renders := include "vector-sidecar.rendersConfig" . }}
{{- $asked := include "vector-sidecar.liveness" . | fromYaml }}
{{- $ports := list }}
{{- if or (and $renders $sidecar.metrics.enabled) (eq (default "" $asked.path) "/metrics") }}
{{- $ports = append $ports (dict "name" "vector-metrics" "containerPort" $sidecar.metrics.port "protocol" "TCP") }}
{{- end }}
{{- if or (include "vector-sidecar.hasAPI" .) (eq (default "" $asked.path) "/health") }}
{{- $ports = append $ports (dict "name" "vector-api" "containerPort" $sidecar.health.port "protocol" "TCP") }}
{{- end }}
{{- if and $renders $sidecar.socket.enabled (ne $sidecar.socket.mode "unix") }}
{{- $ports = append $ports (dict "name" "vector-socket" "containerPort" $sidecar.socket.port "protocol" (upper $sidecar.socket.mode)) }}
{{- end }}
{{- if and $renders $sidecar.otlp.enabled }}
{{- $ports = append $ports (dict "name" "otlp-grpc" "containerPort" $sidecar.otlp.grpcPort "protocol" "TCP") }}
{{- $ports = append $ports (dict "name" "otlp-http" "containerPort" $sidecar.otlp.httpPort "protocol" "TCP") }}
{{- end }}
{{- toYaml $ports }}
{{- end }}

{{- /* Returns "true" if the templates render the configuration with Vector's API. */}}
{{- define "vector-sidecar.hasAPI" }}
{{- if and (include "vector-sidecar.rendersConfig" .) (ne .Values.sidecar.health.probe "Never") }}true{{ end }}
{{- end }}

{{- /*
Returns path and port of the liveness probe as a YAML map, or an empty map for no probe. The probe reads Vector's
metrics, which do not show events. Vector's API shows events and therefore listens only on localhost, which the
kubelet cannot reach. A user's own configuration may open an API on the pod's address; then the values set the probe.
*/}}
{{- define "vector-sidecar.liveness" }}
{{- $sidecar := .Values.sidecar }}
{{- $renders := include "vector-sidecar.rendersConfig" . }}
{{- $probe := $sidecar.health.probe }}
{{- $api := dict "path" "/health" "port" $sidecar.health.port }}
{{- $metrics := dict "path" "/metrics" "port" $sidecar.metrics.port }}
{{- if and $renders $sidecar.metrics.enabled (ne $probe "Never") }}
{{- toYaml $metrics }}
{{- else if and (not $renders) (eq $probe "Metrics") }}
{{- toYaml $metrics }}
{{- else if and (not $renders) (eq $probe "Always") }}
{{- toYaml $api }}
{{- end }}
{{- end }}

{{- /*
Returns the number of failed probes, ten seconds apart, after which the kubelet kills Vector. Vector stops answering
when its shutdown starts. If only the container ends and the pod stays, the kubelet must not kill Vector before the
shutdown limit has passed. An argument takes precedence over the variable, and without any limit the result is for ten
minutes. A limit that Vector cannot parse changes nothing, because Vector does not start with it.
*/}}
{{- define "vector-sidecar.failures" }}
{{- $limit := .Values.sidecar.shutdown.limitSeconds }}
{{- $seconds := "^[+]?[0-9]{1,9}$" }}
{{- range include "vector-sidecar.env" . | fromYamlArray }}
{{- $value := default "" .value | toString }}
{{- if and (eq .name "VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS") (regexMatch $seconds $value) }}{{ $limit = atoi $value }}{{ end }}
{{- if and (eq .name "VECTOR_NO_GRACEFUL_SHUTDOWN_LIMIT") (eq $value "true") }}{{ $limit = 600 }}{{ end }}
{{- end }}
{{- $before := "" }}
{{- range .Values.sidecar.args }}
{{- $value := "" }}
{{- if eq $before "--graceful-shutdown-limit-secs" }}{{ $value = . }}{{ end }}
{{- if hasPrefix "--graceful-shutdown-limit-secs=" . }}{{ $value = trimPrefix "--graceful-shutdown-limit-secs=" . }}{{ end }}
{{- if regexMatch $seconds $value }}{{ $limit = atoi $value }}{{ end }}
{{- if eq . "--no-graceful-shutdown-limit" }}{{ $limit = 600 }}{{ end }}
{{- $before = . }}
{{- end }}
{{- max 6 (add 2 (div $limit 10)) }}
{{- end }}

{{- /* Returns the arguments as a YAML list. The image's entrypoint is vector. */}}
{{- define "vector-sidecar.args" }}
{{- $own := true }}
{{- range .Values.sidecar.args }}
{{- if or (hasPrefix "--config" .) (hasPrefix "-c" .) (hasPrefix "-C" .) }}{{ $own = false }}{{ end }}
{{- end }}
{{- $args := .Values.sidecar.args }}
{{- if $own }}
{{- $config := list "--config" (printf "/etc/vector/%s" (include "vector-sidecar.configKey" .)) }}
{{- if eq .Values.sidecar.reload "Live" }}{{ $config = append $config "--watch-config" }}{{ end }}
{{- $args = concat $config $args }}
{{- end }}
{{- toYaml $args }}
{{- end }}

{{- /*
Returns the environment variables as a YAML list: first the variables of the templates that the user does not
override, then the user's variables, then the variables that the mount of the log folder needs.
*/}}
{{- define "vector-sidecar.env" }}
{{- $sidecar := .Values.sidecar }}
{{- $ours := list
  (dict "name" "VECTOR_LOG" "value" $sidecar.logLevel)
  (dict "name" "VECTOR_LOG_FORMAT" "value" "json")
  (dict "name" "VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS" "value" (toString $sidecar.shutdown.limitSeconds))
  (dict "name" "VECTOR_SELF_NODE_NAME" "valueFrom" (dict "fieldRef" (dict "apiVersion" "v1" "fieldPath" "spec.nodeName")))
  (dict "name" "VECTOR_SELF_POD_NAME" "valueFrom" (dict "fieldRef" (dict "apiVersion" "v1" "fieldPath" "metadata.name")))
  (dict "name" "VECTOR_SELF_POD_NAMESPACE" "valueFrom" (dict "fieldRef" (dict "apiVersion" "v1" "fieldPath" "metadata.namespace")))
}}
{{- if $sidecar.threads }}
{{- $ours = append $ours (dict "name" "VECTOR_THREADS" "value" (toString $sidecar.threads)) }}
{{- end }}
{{- $taken := dict }}
{{- range $sidecar.env }}{{ $_ := set $taken .name true }}{{ end }}
{{- /* Vector does not start with both a shutdown limit and the flag for no limit. */}}
{{- if or (has "--no-graceful-shutdown-limit" $sidecar.args) (hasKey $taken "VECTOR_NO_GRACEFUL_SHUTDOWN_LIMIT") }}
{{- $_ := set $taken "VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS" true }}
{{- end }}
{{- $env := list }}
{{- range $ours }}
{{- if not (hasKey $taken .name) }}{{ $env = append $env . }}{{ end }}
{{- end }}
{{- $env = concat $env $sidecar.env }}
{{- range include "vector-sidecar.logsEnv" . | fromYamlArray }}
{{- $wanted := . }}
{{- $found := dict }}
{{- range $env }}{{ if eq .name $wanted.name }}{{ $found = . }}{{ end }}{{ end }}
{{- if not $found }}
{{- $env = append $env $wanted }}
{{- else if ne (include "vector-sidecar.variable" $found) (include "vector-sidecar.variable" $wanted) }}
{{- $mount := (include "vector-sidecar.logs" $ | fromYaml).mount }}
{{- include "vector-sidecar.noLogsEnv" (dict "mount" $mount "name" .name "why" "the sidecar already has a variable with this name and another value") }}
{{- end }}
{{- end }}
{{- toYaml $env }}
{{- end }}

{{- /* Returns the value or the source of a variable, for comparisons with another variable. */}}
{{- define "vector-sidecar.variable" }}
{{- if .valueFrom }}
{{- omit (default dict .valueFrom.fieldRef) "apiVersion" | default .valueFrom | toJson }}
{{- else }}
{{- default "" .value | toJson }}
{{- end }}
{{- end }}
