{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* "true" if the API server injects: it serves MutatingAdmissionPolicies in v1 since Kubernetes 1.36. The version decides, because
helm template and tools that use it know no kinds of a cluster. */ -}}
{{- define "vector-sidecar-operator.isInjecting" -}}
{{- if and .Values.admissionInjection.enabled (semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version) }}true{{ end -}}
{{- end -}}

{{- /* What keeping OverlaySets takes. An operator that keeps none deletes what is left of
one that did. */ -}}
{{- define "vector-sidecar-operator.injectionRules" -}}
- apiGroups: [observability.kontroloop.ai]
  resources: [overlaysets]
  verbs: {{ ternary "[get, list, watch, create, update, delete]" "[list, delete]" .Values.admissionInjection.enabled }}
{{- if .Values.admissionInjection.enabled }}
# The API server judges each sidecar, in a pod template that is never written (dryRun).
- apiGroups: [""]
  resources: [podtemplates]
  verbs: [create]
{{- end }}
{{- end -}}

{{- /* The items of a list that are added, in CEL: those of new sidecars, and where a list has one
owner (isAtomic) what a request has left out, as the workload had it unless something else is asked for
since. Takes what the OverlaySet calls them (of), the list of the pod and the path of its template. */ -}}
{{- define "vector-sidecar-operator.newItems" -}}
params.spec.{{ .of }}.filter(i, i.overlayID in variables.addedIDs).map(i, i.item)
{{- if .isAtomic }} +
params.spec.{{ .of }}.filter(i, i.overlayID in variables.lostIDs && !variables.{{ .list }}.exists(c, c.name == i.item.name)).map(i,
i.overlayID in variables.replacedIDs || !oldObject.{{ .path }}.spec.?{{ .list }}.orValue([]).exists(c, c.name == i.item.name) ?
dyn(i.item) : dyn(oldObject.{{ .path }}.spec.{{ .list }}.filter(c, c.name == i.item.name)[0]))
{{- end }}
{{- end -}}

{{- /* Whether an overlay o selects the workload, in CEL. Takes the kind, and the expressions of isOwned and labels. */ -}}
{{- define "vector-sidecar-operator.selects" -}}
'{{ .kind }}' in o.kinds && !({{ .isOwned }} && o.?skipsOwned.orValue(false)) && o.requirements.all(r,
r.operator == 'In' ? r.key in {{ .labels }} && {{ .labels }}[r.key] in r.values :
r.operator == 'NotIn' ? !(r.key in {{ .labels }} && {{ .labels }}[r.key] in r.values) :
r.operator == 'Exists' ? r.key in {{ .labels }} : !(r.key in {{ .labels }}))
{{- end -}}
