{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* Returns the volumes that the sidecar adds to the pod, as a YAML list. */}}
{{- define "vector-sidecar.volumes" }}
{{- $sidecar := .Values.sidecar }}
{{- $volumes := list }}
{{- if not (include "vector-sidecar.userMounts" (dict "mounts" $sidecar.volumeMounts "path" "/etc/vector")) }}
{{- $volumes = append $volumes (dict
  "name" (include "vector-sidecar.volumeName" (dict "sidecar" $sidecar.name "purpose" "config"))
  "configMap" (dict "name" (include "vector-sidecar.configMapName" .))) }}
{{- end }}
{{- $volumes = concat $volumes (include "vector-sidecar.emptyDirs" . | fromYamlArray) }}
{{- range $id, $secret := include "vector-sidecar.secrets" . | fromYaml }}
{{- $volumes = append $volumes (dict
  "name" (include "vector-sidecar.volumeName" (dict "sidecar" $sidecar.name "purpose" (printf "secret-%s" $id)))
  "secret" (dict "secretName" $secret)) }}
{{- end }}
{{- toYaml $volumes }}
{{- end }}

{{- /* Returns the sidecar's volumes that are emptyDirs. */}}
{{- define "vector-sidecar.emptyDirs" }}
{{- $sidecar := .Values.sidecar }}
{{- $volumes := list }}
{{- if not (include "vector-sidecar.userMounts" (dict "mounts" $sidecar.volumeMounts "path" "/var/lib/vector")) }}
{{- $volumes = append $volumes (dict
  "name" (include "vector-sidecar.volumeName" (dict "sidecar" $sidecar.name "purpose" "data"))
  "emptyDir" (dict "sizeLimit" $sidecar.data.sizeLimit)) }}
{{- end }}
{{- $logs := include "vector-sidecar.logs" . | fromYaml }}
{{- if $logs.share }}
{{- $emptyDir := dict }}
{{- with $sidecar.logs.sizeLimit }}{{ $_ := set $emptyDir "sizeLimit" . }}{{ end }}
{{- $volumes = append $volumes (dict "name" $logs.mount.name "emptyDir" $emptyDir) }}
{{- end }}
{{- with include "vector-sidecar.socketFile" . | fromYaml }}
{{- if .isOurs }}{{ $volumes = append $volumes (dict "name" .mount.name "emptyDir" (dict "sizeLimit" "1Mi")) }}{{ end }}
{{- end }}
{{- toYaml $volumes }}
{{- end }}

{{- /*
Returns the mounts of the sidecar container: the sidecar's volumes, the application's log volume, and the user's
mounts.
*/}}
{{- define "vector-sidecar.volumeMounts" }}
{{- $sidecar := .Values.sidecar }}
{{- $mounts := list }}
{{- if not (include "vector-sidecar.userMounts" (dict "mounts" $sidecar.volumeMounts "path" "/etc/vector")) }}
{{- $mounts = append $mounts (dict
  "name" (include "vector-sidecar.volumeName" (dict "sidecar" $sidecar.name "purpose" "config"))
  "mountPath" "/etc/vector" "readOnly" true) }}
{{- end }}
{{- if not (include "vector-sidecar.userMounts" (dict "mounts" $sidecar.volumeMounts "path" "/var/lib/vector")) }}
{{- $mounts = append $mounts (dict
  "name" (include "vector-sidecar.volumeName" (dict "sidecar" $sidecar.name "purpose" "data"))
  "mountPath" "/var/lib/vector") }}
{{- end }}
{{- range $id, $_ := include "vector-sidecar.secrets" . | fromYaml }}
{{- $mounts = append $mounts (dict
  "name" (include "vector-sidecar.volumeName" (dict "sidecar" $sidecar.name "purpose" (printf "secret-%s" $id)))
  "mountPath" (include "vector-sidecar.secretPath" $id) "readOnly" true) }}
{{- end }}
{{- if $sidecar.logs.path }}
{{- $logs := (include "vector-sidecar.logs" . | fromYaml).mount }}
{{- if not (include "vector-sidecar.userMounts" (dict "mounts" $sidecar.volumeMounts "path" $logs.mountPath)) }}
{{- $mounts = append $mounts $logs }}
{{- end }}
{{- end }}
{{- with include "vector-sidecar.socketFile" . | fromYaml }}
{{- if .isOurs }}{{ $mounts = append $mounts .mount }}{{ end }}
{{- end }}
{{- toYaml (concat $mounts $sidecar.volumeMounts) }}
{{- end }}

