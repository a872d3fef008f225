{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* The names of what the admission webhook consists of. */ -}}
{{- define "vector-sidecar-operator.webhookService" -}}
{{- include "vector-sidecar-operator.fullname" . }}-webhook
{{- end -}}

{{- /* A name of its own for each release, as that of the policy. */ -}}
{{- define "vector-sidecar-operator.webhookConfiguration" -}}
{{- printf "%s.%s.vectorsidecars" (include "vector-sidecar-operator.namespace" .) (include "vector-sidecar-operator.fullname" .) -}}
{{- end -}}

{{- /* What the API server is to ask, and whom: a webhook of a
ValidatingWebhookConfiguration. */ -}}
{{- define "vector-sidecar-operator.webhook" -}}
{{- $certificate := .Values.admissionWebhook.certificate -}}
name: vectorsidecars.observability.kontroloop.ai
admissionReviewVersions: [v1]
clientConfig:
  service:
    name: {{ include "vector-sidecar-operator.webhookService" . | quote }}
    namespace: {{ include "vector-sidecar-operator.namespace" . | quote }}
    path: /validate-vectorsidecar
    port: {{ .Values.admissionWebhook.port }}
  {{- if eq $certificate.source "secret" }}
  caBundle: {{ $certificate.caBundle | b64enc }}
  {{- end }}
# For no other kinds than the operator's own, and not for their status.
rules:
  - apiGroups: [observability.kontroloop.ai]
    apiVersions: [v1alpha1]
    resources: [vectorsidecars]
    operations: [CREATE, UPDATE]
    scope: Namespaced
  {{- if include "vector-sidecar-operator.offersClusters" . }}
  - apiGroups: [observability.kontroloop.ai]
    apiVersions: [v1alpha1]
    resources: [clustervectorsidecars]
    operations: [CREATE, UPDATE]
    scope: Cluster
  {{- end }}
# What does not change what is wanted is not asked about: labels, finalizers, and
# what goes anyway. So it is possible while no operator runs.
matchConditions:
  - name: what-is-wanted-changes
    expression: request.operation == 'CREATE' || object.spec != oldObject.spec
  - name: it-is-to-stay
    expression: "!has(object.metadata.deletionTimestamp)"
failurePolicy: Fail
matchPolicy: Equivalent
sideEffects: None
timeoutSeconds: {{ .Values.admissionWebhook.timeoutSeconds }}
{{- with .Values.watchNamespaces }}
namespaceSelector:
  matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: In
      values: {{ toJson . }}
{{- end }}
{{- end -}}

{{- /* The Secret with its certificate; that of cert-manager's Certificate is named
as the Certificate. */ -}}
{{- define "vector-sidecar-operator.webhookSecret" -}}
{{- with .Values.admissionWebhook.certificate -}}
{{- if eq .source "secret" }}{{ .secretName }}{{ else }}{{ include "vector-sidecar-operator.fullname" $ }}-webhook-cert{{ end -}}
{{- end -}}
{{- end -}}

{{- /* Arguments by which the operator serves it: a YAML list, or nothing. */ -}}
{{- define "vector-sidecar-operator.webhookArgs" -}}
{{- with .Values.admissionWebhook -}}
{{- if .enabled }}
- --webhook-bind-address=:{{ .port }}
- --webhook-certificate-secret={{ include "vector-sidecar-operator.webhookSecret" $ }}
{{- if eq .certificate.source "operator" }}
- --webhook-configuration={{ include "vector-sidecar-operator.webhookConfiguration" $ }}
- --webhook-service={{ include "vector-sidecar-operator.webhookService" $ }}
{{- end }}
{{- if .clientCA }}
- --webhook-client-ca=/etc/vector-sidecar-operator/webhook-client-ca.crt
{{- end }}
{{- with .clientNames }}
- --webhook-client-names={{ join "," . }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{- /* A Certificate of cert-manager for a Service of the release. Takes a dict: root,
service, name (of the Certificate and of its Secret), issuerRef. */ -}}
{{- define "vector-sidecar-operator.certificate" -}}
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: {{ .name | quote }}
  namespace: {{ include "vector-sidecar-operator.namespace" .root | quote }}
  {{- include "vector-sidecar-operator.meta" (dict "root" .root) | nindent 2 }}
spec:
  secretName: {{ .name | quote }}
  dnsNames:
    - "{{ .service }}.{{ include "vector-sidecar-operator.namespace" .root }}.svc"
    - "{{ .service }}.{{ include "vector-sidecar-operator.namespace" .root }}.svc.cluster.local"
  issuerRef:
    {{- toYaml .issuerRef | nindent 4 }}
  usages: [server auth]
  privateKey:
    algorithm: ECDSA
    size: 256
    rotationPolicy: Always
{{- end -}}
