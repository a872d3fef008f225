{{- define "ordinary.name" -}}
{{ .Values.name | trunc 20 | trimSuffix "-" }}
{{- end }}
{{- define "ordinary.labels" -}}
app.kubernetes.io/name: {{ include "ordinary.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- with .Chart.AppVersion }}
app.kubernetes.io/version: {{ . | quote }}
{{- end }}
{{- end }}
{{ define "ordinary.pair" }}{{ .key }}={{ .value }}{{ end }}
{{- define "ordinary.tree" -}}
{{- range $key, $value := .tree }}
{{ repeat (int $.depth) "  " }}{{ $key }}:
{{- if kindIs "map" $value }}
{{- include "ordinary.tree" (dict "tree" $value "depth" (add1 $.depth)) }}
{{- else }} {{ $value }}{{ end }}
{{- end }}
{{- end }}
