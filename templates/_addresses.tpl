{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* The IP family of the addresses that Vector listens on: IPv4, IPv6 or Dual. */}}
{{- define "vector-sidecar.ipFamily" }}
{{- $family := default "Auto" .Values.global.ipFamily }}
{{- if eq $family "Auto" }}{{ $family = .Values.cluster.ipFamily }}{{ end }}
{{- $family }}
{{- end }}

{{- /* What listens for all that comes to the pod's addresses; [::] takes both families. */}}
{{- define "vector-sidecar.anyAddress" }}
{{- if eq (include "vector-sidecar.ipFamily" .) "IPv4" }}0.0.0.0{{ else }}[::]{{ end }}
{{- end }}

{{- /*
What listens for the pod's own containers. There is no address for localhost of both
families: where there are both, it is that of IPv4, which clients that look up localhost
try as well.
*/}}
{{- define "vector-sidecar.localhost" }}
{{- if eq (include "vector-sidecar.ipFamily" .) "IPv6" }}[::1]{{ else }}127.0.0.1{{ end }}
{{- end }}
