{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* The pod volumes that the sidecar brings: a YAML list. */}}
{{- define "vector-sidecar.volumes" }}
{{- $sidecar := .Values.sidecar }}
{{- $volumes := list }}
{{- if not (include "vector-sidecar.userMounts" (dict "mounts" $sidecar.volumeMounts "path" "/etc/vector")) }}
{{- $volumes = append $volumes (dict
  "name" (include "vector-sidecar.volumeName" (dict "sidecar" $sidecar.name "purpose" "config"))
  "configMap" (dict "name" (include "vector-sidecar.configMapName" .))) }}
{{- end }}
{{- if not (include "vector-sidecar.userMounts" (dict "mounts" $sidecar.volumeMounts "path" "/var/lib/vector")) }}
{{- $volumes = append $volumes (dict
  "name" (include "vector-sidecar.volumeName" (dict "sidecar" $sidecar.name "purpose" "data"))
  "emptyDir" (dict "sizeLimit" $sidecar.data.sizeLimit)) }}
{{- end }}
{{- toYaml $volumes }}
{{- end }}

{{- /* The container's mounts: ours, the application's log volume, the user's. */}}
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
{{- if $sidecar.logs.path }}
{{- $logs := include "vector-sidecar.logMount" . | fromYaml }}
{{- if not (include "vector-sidecar.userMounts" (dict "mounts" $sidecar.volumeMounts "path" $logs.mountPath)) }}
{{- $mounts = append $mounts $logs }}
{{- end }}
{{- end }}
{{- toYaml (concat $mounts $sidecar.volumeMounts) }}
{{- end }}

{{- /*
The application's mount that holds logs.path, as a mount of the sidecar: the
deepest mount that the path lies in, read-only.
*/}}
{{- define "vector-sidecar.logMount" }}
{{- $path := trimSuffix "/" .Values.sidecar.logs.path }}
{{- $best := dict }}
{{- range .Values.target.containers }}
{{- range .volumeMounts }}
{{- $at := trimSuffix "/" .mountPath }}
{{- if and (hasPrefix (printf "%s/" $at) (printf "%s/" $path)) (gt (len $at) (len (default "" $best.mountPath))) }}
{{- $best = dict "name" .name "mountPath" $at "readOnly" true }}
{{- if .subPath }}{{ $_ := set $best "subPath" .subPath }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- if not $best }}
{{- fail (printf "sidecar.logs.path is %s, but no container of %s %s/%s mounts a volume there: mount one (an emptyDir will do) at the folder that the application logs to" $path .Values.target.kind .Values.target.namespace .Values.target.name) }}
{{- end }}
{{- toYaml $best }}
{{- end }}