{{- /*
Returns a map for the log files: mount (of the sidecar), of (the application containers that mount the folder), env
(the variables that subPathExpr of the mount needs), share (the mounts of the application containers that get the
volume from the sidecar) and warning. Returns an empty map without logs.path. A volume of the application at the path
or above it, the deepest one, takes precedence over a volume of the sidecar.
*/}}
{{- define "vector-sidecar.logs" }}
{{- if .Values.sidecar.logs.path }}
{{- $path := trimSuffix "/" .Values.sidecar.logs.path }}
{{- if not $path }}{{ fail "sidecar.logs.path is /, where no volume can be mounted: set it to the folder of the application's log files" }}{{ end }}
{{- $wanted := .Values.sidecar.logs.containers }}
{{- $best := dict }}
{{- $env := list }}
{{- $with := list }}
{{- $without := list }}
{{- range $container := .Values.target.containers }}
{{- $has := "" }}
{{- range .volumeMounts }}
{{- $at := trimSuffix "/" .mountPath }}
{{- if hasPrefix (printf "%s/" $at) (printf "%s/" $path) }}
{{- $has = "true" }}
{{- if gt (len $at) (len (default "" $best.mountPath)) }}
{{- $best = dict "name" .name "mountPath" $at "readOnly" true }}
{{- $env = list }}
{{- if .subPath }}{{ $_ := set $best "subPath" .subPath }}{{ end }}
{{- if .subPathExpr }}
{{- $_ := set $best "subPathExpr" .subPathExpr }}
{{- $env = .env }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if or (has .name $wanted) (has "*" $wanted) }}
{{- if $has }}{{ $with = append $with .name }}{{ else }}{{ $without = append $without .name }}{{ end }}
{{- end }}
{{- end }}
{{- $logs := dict }}
{{- if and $best $without }}
{{- $logs = dict "mount" $best "warning" (printf "the sidecar reads log files from volume %s, which the application mounts at %s; sidecar.logs.containers has no effect on %s" $best.name $best.mountPath (join ", " $without)) }}
{{- else if $best }}
{{- $logs = dict "mount" $best }}
{{- else if $without }}
{{- $name := include "vector-sidecar.volumeName" (dict "sidecar" .Values.sidecar.name "purpose" "logs") }}
{{- $logs = dict "mount" (dict "name" $name "mountPath" $path "readOnly" true) "share" $without }}
{{- else if $wanted }}
{{- fail (printf "sidecar.logs.containers names %s, but %s %s/%s has no such container" (join ", " $wanted) .Values.target.kind .Values.target.namespace .Values.target.name) }}
{{- else }}
{{- fail (printf "sidecar.logs.path is %s, but no container of %s %s/%s mounts a volume there: mount a volume, such as an emptyDir, at the folder of the log files, or list the container in sidecar.logs.containers, so that the sidecar adds a volume" $path .Values.target.kind .Values.target.namespace .Values.target.name) }}
{{- end }}
{{- if include "vector-sidecar.cleans" . }}{{ $_ := set $logs "mount" (omit $logs.mount "readOnly") }}{{ end }}
{{- if $env }}{{ $_ := set $logs "env" $env }}{{ end }}
{{- $of := $logs.share }}
{{- if $best }}
{{- $of = list }}
{{- range $container := .Values.target.containers }}
{{- range .volumeMounts }}
{{- if and (eq .name $best.name) (eq (trimSuffix "/" .mountPath) $best.mountPath) }}{{ $of = append $of $container.name }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- $_ := set $logs "of" $of }}
{{- toYaml $logs }}
{{- end }}
{{- end }}

{{- /*
Returns the variables in the path of the application's log folder, as a YAML list. The sidecar gets the same
variables, so that the same expression results in the same folder.
*/}}
{{- define "vector-sidecar.logsEnv" }}
{{- $sidecar := .Values.sidecar }}
{{- $logs := include "vector-sidecar.logs" . | fromYaml }}
{{- $env := list }}
{{- if $logs.env }}
{{- if not (include "vector-sidecar.userMounts" (dict "mounts" $sidecar.volumeMounts "path" $logs.mount.mountPath)) }}
{{- range $logs.env }}
{{- if not (or (hasKey . "value") (hasKey (default dict .valueFrom) "fieldRef")) }}
{{- $why := "the container of the application does not set the variable in env" }}
{{- if .valueFrom }}{{ $why = printf "its value comes from a %s" (keys .valueFrom | first) }}{{ end }}
{{- include "vector-sidecar.noLogsEnv" (dict "mount" $logs.mount "name" .name "why" $why) }}
{{- end }}
{{- $env = append $env . }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $env }}
{{- end }}

{{- /* Fails, because the sidecar cannot mount the same folder as the application. */}}
{{- define "vector-sidecar.noLogsEnv" }}
{{- fail (printf "the application mounts volume %s at %s by subPathExpr %s, and the sidecar cannot get the variable %s: %s; use only literal values and fields of the pod in the expression, or mount the folder in sidecar.volumeMounts" .mount.name .mount.mountPath .mount.subPathExpr .name .why) }}
{{- end }}

{{- /*
Returns the application containers that get volumes of the sidecar, as a YAML list. Each item contains only the name
and the mounts.
*/}}
{{- define "vector-sidecar.applications" }}
{{- $logs := include "vector-sidecar.logs" . | fromYaml }}
{{- $socket := include "vector-sidecar.socketFile" . | fromYaml }}
{{- $containers := list }}
{{- range $name := concat (default list $logs.share) (default list $socket.share) | uniq }}
{{- $mounts := list }}
{{- if has $name (default list $logs.share) }}{{ $mounts = append $mounts (dict "name" $logs.mount.name "mountPath" $logs.mount.mountPath) }}{{ end }}
{{- if has $name (default list $socket.share) }}{{ $mounts = append $mounts $socket.mount }}{{ end }}
{{- $containers = append $containers (dict "name" $name "volumeMounts" $mounts) }}
{{- end }}
{{- toYaml $containers }}
{{- end }}
