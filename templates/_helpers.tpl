{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0

Stops `helm install` of this chart. The operator and `helm template` offer the API
versions that Helm ships with; a cluster's own list always has the aggregation
layer, and only an installation sees a cluster's own list.
*/}}
{{- define "vector-sidecar.notInstallable" }}
{{- if .Capabilities.APIVersions.Has "apiregistration.k8s.io/v1" }}
{{- fail "this chart is rendered by the Vector Sidecar Operator and cannot be installed itself; to install the operator: helm install vso ./chart" }}
{{- end }}
{{- end }}

{{- /* A version that no kubelet of the cluster is older than. */}}
{{- define "vector-sidecar.kubelet" }}
{{- .Values.cluster.kubelet }}
{{- end }}

{{- /* "true" for a native sidecar, else empty. */}}
{{- define "vector-sidecar.isNative" }}
{{- $native := .Values.sidecar.native }}
{{- if or (eq $native "Always") (and (eq $native "Auto") (semverCompare ">=1.29.0-0" (include "vector-sidecar.kubelet" .))) }}true{{ end }}
{{- end }}

{{- /* An image, from the registry in global.imageRegistry if it names one. Takes a list: the root, and the image. */}}
{{- define "vector-sidecar.image" }}
{{- $image := last . }}
{{- with (first .).Values.global.imageRegistry }}
{{- $image = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^(localhost|[^/]*[.:][^/]*)/" $image "") }}
{{- end }}
{{- $image }}
{{- end }}

{{- /* Name of a volume of ours: a prefix that no application uses, the sidecar, the purpose. */}}
{{- define "vector-sidecar.volumeName" }}
{{- $name := .sidecar }}
{{- $room := min 40 (sub 48 (len .purpose)) | int }}
{{- if gt (len $name) $room }}
{{- $name = printf "%s-%s" (trunc (sub $room 9 | int) $name | trimSuffix "-") (sha256sum $name | trunc 8) }}
{{- end }}
{{- printf "vectorsidecar-%s-%s" $name .purpose }}
{{- end }}

{{- /* "true" when the user mounts something of their own at a path. */}}
{{- define "vector-sidecar.userMounts" }}
{{- $found := "" }}
{{- $path := .path }}
{{- range .mounts }}
{{- if eq (trimSuffix "/" .mountPath) $path }}{{ $found = "true" }}{{ end }}
{{- end }}
{{- $found }}
{{- end }}

{{- /* sidecar.secrets without those that a layer took away: a YAML map. */}}
{{- define "vector-sidecar.secrets" }}
{{- $secrets := dict }}
{{- range $id, $name := .Values.sidecar.secrets }}
{{- if $name }}{{ $_ := set $secrets $id $name }}{{ end }}
{{- end }}
{{- toYaml $secrets }}
{{- end }}

{{- /* Folder of such a Secret, from its id. */}}
{{- define "vector-sidecar.secretPath" }}
{{- printf "/run/secrets/vector/%s" . }}
{{- end }}
