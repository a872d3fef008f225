{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /*
The installation's layers of values, ENVIRONMENT.yaml each, its policy and its pace of
rollouts; given all values. The kubectl plugin reads --values with this file, which
therefore needs no other.
*/ -}}
{{- define "vector-sidecar-operator.environments" -}}
{{ .environment }}.yaml: |
  {{- include "vector-sidecar-operator.sidecarValues" . | nindent 2 }}
{{- range $name, $values := .environments }}
{{- if not (kindIs "invalid" $values) }}
{{ $name }}.yaml: |
  {{- include "vector-sidecar-operator.sidecarValues" $values | nindent 2 }}
{{- end }}
{{- end }}
{{- range $key := list "policy" "rollout" }}
{{- with get $ $key }}
{{ $key }}: |
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* The sidecar's keys out of a map of values, those that say something. A key
set to null within them stays: it removes a built-in value. */ -}}
{{- define "vector-sidecar-operator.sidecarValues" -}}
{{- $given := dict -}}
{{- range $key := list "templateSet" "global" "sidecar" "initContainers" "volumes" "values" -}}
{{- with get $ $key }}{{ $_ := set $given $key . }}{{ end -}}
{{- end -}}
{{- /* Two keys of global are the installation's own. */ -}}
{{- with $given.global -}}
{{- $shared := omit . "imageRegistry" "imagePullSecrets" -}}
{{- if $shared }}{{ $_ := set $given "global" $shared }}{{ else }}{{ $_ := unset $given "global" }}{{ end -}}
{{- end -}}
{{- toYaml $given -}}
{{- end -}}
