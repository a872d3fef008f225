{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /*
Returns a map with the drain method (method: Sleep or Gate) and a warning if the values request Gate but the sidecar
cannot use it. A gate needs the log files of a rendered configuration, and delays the end of native sidecars only.
*/}}
{{- define "vector-sidecar.drain" }}
{{- $drain := dict "method" "Sleep" }}
{{- if and (eq (default "Sleep" .Values.sidecar.shutdown.method) "Gate") .Values.sidecar.shutdown.drainSeconds }}
{{- $why := "" }}
{{- if not (include "vector-sidecar.isNative" .) }}
{{- $why = "a gate needs a native sidecar" }}
{{- else if not (include "vector-sidecar.rendersConfig" .) }}
{{- $why = "a gate needs a rendered configuration" }}
{{- else if not .Values.sidecar.logs.path }}
{{- $why = "a gate needs log files, and sidecar.logs.path is empty" }}
{{- else if contains "$" (include "vector-sidecar.fileSource" .) }}
{{- $why = "a gate does not resolve variables in the names of log files" }}
{{- end }}
{{- if $why }}
{{- $_ := set $drain "warning" (printf "the sidecar drains by Sleep and not by Gate: %s" $why) }}
{{- else }}
{{- $_ := set $drain "method" "Gate" }}
{{- end }}
{{- end }}
{{- toYaml $drain }}
{{- end }}

{{- /*
Returns a list with the container of the drain gate (cmd/drain-gate), or an empty list if the gate is not needed. The
gate is after Vector in the list of containers, so that the kubelet stops it first, and the gate delays Vector's end.
The gate also removes the socket file of a killed Vector, because the next Vector would otherwise fail to create it.
*/}}
{{- define "vector-sidecar.drainGate" -}}
{{- $sidecar := .Values.sidecar -}}
{{- $gate := $sidecar.shutdown.gate -}}
{{- $drains := eq (include "vector-sidecar.drain" . | fromYaml).method "Gate" -}}
{{- $socket := include "vector-sidecar.socketFile" . | fromYaml -}}
{{- if or $drains $socket -}}
{{- $mounts := list -}}
{{- if $drains }}{{ $mounts = include "vector-sidecar.drainGateMounts" . | fromYamlArray }}{{ end -}}
{{- with $socket.mount }}{{ $mounts = append (include "vector-sidecar.mountsElsewhere" (dict "mounts" $mounts "path" .mountPath) | fromYamlArray) . }}{{ end -}}
- name: {{ include "vector-sidecar.drainGateName" $sidecar.name | quote }}
  image: {{ include "vector-sidecar.image" (list . (required "sidecar.shutdown.gate.image is empty: name the image of cmd/drain-gate, with a tag or a digest" $gate.image)) | quote }}
  imagePullPolicy: {{ $sidecar.imagePullPolicy }}
  {{- if include "vector-sidecar.isNative" . }}
  restartPolicy: Always
  {{- end }}
  args:
    {{- with $socket.path }}
    - {{ printf "--socket=%s" . | quote }}
    {{- end }}
    {{- if $drains }}
    - /var/lib/vector
    - {{ dict "logs" (include "vector-sidecar.fileSource" . | fromYaml) | toJson | quote }}
    {{- end }}
  {{- with include "vector-sidecar.drainGateEnv" (dict "root" . "drains" $drains "mounts" $mounts) | fromYamlArray }}
  env:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "vector-sidecar.resources" (dict "root" . "resources" $gate.resources) | fromYaml }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "vector-sidecar.securityContext" . | fromYaml }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
    {{- toYaml $mounts | nindent 4 }}
{{- end }}
{{- end }}

{{- /* Returns the mounts that are not mounted at the given path, as a YAML list. */}}
{{- define "vector-sidecar.mountsElsewhere" }}
{{- $path := .path }}
{{- $kept := list }}
{{- range .mounts }}
{{- if ne .mountPath $path }}{{ $kept = append $kept . }}{{ end }}
{{- end }}
{{- toYaml $kept }}
{{- end }}

{{- /*
Returns the environment variables of the gate, as a YAML list: the drain duration if the gate drains, and the
sidecar's variables that the mounts of the gate need.
*/}}
{{- define "vector-sidecar.drainGateEnv" }}
{{- $mounts := .mounts }}
{{- $env := list }}
{{- if .drains }}
{{- $env = append $env (dict "name" "VECTORSIDECAR_DRAIN_SECONDS" "value" (toString .root.Values.sidecar.shutdown.drainSeconds)) }}
{{- end }}
{{- range $variable := include "vector-sidecar.env" .root | fromYamlArray }}
{{- $isUsed := "" }}
{{- range $mounts }}
{{- if contains (printf "$(%s)" $variable.name) (default "" .subPathExpr) }}{{ $isUsed = "true" }}{{ end }}
{{- end }}
{{- if $isUsed }}{{ $env = append $env $variable }}{{ end }}
{{- end }}
{{- toYaml $env }}
{{- end }}

{{- /* Returns the name of the gate's container, which starts with the name of the sidecar. */}}
{{- define "vector-sidecar.drainGateName" }}
{{- $name := . }}
{{- if gt (len $name) 52 }}
{{- $name = printf "%s-%s" (trunc 43 $name | trimSuffix "-") (sha256sum $name | trunc 8) }}
{{- end }}
{{- printf "%s-drain-gate" $name }}
{{- end }}

{{- /* Returns read-only mounts of the sidecar's log files and of Vector's checkpoints, as a YAML list. */}}
{{- define "vector-sidecar.drainGateMounts" }}
{{- $logs := printf "%s/" (trimSuffix "/" .Values.sidecar.logs.path) }}
{{- $mounts := list }}
{{- range include "vector-sidecar.volumeMounts" . | fromYamlArray }}
{{- $at := printf "%s/" (trimSuffix "/" .mountPath) }}
{{- if or (hasPrefix $at "/var/lib/vector/") (hasPrefix $at $logs) (hasPrefix $logs $at) }}
{{- $mounts = append $mounts (set . "readOnly" true) }}
{{- end }}
{{- end }}
{{- toYaml $mounts }}
{{- end }}
