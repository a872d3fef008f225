{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* Returns a VRL program that adds the fields of the pod to each log event. */}}
{{- define "vector-sidecar.podFields" -}}
.kubernetes.pod_name = get_env_var!("VECTOR_SELF_POD_NAME")
.kubernetes.pod_namespace = get_env_var!("VECTOR_SELF_POD_NAMESPACE")
.kubernetes.node_name = get_env_var!("VECTOR_SELF_NODE_NAME")
.environment = {{ .Values.environment | quote }}
{{- end }}
