{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* Environment variables for sending traces and error reports, as a YAML list. Empty if neither is enabled. */ -}}
{{- define "vector-sidecar-operator.observability" -}}
{{- with .Values.tracing }}
{{- if .endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
- name: OTEL_EXPORTER_OTLP_PROTOCOL
  value: {{ .protocol | quote }}
- name: OTEL_SERVICE_NAME
  value: {{ include "vector-sidecar-operator.fullname" $ | quote }}
{{- $attributes := list }}
{{- range $key, $value := .resourceAttributes }}
{{- $attributes = append $attributes (printf "%s=%s" $key ($value | replace "%" "%25" | replace "," "%2C")) }}
{{- end }}
{{- with $attributes }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ join "," . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.sentry }}
{{- if .secretName }}
- name: SENTRY_DSN
  valueFrom:
    secretKeyRef:
      name: {{ .secretName | quote }}
      key: {{ .secretKey | quote }}
- name: SENTRY_ENVIRONMENT
  value: {{ include "vector-sidecar-operator.environment" $ | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* The affinity of the values. With podAntiAffinity, it also contains the operator's own rule. */ -}}
{{- define "vector-sidecar-operator.affinity" -}}
{{- $affinity := deepCopy (default dict .Values.affinity) -}}
{{- $labels := dict "matchLabels" (include "vector-sidecar-operator.operatorLabels" . | fromYaml) -}}
{{- $term := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" $labels -}}
{{- if eq (default "" .Values.podAntiAffinity) "soft" -}}
{{- $weighted := list (dict "weight" 100 "podAffinityTerm" $term) -}}
{{- $_ := set $affinity "podAntiAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" $weighted) -}}
{{- else if eq (default "" .Values.podAntiAffinity) "hard" -}}
{{- $_ := set $affinity "podAntiAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (list $term)) -}}
{{- end -}}
{{- with $affinity }}{{ toYaml . }}{{ end -}}
{{- end -}}
