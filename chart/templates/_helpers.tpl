{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- define "vector-sidecar-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- /* The name of every object of the release, or its beginning. 50 characters, so
that it is a DNS label with the longest suffix, "-environments", too. */ -}}
{{- define "vector-sidecar-operator.fullname" -}}
{{- $name := include "vector-sidecar-operator.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- /* The name of objects that have no namespace: releases of the same name in
two namespaces must not share them. Roles may have a colon in their names. */ -}}
{{- define "vector-sidecar-operator.clusterName" -}}
{{- printf "%s:%s" .Release.Namespace (include "vector-sidecar-operator.fullname" .) -}}
{{- end -}}

{{- define "vector-sidecar-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "vector-sidecar-operator.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "vector-sidecar-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{ include "vector-sidecar-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: operator
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end -}}

{{- define "vector-sidecar-operator.serviceAccountName" -}}
{{- $fallback := ternary (include "vector-sidecar-operator.fullname" .) "default" .Values.serviceAccount.create -}}
{{- default $fallback .Values.serviceAccount.name -}}
{{- end -}}

{{- define "vector-sidecar-operator.image" -}}
{{- with .Values.image -}}
{{- with .registry }}{{ . }}/{{ end -}}
{{- .repository }}:{{ default $.Chart.AppVersion .tag -}}
{{- with .digest }}@{{ . }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "vector-sidecar-operator.environmentsConfigMap" -}}
{{- include "vector-sidecar-operator.fullname" . }}-environments
{{- end -}}

{{- /* The sidecar's keys out of a map of values, those that say something. A key
set to null within them stays: it removes a built-in value. */ -}}
{{- define "vector-sidecar-operator.sidecarValues" -}}
{{- $given := dict -}}
{{- range $key := list "templateSet" "global" "sidecar" "initContainers" "volumes" "values" -}}
{{- with get $ $key }}{{ $_ := set $given $key . }}{{ end -}}
{{- end -}}
{{- toYaml $given -}}
{{- end -}}
