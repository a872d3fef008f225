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
{{- printf "%s.%s.vectorsidecars" .Release.Namespace (include "vector-sidecar-operator.fullname" .) -}}
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
  namespace: {{ .root.Release.Namespace | quote }}
  {{- include "vector-sidecar-operator.meta" (dict "root" .root) | nindent 2 }}
spec:
  secretName: {{ .name | quote }}
  dnsNames:
    - "{{ .service }}.{{ .root.Release.Namespace }}.svc"
    - "{{ .service }}.{{ .root.Release.Namespace }}.svc.cluster.local"
  issuerRef:
    {{- toYaml .issuerRef | nindent 4 }}
  usages: [server auth]
  privateKey:
    algorithm: ECDSA
    size: 256
    rotationPolicy: Always
{{- end -}}
