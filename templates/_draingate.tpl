{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /*
How the sidecar drains, as a map: method, Sleep or Gate; warning, why it is not the one
that is asked for. A gate judges files by what is rendered here, and holds back nothing
but native sidecars.
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
The container of the gate, cmd/drain-gate: a list of one, empty where it has nothing to do. It
holds Vector's end back, after which it comes, so that the kubelet tells it to end before Vector;
and it removes the socket of a Vector that was killed, which its successor would fail on.
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

{{- /* Those of mounts that are not at a path: a YAML list. */}}
{{- define "vector-sidecar.mountsElsewhere" }}
{{- $path := .path }}
{{- $kept := list }}
{{- range .mounts }}
{{- if ne .mountPath $path }}{{ $kept = append $kept . }}{{ end }}
{{- end }}
{{- toYaml $kept }}
{{- end }}

{{- /* How long it drains, if it does, and the sidecar's variables that its mounts need: a YAML list. */}}
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

{{- /* Its name, from the sidecar's. */}}
{{- define "vector-sidecar.drainGateName" }}
{{- $name := . }}
{{- if gt (len $name) 52 }}
{{- $name = printf "%s-%s" (trunc 43 $name | trimSuffix "-") (sha256sum $name | trunc 8) }}
{{- end }}
{{- printf "%s-drain-gate" $name }}
{{- end }}

{{- /* The sidecar's mounts that have the log files and Vector's checkpoints, to read: a YAML list. */}}
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
