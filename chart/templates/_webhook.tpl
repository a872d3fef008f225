{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* The names of the objects of the admission webhook. */ -}}
{{- define "vector-sidecar-operator.webhookService" -}}
{{- include "vector-sidecar-operator.fullname" . }}-webhook
{{- end -}}

{{- /* The name differs between releases, as the name of the policy does. */ -}}
{{- define "vector-sidecar-operator.webhookConfiguration" -}}
{{- printf "%s.%s.vectorsidecars" (include "vector-sidecar-operator.namespace" .) (include "vector-sidecar-operator.fullname" .) -}}
{{- end -}}

{{- /*
A webhook of a ValidatingWebhookConfiguration: its address and the requests that the API server sends to it.
*/ -}}
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
# The webhook reviews only the operator's own kinds, and not their status.
rules:
  - apiGroups: [observability.kontroloop.ai]
    apiVersions: [v1alpha1]
    resources: [vectorsidecars]
    operations: [CREATE, UPDATE]
    scope: Namespaced
  {{- if include "vector-sidecar-operator.enablesClusters" . }}
  - apiGroups: [observability.kontroloop.ai]
    apiVersions: [v1alpha1]
    resources: [clustervectorsidecars]
    operations: [CREATE, UPDATE]
    scope: Cluster
  {{- end }}
# Requests that cannot change the desired state are not reviewed: changes of labels and finalizers, and objects in
# deletion. They are therefore possible while no operator runs.
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

{{- /*
The name of the Secret with the webhook's certificate. The Secret of a cert-manager Certificate has the name of the
Certificate.
*/ -}}
{{- define "vector-sidecar-operator.webhookSecret" -}}
{{- with .Values.admissionWebhook.certificate -}}
{{- if eq .source "secret" }}{{ .secretName }}{{ else }}{{ include "vector-sidecar-operator.fullname" $ }}-webhook-cert{{ end -}}
{{- end -}}
{{- end -}}

{{- /* Arguments for the webhook server of the operator, as a YAML list. Empty without the webhook. */ -}}
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
