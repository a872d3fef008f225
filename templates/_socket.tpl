{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /*
Returns the source that receives lines from the application, as a YAML map. All users in the pod may write to a socket
file, because applications and the sidecar run as different users.
*/}}
{{- define "vector-sidecar.socketSource" }}
{{- $socket := .Values.sidecar.socket }}
{{- $source := dict "type" "socket" "mode" $socket.mode "decoding" (dict "codec" $socket.codec) }}
{{- if eq $socket.mode "unix" }}
{{- $source = merge $source (dict "path" $socket.path "socket_file_mode" 438) }}
{{- else }}
{{- $_ := set $source "address" (printf "%s:%d" (include "vector-sidecar.localhost" .) (int $socket.port)) }}
{{- end }}
{{- toYaml $source }}
{{- end }}

{{- /*
Returns a map for a socket that is a file: path, mount (of the sidecar), share (the application containers that get
the mount) and isOurs (whether the sidecar adds the volume). Returns an empty map without a socket file.
*/}}
{{- define "vector-sidecar.socketFile" }}
{{- $socket := .Values.sidecar.socket }}
{{- if and $socket.enabled (eq $socket.mode "unix") (include "vector-sidecar.rendersConfig" .) }}
{{- $folder := dir $socket.path }}
{{- $in := printf "%s/" $folder }}
{{- range $own := list "/etc/vector/" "/var/lib/vector/" "/run/secrets/vector/" }}
{{- if or (hasPrefix $own $in) (hasPrefix $in $own) }}
{{- fail (printf "sidecar.socket.path is %s, but the sidecar already uses the folder %s: use another folder" $socket.path (trimSuffix "/" $own)) }}
{{- end }}
{{- end }}
{{- $file := dict "path" $socket.path }}
{{- $given := include "vector-sidecar.userMounts" (dict "mounts" .Values.sidecar.volumeMounts "path" $folder) }}
{{- if $given }}
{{- range .Values.sidecar.volumeMounts }}
{{- if eq (trimSuffix "/" .mountPath) $folder }}{{ $_ := set $file "mount" . }}{{ end }}
{{- end }}
{{- else }}
{{- if eq $folder (trimSuffix "/" .Values.sidecar.logs.path) }}
{{- fail (printf "sidecar.socket.path is %s, in the folder of sidecar.logs.path, which the sidecar mounts already: name another folder, or mount a volume there in sidecar.volumeMounts" $socket.path) }}
{{- end }}
{{- $share := list }}
{{- range .Values.target.containers }}
{{- if or (has .name $socket.containers) (has "*" $socket.containers) }}{{ $share = append $share .name }}{{ end }}
{{- end }}
{{- if not $share }}
{{- fail (printf "sidecar.socket.containers names %s, and %s %s/%s has no such container, so that no container could write to %s: list the containers that write to the socket" (default "none" (join ", " $socket.containers)) .Values.target.kind .Values.target.namespace .Values.target.name $socket.path) }}
{{- end }}
{{- $name := include "vector-sidecar.volumeName" (dict "sidecar" .Values.sidecar.name "purpose" "socket") }}
{{- $file = merge $file (dict "isOurs" true "share" $share "mount" (dict "name" $name "mountPath" $folder)) }}
{{- end }}
{{- toYaml $file }}
{{- end }}
{{- end }}
