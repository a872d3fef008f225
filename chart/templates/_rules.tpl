{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* What is asked for of the kinds of workloads that are served: a JSON object of API
groups, each with the resources of workloads, of those that are refused, and of what holds
their pod templates, and whether events alone say that their pods are refused. */ -}}
{{- define "vector-sidecar-operator.workloads" -}}
{{- $groups := dict }}
{{- range .Values.workloads.kinds }}
{{- $of := get (include "vector-sidecar-operator.kinds" $ | fromJson) . }}
{{- range $group := list $of.group (default $of.group $of.revisionsIn) }}
{{- if not (hasKey $groups $group) }}
{{- $_ := set $groups $group (dict "workloads" list "refused" list "revisions" list "byEvent" false) }}
{{- end }}
{{- end }}
{{- $known := get $groups $of.group }}
{{- $list := ternary "refused" "workloads" (eq . "Job") }}
{{- $_ := set $known $list (append (get $known $list) $of.resource) }}
{{- $_ := set $known "byEvent" (or $known.byEvent (hasKey $of "byEvent")) }}
{{- $known = get $groups (default $of.group $of.revisionsIn) }}
{{- $_ := set $known "revisions" (append $known.revisions $of.revisions | uniq) }}
{{- end }}
{{- toJson $groups }}
{{- end -}}

{{- /* The kinds of workloads that can be served: a JSON object of the API group, the
resource, its version if that is not v1, the resource of what holds the pod templates, in
another group if there is a revisionsIn, and whether events alone say that pods are refused. */ -}}
{{- define "vector-sidecar-operator.kinds" -}}
{{- dict
  "Deployment" (dict "group" "apps" "resource" "deployments" "revisions" "replicasets")
  "StatefulSet" (dict "group" "apps" "resource" "statefulsets" "revisions" "controllerrevisions" "byEvent" true)
  "DaemonSet" (dict "group" "apps" "resource" "daemonsets" "revisions" "controllerrevisions" "byEvent" true)
  "CronJob" (dict "group" "batch" "resource" "cronjobs" "revisions" "jobs" "byEvent" true)
  "Job" (dict "group" "batch" "resource" "jobs" "revisions" "jobs")
  "Rollout" (dict "group" "argoproj.io" "version" "v1alpha1" "resource" "rollouts" "revisions" "replicasets" "revisionsIn" "apps")
| toJson }}
{{- end -}}

{{- /* A conjunction in CEL of a term for each kind. Takes the kinds and the format of the
term, which the kind is filled into. */ -}}
{{- define "vector-sidecar-operator.ofEachKind" -}}
{{- $format := index . 1 }}
{{- $terms := list }}
{{- range $kind := index . 0 | keys | sortAlpha }}
{{- $terms = append $terms (printf $format $kind) }}
{{- end }}
{{- join " && " $terms }}
{{- end -}}

{{- /* "true" if ClusterVectorSidecars are offered, which needs the whole cluster, else empty. */ -}}
{{- define "vector-sidecar-operator.offersClusters" -}}
{{- if and .Values.clusterVectorSidecars.enabled (not .Values.watchNamespaces) }}true{{ end -}}
{{- end -}}

{{- /* The resources of VectorSidecars, and of ClusterVectorSidecars if these are offered. */ -}}
{{- define "vector-sidecar-operator.sidecarResources" -}}
{{ ternary "[vectorsidecars, clustervectorsidecars]" "[vectorsidecars]" (ne (include "vector-sidecar-operator.offersClusters" .) "") }}
{{- end -}}

{{- /* What the operator has the API server judge before it writes: rules of a Role or a ClusterRole. No other
account has them, because the policy that comes with them is about the operator's. */ -}}
{{- define "vector-sidecar-operator.preflightRules" -}}
{{- if .Values.preflight.enabled }}
# The API server judges a pod with the sidecar, and whether a Secret exists, by dry runs: all else is
# refused by the ValidatingAdmissionPolicy that comes with this right.
- apiGroups: [""]
  resources: [pods, secrets]
  verbs: [create]
{{- end }}
{{- end -}}

{{- /* The permissions to create and delete the objects that the values declare (vectorSidecars): rules of a Role or a
ClusterRole. The operator applies them with patch. */ -}}
{{- define "vector-sidecar-operator.declaredRules" -}}
{{- if .Values.vectorSidecars.enabled }}
# VectorSidecars that the installation's values declare.
- apiGroups: [observability.kontroloop.ai]
  resources: {{ include "vector-sidecar-operator.sidecarResources" . }}
  verbs: [create, delete]
{{- end }}
{{- end -}}

