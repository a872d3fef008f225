{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /*
Returns the origin of the sidecar's user: Fixed, Platform or Application. Auto is Platform if the platform assigns
users, unless the values set another user than 65532, the chart's default, which such a platform assigns to no
namespace.
*/}}
{{- define "vector-sidecar.userFrom" }}
{{- $sidecar := .Values.sidecar }}
{{- $from := default "Auto" $sidecar.user }}
{{- if and (eq $from "Application") (not $sidecar.logs.path) }}{{ $from = "Auto" }}{{ end }}
{{- if eq $from "Auto" }}
{{- $from = "Fixed" }}
{{- if eq .Values.cluster.platform "OpenShift" }}
{{- if eq (int64 (default 65532 (default dict $sidecar.securityContext).runAsUser)) 65532 }}{{ $from = "Platform" }}{{ end }}
{{- end }}
{{- end }}
{{- $from }}
{{- end }}

{{- /* Returns the security context of the sidecar and of its drain gate, as a YAML map. */}}
{{- define "vector-sidecar.securityContext" }}
{{- $context := default dict .Values.sidecar.securityContext }}
{{- $from := include "vector-sidecar.userFrom" . }}
{{- if ne $from "Fixed" }}{{ $context = omit $context "runAsUser" "runAsGroup" }}{{ end }}
{{- if eq $from "Application" }}
{{- $context = merge (include "vector-sidecar.applicationUser" . | fromYaml) $context }}
{{- end }}
{{- toYaml $context }}
{{- end }}

{{- /*
Returns runAsUser and runAsGroup of the containers with the log folder, as a YAML map. The map is empty if no user is
set and the platform assigns one user to all containers of a pod.
*/}}
{{- define "vector-sidecar.applicationUser" }}
{{- $root := . }}
{{- $fixed := "or set sidecar.user to Fixed and sidecar.securityContext.runAsUser to the user that writes the log files" }}
{{- $users := dict }}
{{- $found := dict }}
{{- range $name := (include "vector-sidecar.logs" . | fromYaml).of }}
{{- $user := dig $name dict $root.Values.target.users }}
{{- if hasKey $user "runAsUser" }}
{{- if eq (int64 $user.runAsUser) 0 }}
{{- fail (printf "sidecar.user is Application, and container %s of %s runs as root, which is not allowed for the sidecar: run the container as another user, %s" $name (include "vector-sidecar.targetName" $root) $fixed) }}
{{- end }}
{{- else if ne $root.Values.cluster.platform "OpenShift" }}
{{- fail (printf "sidecar.user is Application, and container %s of %s does not set a user: set securityContext.runAsUser of the container to the user of its image, %s" $name (include "vector-sidecar.targetName" $root) $fixed) }}
{{- end }}
{{- $_ := set $users (toJson (pick $user "runAsUser")) $name }}
{{- if not $found }}{{ $found = $user }}{{ end }}
{{- end }}
{{- if gt (len $users) 1 }}
{{- fail (printf "sidecar.user is Application, and containers %s of %s, which share the log folder, run as different users: run them as the same user, %s" (values $users | sortAlpha | join " and ") (include "vector-sidecar.targetName" $root) $fixed) }}
{{- end }}
{{- toYaml $found }}
{{- end }}

{{- /*
Returns the name of the workload for messages. Only messages may use it, because one rendering serves many workloads.
*/}}
{{- define "vector-sidecar.targetName" }}
{{- printf "%s %s/%s" .Values.target.kind .Values.target.namespace .Values.target.name }}
{{- end }}
