{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /*
"true" if objects of a kind of the Prometheus Operator are created. Takes a list: the root, and the kind.
*/ -}}
{{- define "vector-sidecar-operator.monitors" -}}
{{- $root := first . -}}
{{- $kind := last . -}}
{{- if $root.Values.monitoring.enabled -}}
{{- $isThere := include "vector-sidecar-operator.hasAPI" (list $root "monitoring.coreos.com/v1" $kind) -}}
{{- $render := $root.Values.monitoring.render -}}
{{- if and (eq $render "failIfMissing") (not $isThere) -}}
{{- fail (printf "monitoring.render is failIfMissing and the cluster has no %s (monitoring.coreos.com/v1): install the Prometheus Operator's CustomResourceDefinitions first, or set monitoring.render to skipIfMissing; without a cluster, as in helm template, add --api-versions monitoring.coreos.com/v1" $kind) -}}
{{- end -}}
{{- if or $isThere (eq $render "alwaysRender") }}true{{ end -}}
{{- end -}}
{{- end -}}

{{- /*
"true" if the metrics that a file of alerts or a dashboard needs are collected: metrics of the operator or of
sidecars. Takes a list: the root, and the path of the file.
*/ -}}
{{- define "vector-sidecar-operator.isScraped" -}}
{{- $values := (first .).Values -}}
{{- $all := dict "operator" $values.metrics.enabled "sidecars" $values.monitoring.sidecars.enabled -}}
{{- if get $all (last . | base | splitList "." | first) }}true{{ end -}}
{{- end -}}

{{- /* Interval and timeout of the scrapes of a monitor. */ -}}
{{- define "vector-sidecar-operator.scrapeTimes" -}}
interval: {{ .Values.monitoring.interval }}
{{- with .Values.monitoring.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- end -}}

{{- /*
The label "job" of the operator's series. With the suffix -sidecars, it is the label of the sidecars' series. It
depends on the release only, and not on the tool that scrapes.
*/ -}}
{{- define "vector-sidecar-operator.job" -}}
{{- printf "%s/%s" (include "vector-sidecar-operator.namespace" .) (include "vector-sidecar-operator.fullname" .) -}}
{{- end -}}

{{- /* The base URL of the runbooks, without a slash at the end. */ -}}
{{- define "vector-sidecar-operator.runbooks" -}}
{{- default "" .Values.monitoring.rules.runbookUrl | trimSuffix "/" -}}
{{- end -}}
