{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0

What the Job before uninstalling and the Pod of helm test run as. Their accounts
and rights come and go with them, so that the operator itself never has them.
*/ -}}

{{- /* Labels of a hook's pod: those of the operator's, but for the component. Takes a list: the root, and the
hook's component. */ -}}
{{- define "vector-sidecar-operator.hookLabels" -}}
{{- $root := first . -}}
{{- $own := set (include "vector-sidecar-operator.selectorLabels" $root | fromYaml) "app.kubernetes.io/component" (last .) -}}
{{- mergeOverwrite (dict) (default dict $root.Values.commonLabels) (default dict $root.Values.podLabels) $own | toYaml -}}
{{- end -}}

{{- /* The name of the Job before uninstalling. */ -}}
{{- define "vector-sidecar-operator.uninstallJob" -}}
{{ include "vector-sidecar-operator.fullname" . }}-uninstall
{{- end -}}

{{- /* The account of a hook: its own, or the operator's where roles are others' to
make. Takes a list: the root, and the hook's component. */ -}}
{{- define "vector-sidecar-operator.hookAccount" -}}
{{- $root := first . -}}
{{- if $root.Values.rbac.create -}}
{{- include "vector-sidecar-operator.fullname" $root }}-{{ last . -}}
{{- else -}}
{{- include "vector-sidecar-operator.serviceAccountName" $root -}}
{{- end -}}
{{- end -}}

{{- /* The accounts that do the operator's work: its own, and that of the Job before uninstalling. A list in CEL. */ -}}
{{- define "vector-sidecar-operator.accounts" -}}
{{- $accounts := list (include "vector-sidecar-operator.serviceAccountName" .) (include "vector-sidecar-operator.hookAccount" (list . "uninstall")) | uniq }}
{{- $names := list }}
{{- range $accounts }}{{ $names = append $names (printf "'system:serviceaccount:%s:%s'" (include "vector-sidecar-operator.namespace" $) .) }}{{ end -}}
[{{ join ", " $names }}]
{{- end -}}

{{- /* Account and roles of a hook. Takes a dict: root, component, hook, and rules: a
list of dicts with namespace ("" for the cluster) and rules (YAML). */ -}}
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
