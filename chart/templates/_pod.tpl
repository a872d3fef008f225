{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0

Parts that the operator's pods, the uninstall Job and the Pod of helm test have in common.
*/ -}}

{{- /* Keys of a pod spec: ServiceAccount, pull secrets, security context and scheduling. */ -}}
{{- define "vector-sidecar-operator.podSpec" -}}
automountServiceAccountToken: {{ .Values.automountServiceAccountToken }}
enableServiceLinks: false
{{- with .Values.runtimeClassName }}
runtimeClassName: {{ . | quote }}
{{- end }}
{{- if .Values.hostNetwork }}
hostNetwork: true
{{- end }}
{{- with .Values.dnsPolicy | default (ternary "ClusterFirstWithHostNet" "" .Values.hostNetwork) }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .Values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
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

{{- /*
The volume with the ServiceAccount's token, as Kubernetes would add it, as a YAML list. Empty if Kubernetes adds it.
*/ -}}
{{- define "vector-sidecar-operator.tokenVolumes" -}}
{{- if not .Values.automountServiceAccountToken -}}
- name: service-account-token
  projected:
    sources:
      - serviceAccountToken: {path: token, expirationSeconds: 3607}
      - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
      - downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]}
{{- end -}}
{{- end -}}

{{- /* The mount of that volume. */ -}}
{{- define "vector-sidecar-operator.tokenMounts" -}}
{{- if not .Values.automountServiceAccountToken -}}
- name: service-account-token
  mountPath: /var/run/secrets/kubernetes.io/serviceaccount
  readOnly: true
{{- end -}}
{{- end -}}

{{- /* Keys of a container: image, security context and resources. */ -}}
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

{{- /* The second map merged over the first, as YAML. A key that is null in the second map is removed. */ -}}
{{- define "vector-sidecar-operator.over" -}}
{{- $merged := first . -}}
{{- range $key, $value := last . -}}
{{- if kindIs "invalid" $value }}{{ $_ := unset $merged $key }}{{ else }}{{ $_ := set $merged $key $value }}{{ end -}}
{{- end -}}
{{- toYaml $merged -}}
{{- end -}}

{{- /* The variable with the operator's namespace. */ -}}
{{- define "vector-sidecar-operator.env" -}}
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- end -}}

{{- /*
GOGC of the Go runtime, unless extraEnv sets it: a collection starts after the heap has grown by half, because most
of the heap is the cache of workloads.
*/ -}}
{{- define "vector-sidecar-operator.garbage" -}}
{{- $isSet := false -}}
{{- range .Values.extraEnv }}{{ if eq .name "GOGC" }}{{ $isSet = true }}{{ end }}{{ end -}}
{{- if not $isSet -}}
- name: GOGC
  value: "50"
{{- end -}}
{{- end -}}

{{- /* Arguments that the operator and the uninstall Job have in common, as a YAML list. */ -}}
{{- define "vector-sidecar-operator.args" -}}
- --environment={{ include "vector-sidecar-operator.environment" . }}
- --environments-configmap={{ include "vector-sidecar-operator.environmentsConfigMap" . }}
- --workload-kinds={{ join "," .Values.workloads.kinds }}
{{- with .Values.watchNamespaces }}
- --watch-namespaces={{ join "," . }}
{{- end }}
{{- if include "vector-sidecar-operator.enablesClusters" . }}
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
- --log-format={{ .Values.logFormat }}
{{- end -}}
