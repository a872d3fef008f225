{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* Returns "true" if the pod is Guaranteed and sidecar.qos requires that it stays Guaranteed, and "" otherwise. */}}
{{- define "vector-sidecar.keepsGuaranteed" }}
{{- if eq (default "Ignore" .Values.sidecar.qos) "Keep" }}
{{- if eq (default "" .Values.target.qosClass) "Guaranteed" }}true{{ end }}
{{- end }}
{{- end }}

{{- /*
Returns .resources of a container as a YAML map. If the pod must stay Guaranteed, the requests equal the limits, and
limits that are not set equal the requests.
*/}}
{{- define "vector-sidecar.resources" }}
{{- $resources := default dict .resources }}
{{- if include "vector-sidecar.keepsGuaranteed" .root }}
{{- $requests := default dict $resources.requests }}
{{- $limits := default dict $resources.limits }}
{{- $both := merge (pick $limits "cpu" "memory") (pick $requests "cpu" "memory") }}
{{- $resources = merge (dict "requests" (merge (dict) $both $requests) "limits" (merge (dict) $both $limits)) $resources }}
{{- end }}
{{- toYaml $resources }}
{{- end }}

{{- /* Returns the reason why a pod does not stay Guaranteed although sidecar.qos requires it, or "". */}}
{{- define "vector-sidecar.qosWarning" }}
{{- if include "vector-sidecar.keepsGuaranteed" . }}
{{- $sidecar := .Values.sidecar }}
{{- $all := list (dict "name" $sidecar.name "resources" $sidecar.resources) }}
{{- range include "vector-sidecar.drainGate" . | fromYamlArray }}{{ $all = append $all . }}{{ end }}
{{- $lacking := list }}
{{- range $container := concat $all .Values.initContainers }}
{{- $resources := default dict $container.resources }}
{{- range $name := list "cpu" "memory" }}
{{- if not (or (hasKey (default dict $resources.requests) $name) (hasKey (default dict $resources.limits) $name)) }}
{{- $lacking = append $lacking (printf "%s of container %s" $name $container.name) }}
{{- end }}
{{- end }}
{{- end }}
{{- with $lacking }}
{{- printf "the sidecar changes the QoS class of pods from Guaranteed to Burstable although sidecar.qos is Keep: neither requests nor limits contain %s" (join ", " .) }}
{{- end }}
{{- end }}
{{- end }}
