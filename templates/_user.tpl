{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /*
Where the sidecar's user comes from: Fixed, Platform or Application. Auto leaves it to a
platform that assigns users, unless the values name another user than the chart's own
65532, which no namespace there has.
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

{{- /* The security context of the sidecar, and of its gate: a YAML map. */}}
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
runAsUser and runAsGroup of the containers whose log folder is read: a YAML map. Without any,
it is empty on a platform that assigns one user to all containers of a pod.
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
{{- fail (printf "sidecar.user is Application, and container %s of %s runs as root, which the sidecar may not: let it run as another user, %s" $name (include "vector-sidecar.targetName" $root) $fixed) }}
{{- end }}
{{- else if ne $root.Values.cluster.platform "OpenShift" }}
{{- fail (printf "sidecar.user is Application, and container %s of %s does not say which user it runs as: name the user of its image in its securityContext.runAsUser, %s" $name (include "vector-sidecar.targetName" $root) $fixed) }}
{{- end }}
{{- $_ := set $users (toJson (pick $user "runAsUser")) $name }}
{{- if not $found }}{{ $found = $user }}{{ end }}
{{- end }}
{{- if gt (len $users) 1 }}
{{- fail (printf "sidecar.user is Application, and containers %s of %s, which share the log folder, run as different users: let them run as one, %s" (values $users | sortAlpha | join " and ") (include "vector-sidecar.targetName" $root) $fixed) }}
{{- end }}
{{- toYaml $found }}
{{- end }}

{{- /* The workload as messages name it. Only they read it: what is rendered is the same for many. */}}
{{- define "vector-sidecar.targetName" }}
{{- printf "%s %s/%s" .Values.target.kind .Values.target.namespace .Values.target.name }}
{{- end }}