{{- /* What the operator does in a namespace that it works in: rules of a Role or a
ClusterRole. */ -}}
{{- define "vector-sidecar-operator.workRules" -}}
# Workloads are other people's: changed, never made or deleted. One is got when it was
# found changed and the watch has not told of it.
{{- $byEvent := false }}
{{- range $group, $resources := include "vector-sidecar-operator.workloads" . | fromJson }}
{{- with $resources.workloads }}
- apiGroups: [{{ $group }}]
  resources: {{ toJson . | replace "\"" "" | replace "," ", " }}
  verbs: [get, list, watch, patch]
{{- end }}
{{- with $resources.refused }}
# The pod template of these cannot be changed: they are refused, with that reason.
- apiGroups: [{{ $group }}]
  resources: {{ toJson . | replace "\"" "" | replace "," ", " }}
  verbs: [list, watch]
{{- end }}
{{- with $resources.revisions }}
# What a workload can be rolled back to, and Jobs, keep their configuration.
- apiGroups: [{{ $group }}]
  resources: {{ toJson . | replace "\"" "" | replace "," ", " }}
  verbs: [list]
{{- end }}
{{- $byEvent = or $byEvent $resources.byEvent }}
{{- end }}
{{- if and $byEvent $.Values.rbac.optional.pods }}
# Why StatefulSets, DaemonSets and CronJobs make no progress: unlike Deployments, they have no condition with the reason.
- apiGroups: [""]
  resources: [events]
  verbs: [list]
{{- end }}
# Vector configurations: people's are read, the operator's own come and go. The cache
# leaves out what people's hold, so that one is got when it is referred to.
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, update, delete]
# The finalizer is written with patch.
- apiGroups: [observability.kontroloop.ai]
  resources: [vectorsidecars]
  verbs: [list, watch, patch]
- apiGroups: [observability.kontroloop.ai]
  resources: [vectorsidecars/status]
  verbs: [patch]
{{- if include "vector-sidecar-operator.offersClusters" . }}
- apiGroups: [observability.kontroloop.ai]
  resources: [clustervectorsidecars]
  verbs: [list, watch, patch]
- apiGroups: [observability.kontroloop.ai]
  resources: [clustervectorsidecars/status]
  verbs: [patch]
{{- end }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{ include "vector-sidecar-operator.injectionRules" . }}
{{- if .Values.configValidation.job.enabled }}
# Jobs in which Vector judges a configuration.
- apiGroups: [batch]
  resources: [jobs]
  verbs: [list, watch, create, delete]
# Needed to own Jobs with blockOwnerDeletion where the API server enforces it
# (OwnerReferencesPermissionEnforcement).
- apiGroups: [observability.kontroloop.ai]
  resources: [vectorsidecars/finalizers]
  verbs: [update]
{{- end }}
{{- if or .Values.configValidation.job.enabled .Values.rbac.optional.pods }}
# How the pods of those Jobs ended, and with rbac.optional.pods what keeps the pods of a
# workload from running whose rollout does not finish.
- apiGroups: [""]
  resources: [pods]
  verbs: [list]
{{- end }}
{{- if .Values.rbac.optional.serviceAccounts }}
# What the pods of a workload pull images with, where the sidecar brings a pull secret.
- apiGroups: [""]
  resources: [serviceaccounts]
  verbs: [get]
{{- end }}
# A namespace's label may name its environment.
- apiGroups: [""]
  resources: [namespaces]
  verbs: {{ ternary (list "get") (list "list" "watch") (not (empty .Values.watchNamespaces)) | toJson }}
{{- end -}}

{{- /* What it does in its own namespace besides. */ -}}
{{- define "vector-sidecar-operator.homeRules" -}}
{{- if .Values.leaderElection.enabled }}
# One cannot create by name, so the right to create is not held to one Lease.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ include "vector-sidecar-operator.fullname" . | quote }}]
  verbs: [get, update]
# client-go tells of a new leader with an event of the old kind.
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end }}
{{- if or .Values.rollout.waves (kindIs "map" .Values.rollout.halt) }}
# What the installation gave out in waves, to render it again.
- apiGroups: [apps]
  resources: [controllerrevisions]
  verbs: [get, list, create, patch, delete]
{{- end }}
{{- if .Values.watchNamespaces }}
# The installation's values, and the record of the published revision. One cannot create by name.
- apiGroups: [""]
  resources: [configmaps]
  verbs: [list, watch, create]
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: [{{ printf "%s-published" (include "vector-sidecar-operator.environmentsConfigMap" .) | quote }}]
  verbs: [update]
{{- end }}
{{- end -}}

{{- /* The namespaces of Roles: a JSON list; [""] stands for a ClusterRole. */ -}}
{{- define "vector-sidecar-operator.scopes" -}}
{{- default (list "") .Values.watchNamespaces | toJson -}}
{{- end -}}

{{- /* A role and its binding, for a namespace or for the cluster. Takes a dict:
root, namespace ("" for the cluster), name, rules (YAML), account, annotations. */ -}}
{{- define "vector-sidecar-operator.role" -}}
{{- $kind := ternary "Role" "ClusterRole" (ne .namespace "") -}}
{{- $meta := include "vector-sidecar-operator.meta" . -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ .name | quote }}
  {{- with .namespace }}
  namespace: {{ . | quote }}
  {{- end }}
  {{- $meta | nindent 2 }}
rules:
  {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ .name | quote }}
  {{- with .namespace }}
  namespace: {{ . | quote }}
  {{- end }}
  {{- $meta | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name | quote }}
subjects:
  - kind: ServiceAccount
    name: {{ .account | quote }}
    namespace: {{ include "vector-sidecar-operator.namespace" .root | quote }}
{{- end -}}
