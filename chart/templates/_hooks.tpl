{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0

Identities of the uninstall Job and of the Pod of helm test. Their ServiceAccounts and permissions exist only while
the hook runs, so that the operator never has these permissions.
*/ -}}

{{- /*
Labels of a hook's pod: the labels of the operator's pods with another component. Takes a list: the root, and the
hook's component.
*/ -}}
{{- define "vector-sidecar-operator.hookLabels" -}}
{{- $root := first . -}}
{{- $own := set (include "vector-sidecar-operator.selectorLabels" $root | fromYaml) "app.kubernetes.io/component" (last .) -}}
{{- mergeOverwrite (dict) (default dict $root.Values.commonLabels) (default dict $root.Values.podLabels) $own | toYaml -}}
{{- end -}}

{{- /* The name of the uninstall Job. */ -}}
{{- define "vector-sidecar-operator.uninstallJob" -}}
{{ include "vector-sidecar-operator.fullname" . }}-uninstall
{{- end -}}

{{- /*
The ServiceAccount of a hook: a separate account, or the operator's account if the chart does not create roles.
Takes a list: the root, and the hook's component.
*/ -}}
{{- define "vector-sidecar-operator.hookAccount" -}}
{{- $root := first . -}}
{{- if $root.Values.rbac.create -}}
{{- include "vector-sidecar-operator.fullname" $root }}-{{ last . -}}
{{- else -}}
{{- include "vector-sidecar-operator.serviceAccountName" $root -}}
{{- end -}}
{{- end -}}

{{- /*
The ServiceAccounts that do the operator's work, as a CEL list: the operator's account, and the account of the
uninstall Job.
*/ -}}
{{- define "vector-sidecar-operator.accounts" -}}
{{- $accounts := list (include "vector-sidecar-operator.serviceAccountName" .) (include "vector-sidecar-operator.hookAccount" (list . "uninstall")) | uniq }}
{{- $names := list }}
{{- range $accounts }}{{ $names = append $names (printf "'system:serviceaccount:%s:%s'" (include "vector-sidecar-operator.namespace" $) .) }}{{ end -}}
[{{ join ", " $names }}]
{{- end -}}

{{- /*
ServiceAccount and roles of a hook. Takes a dict: root, component, hook, and rules: a list of dicts with namespace
("" for the cluster) and rules (YAML).
*/ -}}
{{- define "vector-sidecar-operator.hookRights" -}}
{{- $root := .root -}}
{{- $account := include "vector-sidecar-operator.hookAccount" (list $root .component) -}}
{{- $annotations := dict
  "helm.sh/hook" .hook
  "helm.sh/hook-weight" "-5"
  "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $account | quote }}
  namespace: {{ include "vector-sidecar-operator.namespace" $root | quote }}
  {{- include "vector-sidecar-operator.meta" (dict "root" $root "annotations" $annotations) | nindent 2 }}
automountServiceAccountToken: false
{{- $name := printf "%s:%s" (include "vector-sidecar-operator.clusterName" $root) .component }}
{{- range $role := .rules }}
{{ include "vector-sidecar-operator.role" (dict "root" $root "namespace" $role.namespace "name" (printf "%s%s" $name (default "" $role.suffix)) "rules" $role.rules "account" $account "annotations" $annotations) }}
{{- end }}
{{- end -}}
