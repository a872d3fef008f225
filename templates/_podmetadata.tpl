{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* Returns a map with the annotations and labels that the sidecar adds to the pods, or an empty map for none. */}}
{{- define "vector-sidecar.podMetadata" }}
{{- $metadata := dict }}
{{- $agents := include "vector-sidecar.agentAnnotations" . | fromYaml }}
{{- $volumes := include "vector-sidecar.evictableVolumes" . | fromYaml }}
{{- $given := dict "annotations" (merge (dict) (default dict .Values.sidecar.podAnnotations) (default dict $agents.annotations) $volumes) "labels" .Values.sidecar.podLabels }}
{{- range $of, $keys := $given }}
{{- $kept := dict }}
{{- range $key, $value := $keys }}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $kept $key $value }}{{ end }}
{{- end }}
{{- if $kept }}{{ $_ := set $metadata $of $kept }}{{ end }}
{{- end }}
{{- toYaml $metadata }}
{{- end }}

{{- /*
Returns a map with the pod annotations by which log agents on the nodes exclude the sidecar's output, without keys of
sidecar.podAnnotations, and with a warning. Returns an empty map if the agents collect that output.
*/}}
{{- define "vector-sidecar.agentAnnotations" }}
{{- $sidecar := .Values.sidecar }}
{{- $found := dict }}
{{- $tooLong := list }}
{{- if include "vector-sidecar.isLeftToItself" . }}
{{- range .Values.global.nodeAgentAnnotations }}
{{- $key := replace "CONTAINER" $sidecar.name .annotation }}
{{- if gt (len (splitList "/" $key | last)) 63 }}
{{- $tooLong = append $tooLong $key }}
{{- else if not (hasKey (default dict $sidecar.podAnnotations) $key) }}
{{- $_ := set $found $key (replace "CONTAINER" $sidecar.name .value) }}
{{- end }}
{{- end }}
{{- end }}
{{- $agents := dict }}
{{- with $found }}{{ $_ := set $agents "annotations" . }}{{ end }}
{{- if and $tooLong (eq $sidecar.nodeAgents "Exclude") }}
{{- $_ := set $agents "warning" (printf "the sidecar does not set the pod annotation %s, which is too long for a key: shorten sidecar.name" (join " and " $tooLong)) }}
{{- end }}
{{- toYaml $agents }}
{{- end }}

{{- /*
Returns a map with the annotation that names the sidecar's volumes on the node's disk to the Cluster Autoscaler.
Returns an empty map if these volumes prevent the removal of the node, or if sidecar.podAnnotations sets the
annotation.
*/}}
{{- define "vector-sidecar.evictableVolumes" }}
{{- $sidecar := .Values.sidecar }}
{{- $key := "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes" }}
{{- $names := list }}
{{- if not (or (eq (default "Never" $sidecar.data.evictable) "Never") (hasKey (default dict $sidecar.podAnnotations) $key)) }}
{{- range concat (include "vector-sidecar.emptyDirs" . | fromYamlArray) .Values.volumes }}
{{- $isInMemory := eq (default "" (default dict .emptyDir).medium) "Memory" }}
{{- if or (hasKey . "hostPath") (and (hasKey . "emptyDir") (not $isInMemory)) }}{{ $names = append $names .name }}{{ end }}
{{- end }}
{{- end }}
{{- $annotations := dict }}
{{- if $names }}{{ $_ := set $annotations $key ($names | sortAlpha | join ",") }}{{ end }}
{{- toYaml $annotations }}
{{- end }}

{{- /* Returns "true" if log agents on the nodes do not collect the sidecar's output, and "" otherwise. */}}
{{- define "vector-sidecar.isLeftToItself" }}
{{- $mode := default "Collect" .Values.sidecar.nodeAgents }}
{{- if eq $mode "Exclude" -}}
true
{{- else if eq $mode "Auto" }}
{{- $types := include "vector-sidecar.sinkTypes" . | fromYamlArray }}
{{- if and $types (not (has "console" $types)) }}true{{ end }}
{{- end }}
{{- end }}

{{- /*
Returns the types of the sinks of a rendered or raw configuration, as a YAML list. Returns an empty list for all other
configurations, which the templates cannot read.
*/}}
{{- define "vector-sidecar.sinkTypes" }}
{{- $sidecar := .Values.sidecar }}
{{- $origin := include "vector-sidecar.configOrigin" . }}
{{- $collects := or $sidecar.logs.path $sidecar.socket.enabled $sidecar.otlp.enabled }}
{{- $sinks := dict }}
{{- if eq $origin "raw" }}
{{- if kindIs "map" $sidecar.config.raw.sinks }}{{ $sinks = $sidecar.config.raw.sinks }}{{ end }}
{{- else if not $origin }}
{{- range $id, $sink := $sidecar.sinks }}
{{- if and $sink (or $collects (hasKey $sink "inputs")) }}{{ $_ := set $sinks $id $sink }}{{ end }}
{{- end }}
{{- if and $collects (not $sinks) }}
{{- $type := ternary "vector" "console" (not (empty (default dict .Values.global.aggregator).address)) }}
{{- $sinks = dict $type (dict "type" $type) }}
{{- end }}
{{- end }}
{{- $types := list }}
{{- range $sinks }}
{{- if kindIs "map" . }}
{{- if ne (default "" .type) "prometheus_exporter" }}{{ $types = append $types .type }}{{ end }}
{{- end }}
{{- end }}
{{- toYaml $types }}
{{- end }}
