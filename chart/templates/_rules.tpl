{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /*
The resources for the enabled kinds of workloads, as a JSON object of API groups: workloads, workloads that are
rejected, revisions with their pod templates, and whether only events report that pods are rejected.
*/ -}}
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

{{- /*
The kinds of workloads that can be enabled, as a JSON object: the API group, the resource, the version if it is not
v1, the resource with the revisions of the pod template (in the group revisionsIn if it is set), and whether only
events report that pods are rejected.
*/ -}}
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

{{- /*
A conjunction in CEL with one term for each kind. Takes the kinds, and the format of a term with a placeholder for
the kind.
*/ -}}
{{- define "vector-sidecar-operator.ofEachKind" -}}
{{- $format := index . 1 }}
{{- $terms := list }}
{{- range $kind := index . 0 | keys | sortAlpha }}
{{- $terms = append $terms (printf $format $kind) }}
{{- end }}
{{- join " && " $terms }}
{{- end -}}

{{- /*
"true" if ClusterVectorSidecars are enabled, which requires that the operator watches the whole cluster. Empty
otherwise.
*/ -}}
{{- define "vector-sidecar-operator.enablesClusters" -}}
{{- if and .Values.clusterVectorSidecars.enabled (not .Values.watchNamespaces) }}true{{ end -}}
{{- end -}}

{{- /* The resources of VectorSidecars, and of ClusterVectorSidecars if they are enabled. */ -}}
{{- define "vector-sidecar-operator.sidecarResources" -}}
{{ ternary "[vectorsidecars, clustervectorsidecars]" "[vectorsidecars]" (ne (include "vector-sidecar-operator.enablesClusters" .) "") }}
{{- end -}}

{{- /*
Permissions for dry runs before a write, as rules of a Role or a ClusterRole. Only the operator's account has them,
because the policy for these permissions restricts only that account.
*/ -}}
{{- define "vector-sidecar-operator.preflightRules" -}}
{{- if .Values.preflight.enabled }}
# Dry runs check a pod with the sidecar, and whether a Secret exists. The ValidatingAdmissionPolicy for this
# permission rejects all requests except dry runs.
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

{{- /* The operator's permissions in the namespaces that it manages, as rules of a Role or a ClusterRole. */ -}}
{{- define "vector-sidecar-operator.workRules" -}}
# Application owners create and delete workloads, and the operator only changes them. It gets a single workload if the
# cache may be outdated.
{{- $byEvent := false }}
{{- range $group, $resources := include "vector-sidecar-operator.workloads" . | fromJson }}
{{- with $resources.workloads }}
- apiGroups: [{{ $group }}]
  resources: {{ toJson . | replace "\"" "" | replace "," ", " }}
  verbs: [get, list, watch, patch]
{{- end }}
{{- with $resources.refused }}
# The pod template of these kinds cannot be changed. The status reports them with that reason.
- apiGroups: [{{ $group }}]
  resources: {{ toJson . | replace "\"" "" | replace "," ", " }}
  verbs: [list, watch]
{{- end }}
{{- with $resources.revisions }}
# Earlier revisions of a workload, and Jobs, refer to ConfigMaps, which the operator must keep.
- apiGroups: [{{ $group }}]
  resources: {{ toJson . | replace "\"" "" | replace "," ", " }}
  verbs: [list]
{{- end }}
{{- $byEvent = or $byEvent $resources.byEvent }}
{{- end }}
{{- if and $byEvent $.Values.rbac.optional.pods }}
# The reason why StatefulSets, DaemonSets and CronJobs make no progress. Unlike Deployments, they have no condition
# with the reason.
- apiGroups: [""]
  resources: [events]
  verbs: [list]
{{- end }}
# Vector configurations: the operator reads ConfigMaps of users, and creates and deletes its own ConfigMaps. The cache
# omits the content of users' ConfigMaps, so the operator gets a single ConfigMap when a VectorSidecar refers to it.
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
{{- if include "vector-sidecar-operator.enablesClusters" . }}
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
# Jobs in which Vector checks a configuration.
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
# The results of the pods of these Jobs. With rbac.optional.pods, also the reason why pods of an unfinished rollout do
# not run.
- apiGroups: [""]
  resources: [pods]
  verbs: [list]
{{- end }}
{{- if .Values.rbac.optional.serviceAccounts }}
# The pull secrets of a workload's ServiceAccount, which the pods would lose if the sidecar has a pull secret.
- apiGroups: [""]
  resources: [serviceaccounts]
  verbs: [get]
{{- end }}
# A label of the namespace may select the environment.
- apiGroups: [""]
  resources: [namespaces]
  verbs: {{ ternary (list "get") (list "list" "watch") (not (empty .Values.watchNamespaces)) | toJson }}
{{- end -}}

{{- /* The operator's additional permissions in its own namespace. */ -}}
{{- define "vector-sidecar-operator.homeRules" -}}
{{- if .Values.leaderElection.enabled }}
# A rule with resourceNames cannot allow create, so create is allowed for all Leases.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ include "vector-sidecar-operator.fullname" . | quote }}]
  verbs: [get, update]
# client-go reports a new leader with an event of the old API.
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end }}
{{- if or .Values.rollout.waves (kindIs "map" .Values.rollout.halt) }}
# The stored revisions of the installation, so that the operator can render an earlier revision.
- apiGroups: [apps]
  resources: [controllerrevisions]
  verbs: [get, list, create, patch, delete]
{{- end }}
{{- if .Values.watchNamespaces }}
# The installation's values, and the record of the published revision. A rule with resourceNames cannot allow create.
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
