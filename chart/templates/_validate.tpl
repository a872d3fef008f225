{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* Fails for combinations of values that are not allowed although each single value is. */ -}}
{{- define "vector-sidecar-operator.validate" -}}
{{- include "vector-sidecar-operator.validateElection" . -}}
{{- include "vector-sidecar-operator.validateMonitoring" . -}}
{{- include "vector-sidecar-operator.validatePods" . -}}
{{- include "vector-sidecar-operator.validateKeys" . -}}
{{- with .Values -}}
{{- $name := include "vector-sidecar-operator.fullname" $ -}}
{{- if or .metrics.enabled .admissionWebhook.enabled -}}
{{- if contains "." $name -}}
{{- fail (printf "the release is named %s, and a Service %s-… may have no dot in its name: set fullnameOverride, or name the release without one" $.Release.Name $name) -}}
{{- end -}}
{{- if and (regexMatch "^[0-9]" $name) (semverCompare "<1.36.0-0" $.Capabilities.KubeVersion.Version) -}}
{{- fail (printf "the release is named %s, and a Service %s-… may not begin with a digit before Kubernetes 1.36 (this is %s): set fullnameOverride, or name the release otherwise" $.Release.Name $name $.Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- end -}}
{{- if and .metrics.enabled (eq (int .metrics.port) 8081) -}}
{{- fail "metrics.port is 8081, where the operator answers the kubelet's probes: choose another port" -}}
{{- end -}}
{{- if and (eq .metrics.certificate.source "secret") (not .metrics.certificate.secretName) -}}
{{- fail "metrics.certificate.source is secret and metrics.certificate.secretName is empty: name the Secret with tls.crt and tls.key" -}}
{{- end -}}
{{- if and (eq .metrics.certificate.source "certManager") (not (default dict .metrics.certificate.issuerRef).name) -}}
{{- fail "metrics.certificate.source is certManager and metrics.certificate.issuerRef has no name: name the Issuer that signs" -}}
{{- end -}}
{{- if and (eq .rollout.onFailure "Revert") (not (kindIs "map" .rollout.halt)) -}}
{{- fail "rollout.onFailure is Revert and rollout.halt is null, which says when templates and values have failed: set rollout.halt, such as {failedWorkloads: 1}" -}}
{{- end -}}
{{- if and (kindIs "map" .rollout.halt) (not .rbac.optional.pods) -}}
{{- fail "rollout.halt is set and rbac.optional.pods is false: without pods the operator cannot tell failures of the sidecar from full or cordoned nodes, and does not see restarts; set rbac.optional.pods to true" -}}
{{- end -}}
{{- if and .preflight.enabled (semverCompare "<1.30.0-0" $.Capabilities.KubeVersion.Version) -}}
{{- fail (printf "preflight.enabled needs Kubernetes 1.30, and this is %s: without ValidatingAdmissionPolicy nothing would hold the operator's right to create pods to dry runs; set preflight.enabled to false" $.Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- if and .vectorSidecars.enabled .vectorSidecars.clusterItems (not (include "vector-sidecar-operator.enablesClusters" $)) -}}
{{- fail "vectorSidecars.clusterItems is set, and ClusterVectorSidecars are not enabled: set clusterVectorSidecars.enabled to true and watchNamespaces to [], or use vectorSidecars.items" -}}
{{- end -}}
{{- if .admissionWebhook.enabled }}{{ include "vector-sidecar-operator.validateWebhook" $ }}{{ end -}}
{{- $environment := include "vector-sidecar-operator.environment" $ -}}
{{- if hasKey (default dict .environments) $environment -}}
{{- fail (printf "environments.%s: %q is the environment of this installation, whose values stand at the top level; move them there, so that there is one place to look" $environment $environment) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "vector-sidecar-operator.validateWebhook" -}}
{{- if semverCompare "<1.28.0-0" .Capabilities.KubeVersion.Version -}}
{{- fail (printf "admissionWebhook.enabled needs Kubernetes 1.28, and this is %s: before, no finalizer of a VectorSidecar could be removed while no operator runs; set admissionWebhook.enabled to false" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- with .Values.admissionWebhook -}}
{{- if eq (int .port) 8081 -}}
{{- fail "admissionWebhook.port is 8081, where the operator answers the kubelet's probes: choose another port" -}}
{{- end -}}
{{- if and $.Values.metrics.enabled (eq (int .port) (int $.Values.metrics.port)) -}}
{{- fail (printf "admissionWebhook.port and metrics.port are both %d: choose another for one of them" (int .port)) -}}
{{- end -}}
{{- if and .clientNames (not .clientCA) -}}
{{- fail "admissionWebhook.clientNames is set and clientCA is empty: give the certificates of who signed the API server's client certificate" -}}
{{- end -}}
{{- if and $.Values.networkPolicy.enabled (not $.Values.networkPolicy.webhookFrom) -}}
{{- fail "admissionWebhook.enabled and networkPolicy.enabled are true and networkPolicy.webhookFrom is empty: name the addresses that the API server calls from, such as [{ipBlock: {cidr: 10.0.0.0/28}}], or say anywhere" -}}
{{- end -}}
{{- if eq (int $.Values.replicas) 0 -}}
{{- fail "admissionWebhook.enabled is true and replicas is 0: no VectorSidecar could be created; set replicas higher, or admissionWebhook.enabled to false" -}}
{{- end -}}
{{- with .certificate -}}
{{- if and (eq .source "secret") (not (and .secretName .caBundle)) -}}
{{- fail "admissionWebhook.certificate.source is secret and needs secretName and caBundle: the Secret with tls.crt and tls.key, and who signed it" -}}
{{- end -}}
{{- if and (eq .source "certManager") (not (default dict .issuerRef).name) -}}
{{- fail "admissionWebhook.certificate.source is certManager and admissionWebhook.certificate.issuerRef has no name: name the Issuer that signs" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "vector-sidecar-operator.validateElection" -}}
{{- with .Values -}}
{{- if and (gt (int .replicas) 1) (not .leaderElection.enabled) -}}
{{- fail (printf "replicas is %d and leaderElection.enabled is false: all operators would write at once; enable leader election, or set replicas to 1" (int .replicas)) -}}
{{- end -}}
{{- with .leaderElection -}}
{{- if ge (int .renewDeadlineSeconds) (int .leaseDurationSeconds) -}}
{{- fail (printf "leaderElection.renewDeadlineSeconds is %d and leaseDurationSeconds is %d: the leader must step down before another takes over; make the deadline shorter than the lease" (int .renewDeadlineSeconds) (int .leaseDurationSeconds)) -}}
{{- end -}}
{{- if ge (mul 6 .retryPeriodSeconds) (mul 5 .renewDeadlineSeconds) -}}
{{- fail (printf "leaderElection.retryPeriodSeconds is %d and renewDeadlineSeconds is %d: 1.2 times the period must be less than the deadline, so that the leader tries more than once" (int .retryPeriodSeconds) (int .renewDeadlineSeconds)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "vector-sidecar-operator.validateMonitoring" -}}
{{- with .Values.monitoring -}}
{{- $prometheus := default dict .prometheus -}}
{{- if and .enabled (ne (empty $prometheus.namespace) (empty $prometheus.serviceAccountName)) -}}
{{- fail "monitoring.prometheus needs both namespace and serviceAccountName, or neither: an account is known by both" -}}
{{- end -}}
{{- $credentials := default dict .operator.credentials -}}
{{- if and $credentials (not (and $credentials.name $credentials.key)) -}}
{{- fail "monitoring.operator.credentials needs name and key: which key of which Secret holds the token" -}}
{{- end -}}
{{- if and .enabled $.Values.metrics.enabled (eq .operator.kind "PodMonitor") (not $credentials) -}}
{{- fail "monitoring.operator.kind is PodMonitor and monitoring.operator.credentials is empty: a PodMonitor cannot read a token from a file; name the Secret, or use ServiceMonitor" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* "true" for a value that is neither null nor empty; 0 is a value. */ -}}
{{- define "vector-sidecar-operator.isGiven" -}}
{{- if not (or (kindIs "invalid" .) (eq (toString .) "")) }}true{{ end -}}
{{- end -}}

{{- define "vector-sidecar-operator.validatePods" -}}
{{- with .Values -}}
{{- if and (eq (default "" .dnsPolicy) "None") (not (default dict .dnsConfig).nameservers) -}}
{{- fail "dnsPolicy is None and dnsConfig.nameservers is empty: the pods could not resolve any name; name a server, or set another dnsPolicy" -}}
{{- end -}}
{{- if and .hostNetwork .networkPolicy.enabled -}}
{{- fail "hostNetwork and networkPolicy.enabled are true: a NetworkPolicy does not apply to pods in the network of their nodes; set one of them to false" -}}
{{- end -}}
{{- if and .strategy (not .leaderElection.enabled) (ne (toString .strategy.type) "Recreate") -}}
{{- fail "strategy is not Recreate and leaderElection.enabled is false: the old operator and the new one would write at once; enable leader election, or set strategy.type to Recreate" -}}
{{- end -}}
{{- if and (eq (toString (default dict .strategy).type) "Recreate") .strategy.rollingUpdate -}}
{{- fail "strategy.type is Recreate and strategy.rollingUpdate is set: give one of the two" -}}
{{- end -}}
{{- range .extraContainers -}}
{{- if eq (toString .name) "operator" -}}
{{- fail "extraContainers has a container named operator, which is the name of the operator's own: choose another one" -}}
{{- end -}}
{{- end -}}
{{- if and .podAntiAffinity (hasKey (default dict .affinity) "podAntiAffinity") -}}
{{- fail (printf "podAntiAffinity is %s and affinity.podAntiAffinity is set: give one of the two" .podAntiAffinity) -}}
{{- end -}}
{{- $budget := .podDisruptionBudget -}}
{{- if $budget.enabled -}}
{{- $minimum := include "vector-sidecar-operator.isGiven" $budget.minAvailable -}}
{{- $maximum := include "vector-sidecar-operator.isGiven" $budget.maxUnavailable -}}
{{- if and (not $minimum) (not $maximum) -}}
{{- fail "podDisruptionBudget has neither minAvailable nor maxUnavailable: give one" -}}
{{- end -}}
{{- if and $minimum $maximum -}}
{{- fail (printf "podDisruptionBudget has minAvailable %v and maxUnavailable %v: give one, and set the other to null" $budget.minAvailable $budget.maxUnavailable) -}}
{{- end -}}
{{- $blocks := has (toString $budget.maxUnavailable) (list "0" "0%") -}}
{{- if $minimum -}}
{{- $least := int $budget.minAvailable -}}
{{- if kindIs "string" $budget.minAvailable -}}
{{- /* A percentage is rounded up. */ -}}
{{- $least = div (add (mul (trimSuffix "%" $budget.minAvailable | int) .replicas) 99) 100 -}}
{{- end -}}
{{- $blocks = ge (int $least) (int .replicas) -}}
{{- end -}}
{{- if and $blocks (gt (int .replicas) 0) -}}
{{- fail (printf "podDisruptionBudget lets none of %d operators go: no node with an operator could be drained; lower minAvailable, raise maxUnavailable, or set replicas higher" (int .replicas)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Rejects VectorSidecars and ClusterVectorSidecars: Helm looks up all kinds before it creates the definitions, and
deletes the objects together with the operator that removes their sidecars. Takes the YAML documents of an extra object. */ -}}
{{- define "vector-sidecar-operator.validateExtraObject" -}}
{{- $values := dict "VectorSidecar" "vectorSidecars.items" "ClusterVectorSidecar" "vectorSidecars.clusterItems" -}}
{{- range regexSplit "(?m)^---" . -1 -}}
{{- $object := fromYaml . -}}
{{- range concat (list $object) (default list $object.items) -}}
{{- $kind := toString .kind -}}
{{- if and (hasPrefix "observability.kontroloop.ai/" (toString .apiVersion)) (hasKey $values $kind) -}}
{{- fail (printf "extraObjects has %s %s: declare it in %s, so that the operator applies and deletes it" $kind (default dict .metadata).name (get $values $kind)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
