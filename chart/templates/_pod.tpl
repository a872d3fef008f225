{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0

What the operator's pods, the Job before uninstalling and the Pod of helm test
have in common.
*/ -}}

{{- /* Keys of a pod's spec: who runs it, from where, how restricted, on which nodes. */ -}}
{{- define "vector-sidecar-operator.podSpec" -}}
automountServiceAccountToken: true
enableServiceLinks: false
{{- with include "vector-sidecar-operator.imagePullSecrets" . }}
imagePullSecrets:
  {{- . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- $restricted := dict "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532 "seccompProfile" (dict "type" "RuntimeDefault") }}
securityContext:
  {{- include "vector-sidecar-operator.over" (list $restricted .Values.podSecurityContext) | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Keys of a container's: image, security context and resources. */ -}}
{{- define "vector-sidecar-operator.container" -}}
image: {{ include "vector-sidecar-operator.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- $restricted := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) }}
securityContext:
  {{- include "vector-sidecar-operator.over" (list $restricted .Values.securityContext) | nindent 2 }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* The second map over the first, as YAML; a key that is null in the second goes. */ -}}
{{- define "vector-sidecar-operator.over" -}}
{{- $merged := first . -}}
{{- range $key, $value := last . -}}
{{- if kindIs "invalid" $value }}{{ $_ := unset $merged $key }}{{ else }}{{ $_ := set $merged $key $value }}{{ end -}}
{{- end -}}
{{- toYaml $merged -}}
{{- end -}}

{{- /* The variables that tell the operator where it is: the namespace. */ -}}
{{- define "vector-sidecar-operator.env" -}}
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- end -}}

{{- /* How much garbage the Go runtime collects late, unless extraEnv says otherwise: half of
what is in use, because most of that is the cache of workloads. */ -}}
{{- define "vector-sidecar-operator.garbage" -}}
{{- $isSet := false -}}
{{- range .Values.extraEnv }}{{ if eq .name "GOGC" }}{{ $isSet = true }}{{ end }}{{ end -}}
{{- if not $isSet -}}
- name: GOGC
  value: "50"
{{- end -}}
{{- end -}}

{{- /* Arguments that the operator and the Job before uninstalling share: a YAML list. */ -}}
{{- define "vector-sidecar-operator.args" -}}
- --environment={{ include "vector-sidecar-operator.environment" . }}
- --environments-configmap={{ include "vector-sidecar-operator.environmentsConfigMap" . }}
- --workload-kinds={{ join "," .Values.workloads.kinds }}
{{- with .Values.watchNamespaces }}
- --watch-namespaces={{ join "," . }}
{{- end }}
{{- if include "vector-sidecar-operator.offersClusters" . }}
- --cluster-sidecars
{{- end }}
- --leader-elect={{ .Values.leaderElection.enabled }}
- --leader-election-id={{ include "vector-sidecar-operator.fullname" . }}
{{- if .Values.leaderElection.enabled }}
- --leader-election-lease-duration={{ .Values.leaderElection.leaseDurationSeconds }}s
- --leader-election-renew-deadline={{ .Values.leaderElection.renewDeadlineSeconds }}s
- --leader-election-retry-period={{ .Values.leaderElection.retryPeriodSeconds }}s
{{- end }}
- --concurrency={{ .Values.concurrency }}
{{- end -}}
