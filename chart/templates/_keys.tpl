{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /*
Fails for a key of the sidecar's values that neither the built-in chart nor a template set of the installation has
in its values.schema.json. If no set has a schema, the schema of these values has already rejected the key. If a
template set is named that is not part of the installation, all keys are allowed, because its schema is unknown.
*/ -}}
{{- define "vector-sidecar-operator.validateKeys" -}}
{{- $schemas := list (.Files.Get "files/sidecar-keys.json" | fromJson) -}}
{{- $isKnown := true -}}
{{- $given := default dict .Values.templates -}}
{{- range $files := $given -}}
{{- with get (default dict $files) "values.schema.json" }}{{ $schemas = append $schemas (fromJson .) }}{{ end -}}
{{- end -}}
{{- $layers := dict "" (pick .Values "global" "sidecar") -}}
{{- range $name, $values := .Values.environments -}}
{{- $_ := set $layers (printf "environments.%s." $name) (pick (default dict $values) "global" "sidecar" "templateSet") -}}
{{- end -}}
{{- range $values := append (values $layers) .Values -}}
{{- with $values.templateSet }}{{ if not (or (eq . "default") (hasKey $given .)) }}{{ $isKnown = false }}{{ end }}{{ end -}}
{{- end -}}
{{- if $isKnown -}}
{{- range $path, $values := $layers -}}
{{- include "vector-sidecar-operator.validateKeysOf" (dict "path" $path "values" (omit $values "templateSet") "schemas" $schemas) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Walks the values at a path together with the schemas of that path. */ -}}
{{- define "vector-sidecar-operator.validateKeysOf" -}}
{{- range $key, $value := .values -}}
{{- $isFree := false -}}
{{- $below := list -}}
{{- range $schema := $.schemas -}}
{{- $of := list -}}
{{- if kindIs "map" $schema -}}
{{- $properties := default dict $schema.properties -}}
{{- if hasKey $properties $key }}{{ $of = append $of (get $properties $key) }}{{ end -}}
{{- range $pattern, $one := $schema.patternProperties -}}
{{- if regexMatch $pattern $key }}{{ $of = append $of $one }}{{ end -}}
{{- end -}}
{{- if not $of -}}
{{- $of = list (ternary $schema.additionalProperties true (hasKey $schema "additionalProperties")) -}}
{{- end -}}
{{- else -}}
{{- $of = list $schema -}}
{{- end -}}
{{- /*
The schema true allows every key, and so does a schema without properties. The schema false allows no key.
*/ -}}
{{- range $of -}}
{{- if kindIs "map" . }}{{ $below = append $below . }}{{ else if . }}{{ $isFree = true }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if $isFree -}}
{{- else if not $below -}}
{{- fail (printf "%s%s: unknown key: neither the built-in sidecar chart nor the schema of a set in templates has it" $.path $key) -}}
{{- else if kindIs "map" $value -}}
{{- include "vector-sidecar-operator.validateKeysOf" (dict "path" (printf "%s%s." $.path $key) "values" $value "schemas" $below) -}}
{{- end -}}
{{- end -}}
{{- end -}}
