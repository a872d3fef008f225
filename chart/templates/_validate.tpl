{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* Refuses what each value allows alone and all of them together do not. */ -}}
{{- define "vector-sidecar-operator.validate" -}}
{{- with .Values -}}
{{- if and (gt (int .replicas) 1) (not .leaderElection.enabled) -}}
{{- fail (printf "replicas is %d and leaderElection.enabled is false: all operators would write at once; enable leader election, or set replicas to 1" (int .replicas)) -}}
{{- end -}}
{{- if and .metrics.enabled (eq (int .metrics.port) 8081) -}}
{{- fail "metrics.port is 8081, where the operator answers the kubelet's probes: choose another port" -}}
{{- end -}}
{{- if hasKey (default dict .environments) .environment -}}
{{- fail (printf "environments.%s: %q is the environment of this installation, whose values stand at the top level; move them there, so that there is one place to look" .environment .environment) -}}
{{- end -}}
{{- end -}}
{{- end -}}
