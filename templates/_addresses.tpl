{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* Returns the IP family of the addresses that Vector listens on: IPv4, IPv6 or Dual. */}}
{{- define "vector-sidecar.ipFamily" }}
{{- $family := default "Auto" .Values.global.ipFamily }}
{{- if eq $family "Auto" }}{{ $family = .Values.cluster.ipFamily }}{{ end }}
{{- $family }}
{{- end }}

{{- /* Returns the address for listening on all addresses of the pod. [::] includes IPv4 addresses. */}}
{{- define "vector-sidecar.anyAddress" }}
{{- if eq (include "vector-sidecar.ipFamily" .) "IPv4" }}0.0.0.0{{ else }}[::]{{ end }}
{{- end }}

{{- /*
Returns the address for listening to containers of the same pod. No address stands for localhost in both families.
With both families, it is the IPv4 address, because clients that resolve localhost also try IPv4.
*/}}
{{- define "vector-sidecar.localhost" }}
{{- if eq (include "vector-sidecar.ipFamily" .) "IPv6" }}[::1]{{ else }}127.0.0.1{{ end }}
{{- end }}
