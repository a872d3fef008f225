{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* The policy for one kind of objects. Takes a dict: root; resource; title, CEL for the
kind and the namespace; check, CEL for where the user has to have the right; where, CEL
that says so; and role, which says what to ask for. */ -}}
{{- define "vector-sidecar-operator.admissionPolicy" -}}
{{- $root := .root }}
{{- $of := . }}
{{- $where := .check }}
{{- $group := "vectorsidecar.observability.kontroloop.ai" }}
{{- $finalizer := printf "%s/finalizer" $group }}
{{- /* All kinds that there are, served or not. */ -}}
{{- $kinds := include "vector-sidecar-operator.kinds" $root | fromJson }}
{{- $pairs := list }}
{{- range $kind, $of := $kinds }}
{{- $pairs = append $pairs (printf "['%s', '%s']" $kind $of.resource) }}
{{- end }}
{{- if and $root.Values.admissionPolicy.enabled (semverCompare ">=1.30.0-0" $root.Capabilities.KubeVersion.Version) }}
{{- /* A name of its own for each release, without the colon that roles may have. */ -}}
{{- $name := printf "%s.%s.%s" (include "vector-sidecar-operator.namespace" $root) (include "vector-sidecar-operator.fullname" $root) $of.resource }}
# What such an object says is written into workloads with the operator's rights, and is
# taken out of them when it goes. So who may not change workloads of a kind where it does
# may not have it done.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ $name | quote }}
  {{- include "vector-sidecar-operator.meta" (dict "root" $root) | nindent 2 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - apiGroups: [observability.kontroloop.ai]
        apiVersions: ["*"]
        resources: [{{ $of.resource }}]
        operations: [CREATE, UPDATE, DELETE]
  # Of one that is deleted there is no object, but oldObject alone.
  variables:
    - name: sidecar
      expression: "{{ $of.title }} + (request.operation == 'DELETE' ? oldObject : object).metadata.?name.orValue('')"
    # The kinds of workloads that it lists, or listed: taking a kind out of the list takes
    # sidecars out of workloads.
    - name: kinds
      expression: >-
        (request.operation == 'DELETE' ? [] : object.spec.?workloads.orValue(['Deployment'])) +
        (request.operation == 'CREATE' ? [] : oldObject.spec.?workloads.orValue(['Deployment']))
    # Other labels and annotations than these change no workload. An owner does: the garbage
    # collector deletes what belongs to one that is not there.
    - name: changes
      expression: >-
        request.operation == 'CREATE' || request.operation == 'UPDATE' && (object.spec != oldObject.spec ||
        ['{{ $group }}/undo-rollout', '{{ $group }}/promote-rollout', '{{ $group }}/retry-rollout'].exists(key,
        object.metadata.?annotations[?key].orValue('') != oldObject.metadata.?annotations[?key].orValue('')) ||
        object.metadata.?ownerReferences.orValue([]) != oldObject.metadata.?ownerReferences.orValue([]))
    - name: losesFinalizer
      expression: >-
        request.operation == 'UPDATE' && '{{ $finalizer }}' in oldObject.metadata.?finalizers.orValue([]) &&
        !('{{ $finalizer }}' in object.metadata.?finalizers.orValue([]))
    # Their roles are for the kinds that are served; others may be listed, and go with the release.
    - name: isOurs
      expression: request.userInfo.username in {{ include "vector-sidecar-operator.accounts" $root }}
    # Each in a variable of its own: one expression may ask the authorizer twice at most.
    {{- range $kind, $of := $kinds }}
    - name: mayPatch{{ $kind }}
      expression: >-
        !('{{ $kind }}' in variables.kinds) ||
        authorizer.group('{{ $of.group }}').resource('{{ $of.resource }}'){{ $where }}.check('patch').allowed()
    - name: mayDelete{{ $kind }}
      expression: >-
        !('{{ $kind }}' in variables.kinds) ||
        authorizer.group('{{ $of.group }}').resource('{{ $of.resource }}'){{ $where }}.check('delete').allowed()
    {{- end }}
    - name: mayPatch
      expression: {{ include "vector-sidecar-operator.ofEachKind" (list $kinds "variables.mayPatch%s") }}
    - name: mayPatchOrDelete
      expression: {{ include "vector-sidecar-operator.ofEachKind" (list $kinds "(variables.mayPatch%[1]s || variables.mayDelete%[1]s)") }}
    # Messages cannot name the one of them that is lacking: they may not ask the authorizer.
    - name: named
      expression: >-
        [{{ $pairs | join ", " }}].filter(p, p[0] in variables.kinds).map(p, p[1]).join(', ')
  validations:
    - expression: "!variables.changes || variables.mayPatch || variables.isOurs"
      reason: Forbidden
      messageExpression: >-
        "user " + request.userInfo.username + " may not create or change " + variables.sidecar +
        ": it changes " + variables.named + ", and the user may not patch these " + {{ $of.where }} +
        "; ask for a role with the verb patch on " + variables.named + " {{ $of.role }}"
    - expression: "!variables.losesFinalizer || variables.mayPatch || variables.isOurs"
      reason: Forbidden
      messageExpression: >-
        "user " + request.userInfo.username + " may not take finalizer {{ $finalizer }} from " + variables.sidecar +
        ": the operator does so when its sidecars are out of their workloads, and the user may not patch " + variables.named + " " + {{ $of.where }} +
        "; ask for a role with the verb patch on " + variables.named + " {{ $of.role }}"
    # The namespace controller may delete workloads, and not patch them.
    - expression: request.operation != 'DELETE' || variables.mayPatchOrDelete || variables.isOurs
      reason: Forbidden
      messageExpression: >-
        "user " + request.userInfo.username + " may not delete " + variables.sidecar +
        ": its sidecars are taken out of their workloads, and the user may neither patch nor delete " + variables.named + " " + {{ $of.where }} +
        "; ask for a role with the verb patch or delete on " + variables.named + " {{ $of.role }}"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ $name | quote }}
  {{- include "vector-sidecar-operator.meta" (dict "root" $root) | nindent 2 }}
spec:
  policyName: {{ $name | quote }}
  validationActions: [{{ $root.Values.admissionPolicy.action }}]
  {{- with $root.Values.watchNamespaces }}
  matchResources:
    namespaceSelector:
      matchExpressions:
        - key: kubernetes.io/metadata.name
          operator: In
          values: {{ toJson . }}
  {{- end }}
{{- end }}
{{- end -}}
