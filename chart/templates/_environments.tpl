{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /*
Files of the installation: its layers of values (ENVIRONMENT.yaml), its policy, its rollout settings and the
VectorSidecars that it declares. Takes all values. The kubectl plugin evaluates --values with this file, so this
file must not include other files.
*/ -}}
{{- define "vector-sidecar-operator.environments" -}}
{{- $schemas := include "vector-sidecar-operator.globalSchemas" . | fromJsonArray -}}
{{ .environment }}.yaml: |
  {{- include "vector-sidecar-operator.sidecarValues" (dict "values" . "schemas" $schemas "hasDefaults" true) | nindent 2 }}
{{- range $name, $values := .environments }}
{{- if not (kindIs "invalid" $values) }}
{{ $name }}.yaml: |
  {{- include "vector-sidecar-operator.sidecarValues" (dict "values" $values "schemas" $schemas) | nindent 2 }}
{{- end }}
{{- end }}
{{- range $key := list "policy" "rollout" }}
{{- with get $ $key }}
{{ $key }}: |
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .vectorSidecars }}
{{- if .enabled }}
vectorSidecars: |
  {{- toYaml (omit . "enabled") | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{- /*
The sidecar's keys of a map of values as YAML, without empty values. A key with null inside of them stays, because
it removes a built-in value. Takes a dict: values, schemas of globalSchemas, and hasDefaults, which is true if the
values include the chart's defaults.
*/ -}}
{{- define "vector-sidecar-operator.sidecarValues" -}}
{{- $layer := dict -}}
{{- range $key := list "templateSet" "global" "sidecar" "initContainers" "volumes" "values" -}}
{{- with get $.values $key }}{{ $_ := set $layer $key . }}{{ end -}}
{{- end -}}
{{- with $layer.global -}}
{{- $kept := dict -}}
{{- /* One key of global is only for the installation. */ -}}
{{- $values := omit . "imagePullSecrets" -}}
{{- if and $.hasDefaults (not .imageRegistry) }}{{ $values = omit $values "imageRegistry" }}{{ end -}}
{{- include "vector-sidecar-operator.keepGlobals" (dict "values" $values "schemas" $.schemas "kept" $kept "dropped" dict "path" "") -}}
{{- if $kept }}{{ $_ := set $layer "global" $kept }}{{ else }}{{ $_ := unset $layer "global" }}{{ end -}}
{{- end -}}
{{- toYaml $layer -}}
{{- end -}}

{{- /*
The keys of global that the built-in sidecar chart defines. TestOnlyNames_EqualsBuiltInGlobals compares both lists.
*/ -}}
{{- define "vector-sidecar-operator.builtInGlobals" -}}
{"properties": {
  "imageRegistry": {},
  "aggregator": {"properties": {"acknowledgements": {}, "address": {}}},
  "ipFamily": {},
  "nodeAgentAnnotations": {}}}
{{- end -}}

{{- /*
Schemas of global, a JSON list: of the built-in sidecar chart, of the values.schema.json and the values
files of each template set in templates, and of extraGlobals. Takes all values. A chart that has this
one as a dependency shares one global among all its charts. Keys of other charts, which may be
passwords, must not reach the ConfigMap, and a change of them must not start a rollout.
*/ -}}
{{- define "vector-sidecar-operator.globalSchemas" -}}
{{- $schemas := list (include "vector-sidecar-operator.builtInGlobals" . | fromJson) -}}
{{- range $files := .templates -}}
{{- range $file, $text := $files -}}
{{- if not (kindIs "string" $text) -}}
{{- else if eq $file "values.schema.json" -}}
{{- $properties := get (fromJson $text) "properties" -}}
{{- if kindIs "map" $properties }}{{ $schemas = append $schemas (get $properties "global") }}{{ end -}}
{{- else if or (eq $file "values.yaml") (hasPrefix "values__" $file) -}}
{{- $schemas = append $schemas (include "vector-sidecar-operator.schemaOfValues" (get (fromYaml $text) "global") | fromJson) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range .extraGlobals -}}
{{- $schema := dict -}}
{{- range splitList "." . | reverse }}{{ $schema = dict "properties" (dict . $schema) }}{{ end -}}
{{- $schemas = append $schemas $schema -}}
{{- end -}}
{{- toJson $schemas -}}
{{- end -}}

{{- /* A schema with the keys of a value. */ -}}
{{- define "vector-sidecar-operator.schemaOfValues" -}}
{{- $properties := dict -}}
{{- if kindIs "map" . -}}
{{- range $key, $value := . }}{{ $_ := set $properties $key (include "vector-sidecar-operator.schemaOfValues" $value | fromJson) }}{{ end -}}
{{- end -}}
{{- if $properties }}{{ dict "properties" $properties | toJson }}{{ else }}{}{{ end -}}
{{- end -}}

{{- /*
Adds to kept the keys of values that a schema names, and to dropped the paths of the others. A named
map is filtered in the same way, unless no schema names keys of it or one allows additional keys.
Takes a dict: values, schemas, kept, dropped, and path, which is the prefix of the paths.
*/ -}}
{{- define "vector-sidecar-operator.keepGlobals" -}}
{{- range $key, $value := .values -}}
{{- $isNamed := false -}}
{{- $isOpen := false -}}
{{- $below := list -}}
{{- range $schema := $.schemas -}}
{{- if kindIs "map" $schema -}}
{{- $matches := list -}}
{{- if hasKey (default dict $schema.properties) $key }}{{ $matches = append $matches (get $schema.properties $key) }}{{ end -}}
{{- range $pattern, $match := $schema.patternProperties -}}
{{- if regexMatch $pattern $key }}{{ $matches = append $matches $match }}{{ end -}}
{{- end -}}
{{- range $matches -}}
{{- $isNamed = true -}}
{{- if kindIs "map" . -}}
{{- if or .properties .patternProperties }}{{ $below = append $below . }}{{ if .additionalProperties }}{{ $isOpen = true }}{{ end }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not $isNamed -}}
{{- $_ := set $.dropped (printf "%s%s" $.path $key) true -}}
{{- else if and $below (not $isOpen) (kindIs "map" $value) -}}
{{- $kept := dict -}}
{{- include "vector-sidecar-operator.keepGlobals" (dict "values" $value "schemas" $below "kept" $kept "dropped" $.dropped "path" (printf "%s%s." $.path $key)) -}}
{{- if or $kept (not $value) }}{{ $_ := set $.kept $key $kept }}{{ end -}}
{{- else -}}
{{- $_ := set $.kept $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}
