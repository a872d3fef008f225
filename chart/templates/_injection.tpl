{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /*
"true" if admission injection is possible: the API server serves MutatingAdmissionPolicies in v1 since Kubernetes
1.36. The version decides, because helm template and tools that use it do not know the kinds of a cluster.
*/ -}}
{{- define "vector-sidecar-operator.isInjecting" -}}
{{- if and .Values.admissionInjection.enabled (semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version) }}true{{ end -}}
{{- end -}}

{{- /*
Permissions for OverlaySets. An operator without admission injection deletes the OverlaySets of an earlier
installation.
*/ -}}
{{- define "vector-sidecar-operator.injectionRules" -}}
- apiGroups: [observability.kontroloop.ai]
  resources: [overlaysets]
  verbs: {{ ternary "[get, list, watch, create, update, delete]" "[list, delete]" .Values.admissionInjection.enabled }}
{{- if .Values.admissionInjection.enabled }}
# The API server checks each sidecar by a dry run of a pod template, which is never written.
- apiGroups: [""]
  resources: [podtemplates]
  verbs: [create]
{{- end }}
{{- end -}}

{{- /*
The items to add to a list, as CEL: items of new sidecars, and, for a list with a single owner (isAtomic), items
that the request omits. Omitted items are restored as the workload had them, unless the sidecar has changed since.
Takes the name of the list in the OverlaySet (of), the name of the list in the pod, and the path of the pod
template.
*/ -}}
{{- define "vector-sidecar-operator.newItems" -}}
params.spec.{{ .of }}.filter(i, i.overlayID in variables.addedIDs).map(i, i.item)
{{- if .isAtomic }} +
params.spec.{{ .of }}.filter(i, i.overlayID in variables.lostIDs && !variables.{{ .list }}.exists(c, c.name == i.item.name)).map(i,
i.overlayID in variables.replacedIDs || !oldObject.{{ .path }}.spec.?{{ .list }}.orValue([]).exists(c, c.name == i.item.name) ?
dyn(i.item) : dyn(oldObject.{{ .path }}.spec.{{ .list }}.filter(c, c.name == i.item.name)[0]))
{{- end }}
{{- end -}}

{{- /*
Whether an overlay o selects the workload, as CEL. Takes the kind, and the CEL expressions for isOwned and labels.
*/ -}}
{{- define "vector-sidecar-operator.selects" -}}
'{{ .kind }}' in o.kinds && !({{ .isOwned }} && o.?skipsOwned.orValue(false)) && o.requirements.all(r,
r.operator == 'In' ? r.key in {{ .labels }} && {{ .labels }}[r.key] in r.values :
r.operator == 'NotIn' ? !(r.key in {{ .labels }} && {{ .labels }}[r.key] in r.values) :
r.operator == 'Exists' ? r.key in {{ .labels }} : !(r.key in {{ .labels }}))
{{- end -}}
