{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* The names of the objects of the release that the operator depends on, by kind: a JSON object. The values decide, not
the Kubernetes version that helm assumes: the operator reports objects that helm template has left out although the API
server serves their kind. */ -}}
{{- define "vector-sidecar-operator.requiredObjects" -}}
{{- $prefix := printf "%s.%s" (include "vector-sidecar-operator.namespace" .) (include "vector-sidecar-operator.fullname" .) }}
{{- $validating := list }}
{{- if .Values.admissionPolicy.enabled }}
{{- $validating = append $validating (printf "%s.vectorsidecars" $prefix) }}
{{- if include "vector-sidecar-operator.enablesClusters" . }}
{{- $validating = append $validating (printf "%s.clustervectorsidecars" $prefix) }}
{{- end }}
{{- end }}
{{- if .Values.preflight.enabled }}
{{- $validating = append $validating (printf "%s.preflight" $prefix) }}
{{- end }}
{{- $mutating := list }}
{{- if .Values.admissionInjection.enabled }}
{{- $validating = append $validating (printf "%s.overlaysets" $prefix) }}
{{- $kinds := include "vector-sidecar-operator.kinds" . | fromJson }}
{{- range without .Values.workloads.kinds "Job" }}
{{- $mutating = append $mutating (printf "%s.%s" $prefix (get $kinds .).resource) }}
{{- end }}
{{- end }}
{{- $required := dict "ConfigMap" (list (include "vector-sidecar-operator.environmentsConfigMap" .)) }}
{{- with $validating }}
{{- $_ := set $required "ValidatingAdmissionPolicy" . }}
{{- $_ := set $required "ValidatingAdmissionPolicyBinding" . }}
{{- end }}
{{- with $mutating }}
{{- $_ := set $required "MutatingAdmissionPolicy" . }}
{{- $_ := set $required "MutatingAdmissionPolicyBinding" . }}
{{- end }}
{{- if .Values.admissionWebhook.enabled }}
{{- $_ := set $required "Service" (list (include "vector-sidecar-operator.webhookService" .)) }}
{{- $_ := set $required "ValidatingWebhookConfiguration" (list (include "vector-sidecar-operator.webhookConfiguration" .)) }}
{{- end }}
{{- toJson $required }}
{{- end -}}

{{- /* These objects as the operator's argument: KIND/NAME, separated by commas. */ -}}
{{- define "vector-sidecar-operator.requiredArg" -}}
{{- $objects := list }}
{{- range $kind, $names := include "vector-sidecar-operator.requiredObjects" . | fromJson }}
{{- range $names }}
{{- $objects = append $objects (printf "%s/%s" $kind .) }}
{{- end }}
{{- end }}
{{- join "," $objects }}
{{- end -}}
