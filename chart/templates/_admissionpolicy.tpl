{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /*
The admission policy for one kind of objects. Takes a dict: root; resource; title, a CEL text with the kind and the
namespace of the object; check, CEL for the namespace in which the user needs the permission; where, a CEL text that
names this namespace in messages; and role, a text for messages that names the role to request.
*/ -}}
{{- define "vector-sidecar-operator.admissionPolicy" -}}
{{- $root := .root }}
{{- $of := . }}
{{- $where := .check }}
{{- $group := "vectorsidecar.observability.kontroloop.ai" }}
{{- $finalizer := printf "%s/finalizer" $group }}
{{- /* All kinds of workloads, whether they are enabled or not. */ -}}
{{- $kinds := include "vector-sidecar-operator.kinds" $root | fromJson }}
{{- $pairs := list }}
{{- range $kind, $of := $kinds }}
{{- $pairs = append $pairs (printf "['%s', '%s']" $kind $of.resource) }}
{{- end }}
{{- if and $root.Values.admissionPolicy.enabled (semverCompare ">=1.30.0-0" $root.Capabilities.KubeVersion.Version) }}
{{- /* The name differs between releases and has no colon, which names of roles may have. */ -}}
{{- $name := printf "%s.%s.%s" (include "vector-sidecar-operator.namespace" $root) (include "vector-sidecar-operator.fullname" $root) $of.resource }}
# The operator writes the content of such an object into workloads, and removes it when the object is deleted. A user
# who may not change workloads of a kind must therefore not create, change or delete such an object for that kind.
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
  # For a deletion, object is null, and only oldObject is set.
  variables:
    - name: sidecar
      expression: "{{ $of.title }} + (request.operation == 'DELETE' ? oldObject : object).metadata.?name.orValue('')"
    # The kinds of workloads in the old and the new list, because removing a kind from the list removes sidecars from
    # workloads.
    - name: kinds
      expression: >-
        (request.operation == 'DELETE' ? [] : object.spec.?workloads.orValue(['Deployment'])) +
        (request.operation == 'CREATE' ? [] : oldObject.spec.?workloads.orValue(['Deployment']))
    # All other labels and annotations have no effect on workloads. Owner references have an effect: the garbage
    # collector deletes an object if its owner does not exist.
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
    # The accounts of the release have roles for the enabled kinds only. They may also change and delete objects that
    # list other kinds.
    - name: isOurs
      expression: request.userInfo.username in {{ include "vector-sidecar-operator.accounts" $root }}
    # Each check is a separate variable, because one expression may call the authorizer at most twice.
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
    # A message cannot name the missing permission, because message expressions may not call the authorizer.
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
    # The namespace controller may delete workloads, but may not patch them.
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
