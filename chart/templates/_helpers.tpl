{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- define "vector-sidecar-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | regexFind "^.*[^-.]" -}}
{{- end -}}

{{- /*
The name, or the prefix of the name, of each object of the release. It has at most 50 characters, so that the name
with the longest suffix, "-environments", is a valid DNS label.
*/ -}}
{{- define "vector-sidecar-operator.fullname" -}}
{{- $name := include "vector-sidecar-operator.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 50 | regexFind "^.*[^-.]" -}}
{{- end -}}

{{- /* The namespace of each namespaced object of the release. */ -}}
{{- define "vector-sidecar-operator.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- /*
The name of cluster-wide roles. It contains the namespace, because two releases in different namespaces may have the
same name. Names of roles may contain a colon.
*/ -}}
{{- define "vector-sidecar-operator.clusterName" -}}
{{- printf "%s:%s" (include "vector-sidecar-operator.namespace" .) (include "vector-sidecar-operator.fullname" .) -}}
{{- end -}}

{{- /*
The keys of global that are defaults of environment, commonLabels and commonAnnotations, as JSON. Empty for a
subchart: the global of an umbrella chart belongs to all its charts and may have other types, so the schema does not
check it.
*/ -}}
{{- define "vector-sidecar-operator.globalDefaults" -}}
{{- $defaults := dict -}}
{{- if .Chart.IsRoot -}}
{{- range $key, $value := pick (default dict .Values.global) "environment" "labels" "annotations" -}}
{{- if $value -}}
{{- if ne $key "environment" -}}
{{- if not (kindIs "map" $value) }}{{ fail (printf "global.%s is not a map: write it as common%s" $key (title $key)) }}{{ end -}}
{{- else if not (regexMatch "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" (toString $value)) -}}
{{- fail (printf "global.environment: %q is not a valid environment: use lower-case letters, digits and dashes" (toString $value)) -}}
{{- end -}}
{{- $_ := set $defaults $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $defaults -}}
{{- end -}}

{{- define "vector-sidecar-operator.environment" -}}
{{- $defaults := include "vector-sidecar-operator.globalDefaults" . | fromJson -}}
{{- .Values.environment | default $defaults.environment | default "development" -}}
{{- end -}}

{{- /*
commonLabels or commonAnnotations, merged over their defaults, as JSON. Takes a list: the root, and labels or
annotations.
*/ -}}
{{- define "vector-sidecar-operator.common" -}}
{{- $defaults := dict -}}
{{- range $key, $value := default dict (get (include "vector-sidecar-operator.globalDefaults" (first .) | fromJson) (last .)) -}}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $defaults $key (toString $value) }}{{ end -}}
{{- end -}}
{{- mergeOverwrite $defaults (default dict (get (first .).Values (printf "common%s" (title (last .))))) | toJson -}}
{{- end -}}

{{- define "vector-sidecar-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "vector-sidecar-operator.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- /* The labels of the operator's pods. No other pod of the release has all of them. */ -}}
{{- define "vector-sidecar-operator.operatorLabels" -}}
{{ include "vector-sidecar-operator.selectorLabels" . }}
app.kubernetes.io/component: operator
{{- end -}}

{{- define "vector-sidecar-operator.labels" -}}
{{- $ours := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/managed-by" .Release.Service
  "app.kubernetes.io/part-of" .Chart.Name -}}
{{- $selectors := include "vector-sidecar-operator.operatorLabels" . | fromYaml -}}
{{- mergeOverwrite (include "vector-sidecar-operator.common" (list . "labels") | fromJson) $ours $selectors | toYaml -}}
{{- end -}}

{{- /*
Labels and annotations of an object. Takes a dict: root, and optionally annotations and labels of this object.
*/ -}}
{{- define "vector-sidecar-operator.meta" -}}
{{- $labels := include "vector-sidecar-operator.labels" .root | fromYaml -}}
labels:
  {{- mergeOverwrite (dict) (default dict .labels) $labels | toYaml | nindent 2 }}
{{- with mergeOverwrite (include "vector-sidecar-operator.common" (list .root "annotations") | fromJson) (default dict .annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "vector-sidecar-operator.serviceAccountName" -}}
{{- $fallback := ternary (include "vector-sidecar-operator.fullname" .) "default" .Values.serviceAccount.create -}}
{{- default $fallback .Values.serviceAccount.name -}}
{{- end -}}

{{- define "vector-sidecar-operator.image" -}}
{{- $global := default dict .Values.global -}}
{{- with .Values.image -}}
{{- with default .registry $global.imageRegistry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- .repository }}:{{ default $.Chart.AppVersion .tag -}}
{{- with .digest }}@{{ . }}{{ end -}}
{{- end -}}
{{- end -}}

{{- /* Pull secrets of the image as a YAML list without duplicates, the global ones first. */ -}}
{{- define "vector-sidecar-operator.imagePullSecrets" -}}
{{- $global := default dict .Values.global -}}
{{- $secrets := list -}}
{{- range concat (default list $global.imagePullSecrets) (default list .Values.imagePullSecrets) -}}
{{- $secret := . -}}
{{- if kindIs "string" . }}{{ $secret = dict "name" . }}{{ end -}}
{{- $secrets = append $secrets $secret -}}
{{- end -}}
{{- with $secrets | uniq }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{- define "vector-sidecar-operator.environmentsConfigMap" -}}
{{- include "vector-sidecar-operator.fullname" . }}-environments
{{- end -}}

{{- /* The name of the ConfigMap of a template set. Takes the root and the name of the set. */ -}}
{{- define "vector-sidecar-operator.templatesConfigMap" -}}
{{- printf "%s-templates-%s" (include "vector-sidecar-operator.fullname" (index . 0)) (index . 1) -}}
{{- end -}}

{{- /* The data of the ConfigMap of a template set, as YAML. Takes the files of the set. */ -}}
{{- define "vector-sidecar-operator.templatesData" -}}
{{- range $file, $text := . }}
{{- if not (kindIs "invalid" $text) }}
{{ $file | quote }}: {{ $text | toJson }}
{{- end }}
{{- end }}
{{- end -}}

{{- /*
The digests of the template sets of the release, by the names of their ConfigMaps, as JSON. The operator computes
the same digests from the ConfigMaps (Checksum in internal/fleet), and publishes values and template sets only
together. A digest describes the content that the API server stores: toJson replaces invalid UTF-8.
*/ -}}
{{- define "vector-sidecar-operator.templateSets" -}}
{{- $sets := dict -}}
{{- range $name, $files := .Values.templates -}}
{{- if $files -}}
{{- $lines := "" -}}
{{- range $file, $text := include "vector-sidecar-operator.templatesData" $files | fromYaml -}}
{{- $lines = printf "%s%s  %s\n" $lines (sha256sum $text) $file -}}
{{- end -}}
{{- $_ := set $sets (include "vector-sidecar-operator.templatesConfigMap" (list $ $name)) ($lines | sha256sum | trunc 16) -}}
{{- end -}}
{{- end -}}
{{- toJson $sets -}}
{{- end -}}

{{- /*
The name of the Secret with the certificate of the metrics endpoint. Empty if the operator signs a certificate.
*/ -}}
{{- define "vector-sidecar-operator.certificateSecret" -}}
{{- with .Values.metrics.certificate -}}
{{- if eq .source "secret" }}{{ .secretName }}{{ end -}}
{{- if eq .source "certManager" }}{{ include "vector-sidecar-operator.fullname" $ }}-metrics-cert{{ end -}}
{{- end -}}
{{- end -}}

{{- /*
"true" if the cluster serves a kind. Takes a list: the root, the API version, and the kind. helm template knows only
the values of --api-versions: an API version without kinds stands for all kinds of that version.
*/ -}}
{{- define "vector-sidecar-operator.hasAPI" -}}
{{- $served := (first .).Capabilities.APIVersions -}}
{{- $version := index . 1 -}}
{{- $hasKinds := false -}}
{{- range $served }}{{ if hasPrefix (printf "%s/" $version) (toString .) }}{{ $hasKinds = true }}{{ end }}{{ end -}}
{{- if or ($served.Has (printf "%s/%s" $version (last .))) (and ($served.Has $version) (not $hasKinds)) }}true{{ end -}}
{{- end -}}
