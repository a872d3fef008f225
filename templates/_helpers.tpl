{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0

Fails for `helm install` of this chart, which only the operator renders. During an installation, the API versions are
those of the cluster and always include the aggregation layer. The operator and `helm template` use Helm's list of API
versions, which does not include it.
*/}}
{{- define "vector-sidecar.notInstallable" }}
{{- if .Capabilities.APIVersions.Has "apiregistration.k8s.io/v1" }}
{{- fail "this chart is rendered by the Vector Sidecar Operator and cannot be installed itself; to install the operator: helm install vso ./chart" }}
{{- end }}
{{- end }}

{{- /* Returns the version of the oldest kubelet of the cluster. */}}
{{- define "vector-sidecar.kubelet" }}
{{- .Values.cluster.kubelet }}
{{- end }}

{{- /* Returns "true" for a native sidecar, and "" otherwise. */}}
{{- define "vector-sidecar.isNative" }}
{{- $native := .Values.sidecar.native }}
{{- if or (eq $native "Always") (and (eq $native "Auto") (semverCompare ">=1.29.0-0" (include "vector-sidecar.kubelet" .))) }}true{{ end }}
{{- end }}

{{- /*
Returns the reference of an image, with the registry of global.imageRegistry if it is set. Takes a list of the root
and the image.
*/}}
{{- define "vector-sidecar.image" }}
{{- $image := last . }}
{{- with (first .).Values.global.imageRegistry }}
{{- $image = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^(localhost|[^/]*[.:][^/]*)/" $image "") }}
{{- end }}
{{- $image }}
{{- end }}

{{- /*
Returns the name of a volume of the sidecar: a prefix that applications do not use, the name of the sidecar, and the
purpose of the volume.
*/}}
{{- define "vector-sidecar.volumeName" }}
{{- $name := .sidecar }}
{{- $room := min 40 (sub 48 (len .purpose)) | int }}
{{- if gt (len $name) $room }}
{{- $name = printf "%s-%s" (trunc (sub $room 9 | int) $name | trimSuffix "-") (sha256sum $name | trunc 8) }}
{{- end }}
{{- printf "vectorsidecar-%s-%s" $name .purpose }}
{{- end }}

{{- /* Returns "true" if the user mounts another volume at the path. */}}
{{- define "vector-sidecar.userMounts" }}
{{- $found := "" }}
{{- $path := .path }}
{{- range .mounts }}
{{- if eq (trimSuffix "/" .mountPath) $path }}{{ $found = "true" }}{{ end }}
{{- end }}
{{- $found }}
{{- end }}

{{- /* Returns sidecar.secrets as a YAML map, without the Secrets that another layer of values removes. */}}
{{- define "vector-sidecar.secrets" }}
{{- $secrets := dict }}
{{- range $id, $name := .Values.sidecar.secrets }}
{{- if $name }}{{ $_ := set $secrets $id $name }}{{ end }}
{{- end }}
{{- toYaml $secrets }}
{{- end }}

{{- /* Returns the folder of the Secret with an id. */}}
{{- define "vector-sidecar.secretPath" }}
{{- printf "/run/secrets/vector/%s" . }}
{{- end }}
