{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /*
Returns the origin of the configuration: configMapRef, inline or raw, or "" if the templates render it from other
values.
*/}}
{{- define "vector-sidecar.configOrigin" }}
{{- $config := .Values.sidecar.config }}
{{- $given := list }}
{{- if (default dict $config.configMapRef).name }}{{ $given = append $given "configMapRef" }}{{ end }}
{{- if $config.inline }}{{ $given = append $given "inline" }}{{ end }}
{{- if $config.raw }}{{ $given = append $given "raw" }}{{ end }}
{{- if gt (len $given) 1 }}
{{- fail (printf "sidecar.config sets %s: set only one of them, and set the others to null if a lower layer of values sets them" (join " and " $given)) }}
{{- end }}
{{- join "" $given }}
{{- end }}

{{- /* Returns "true" unless the user's own ConfigMap contains the configuration. */}}
{{- define "vector-sidecar.ownsConfig" }}
{{- if ne (include "vector-sidecar.configOrigin" .) "configMapRef" }}true{{ end }}
{{- end }}

{{- /* Returns "true" if the templates render the configuration, and "" if the user writes it. */}}
{{- define "vector-sidecar.rendersConfig" }}
{{- if not (include "vector-sidecar.configOrigin" .) }}true{{ end }}
{{- end }}

{{- /* Returns the file name of the configuration. Vector derives the format from its extension. */}}
{{- define "vector-sidecar.configKey" }}
{{- $config := .Values.sidecar.config }}
{{- if not (include "vector-sidecar.ownsConfig" .) }}
{{- $config.configMapRef.key }}
{{- else if and $config.inline (not (hasKey (fromJson $config.inline) "Error")) -}}
vector.json
{{- else if and $config.inline (hasKey (fromYaml $config.inline) "Error") (not (hasKey (fromToml $config.inline) "Error")) -}}
vector.toml
{{- else -}}
vector.yaml
{{- end }}
{{- end }}

{{- define "vector-sidecar.configMapName" }}
{{- $name := .Release.Name }}
{{- if gt (len $name) 220 }}
{{- $name = printf "%s-%s" (trunc 200 $name | trimAll "-.") (sha256sum $name | trunc 8) }}
{{- end }}
{{- if not (include "vector-sidecar.ownsConfig" .) }}
{{- .Values.sidecar.config.configMapRef.name }}
{{- else if and (eq .Values.sidecar.reload "Live") (include "vector-sidecar.hasAPI" .) }}
{{- /* The name differs from the name for a user's configuration, which may not answer the probe of the rendered one. */}}
{{- printf "%s-vector-live" $name }}
{{- else if eq .Values.sidecar.reload "Live" }}
{{- printf "%s-vector" $name }}
{{- else }}
{{- $digest := printf "%s\n%s" (include "vector-sidecar.configKey" .) (include "vector-sidecar.config" .) | sha256sum }}
{{- printf "%s-vector-%s" $name ($digest | trunc 10) }}
{{- end }}
{{- end }}

{{- /*
Returns the text of the configuration: the user's text without changes, or the rendered text. Maps are printed with
toYaml, so that Vector's own `{{ field }}` templates in values stay unchanged.
*/}}
{{- define "vector-sidecar.config" }}
{{- $origin := include "vector-sidecar.configOrigin" . }}
{{- if eq $origin "inline" }}
{{- .Values.sidecar.config.inline }}
{{- else if eq $origin "raw" }}
{{- toYaml .Values.sidecar.config.raw }}
{{- else }}
{{- include "vector-sidecar.renderedConfig" . }}
{{- end }}
{{- end }}
