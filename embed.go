// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package vectorsidecar is the root of the Vector Sidecar Operator. It contains only FS, the sidecar chart that is
// built into the operator.
//
// The packages, in the order in which data flows, each as package – input – output:
//
//   - api/v1alpha1 – manifests of users – the types VectorSidecar, ClusterVectorSidecar and OverlaySet.
//   - internal/clusterwide – a ClusterVectorSidecar and namespaces – one VectorSidecar for each selected namespace.
//   - internal/declared – the ConfigMap of values and an object – the change of an object that the values declare.
//   - internal/environment – layers of values – merged values and the origin of each value.
//   - internal/gotemplate – template texts and data – rendered text, within limits of time and memory.
//   - internal/render – the sidecar chart, values and a target – an overlay and companion ConfigMaps.
//   - internal/policy – a rendered pod and the platform's policy – violations.
//   - internal/vectorlint/config – files of a Vector configuration, image and container – faults that prevent Vector from
//     starting.
//   - internal/vectorlint/flags – Vector's command line – its settings and faults.
//   - internal/vectorlint/options – a component and a release of Vector – its options.
//   - internal/vectorlint/vrl – a program in the Vector Remap Language – its faults.
//   - internal/desired – template sets, values, policy and a VectorSidecar – the desired sidecar of a workload, from a cache.
//   - internal/companion – ConfigMaps and workloads – generated ConfigMaps in use, and leftover sidecars.
//   - internal/workload – a workload object – its view, its kind, and the fields that a field manager owns.
//   - internal/workloadcache – informer events – indexed views of all workloads.
//   - internal/plan – a view and a desired sidecar – the write that makes them equal, or the reason why it has to wait.
//   - internal/preflight – a desired sidecar and the API server's answers – dry runs to make, and dry-run results.
//   - internal/fleet – statuses of VectorSidecars and rollout rules – rollout slots, windows and waves.
//   - internal/lastgood – the observed rollouts of a spec – the last known good spec to return to.
//   - internal/decision – the Input of a decision – a decision about all workloads of a VectorSidecar, without a cluster.
//   - internal/overlayset – a decision – the OverlaySet of a namespace: the sidecars that the API server injects.
//   - internal/source – a cluster, files, or files over a cluster – the Input of a decision.
//   - internal/apply – a plan or a companion ConfigMap – a write to the API server, as the only writer.
//   - internal/status – a decision and the results of its writes – the status of a VectorSidecar.
//   - internal/controller/sidecar – watch events – reconciles: read a snapshot, decide, apply, write the status.
//   - internal/controller/clustersidecar – a ClusterVectorSidecar and the reports of its namespaces – reconciles of the namespaces, and the status.
//   - internal/controller/state – results of earlier reconciles – the cached state of a VectorSidecar.
//   - internal/controller/sidecarcache – a namespace, name or index key – VectorSidecars in the cache.
//   - internal/controller/catalog – the platform's ConfigMaps – the published platform and stored revisions.
//   - internal/controller/waves – statuses of VectorSidecars – the published waves, in which a revision starts.
//   - internal/controller/slots – the demand and progress of reconciles – rollout slots, and reconciles that get slots later.
//   - internal/controller/companionuse – workloads and their revisions – old companion ConfigMaps that no rollback needs.
//   - internal/controller/declared – the ConfigMap of values – applies and deletions of the VectorSidecars that it declares.
//   - internal/controller/leftovers – workloads and ConfigMaps – removals of sidecars of VectorSidecars that do not exist.
//   - internal/controller/overlayset – admission overlays of decisions – the OverlaySet of each namespace.
//   - internal/controller/validation – finished validation Jobs – their results in the cached state.
//   - internal/controller/finalizer – a decision and its results – the finalizer of a VectorSidecar, until its sidecar is gone.
//   - internal/controller/podfaults – unready workloads – the errors that keep their pods from running.
//   - internal/controller/workloads – events of workloads and served APIs – the workload cache, and keys of reconciles.
//   - internal/controller/notify – keys – requests in the queue of a controller.
//   - internal/controller/instrument – starts and ends of reconciles and steps – metrics, traces, and an error while one is stuck.
//   - internal/controller/schedule – an interval and a function – a runnable that calls the function periodically.
//   - internal/controller/shutdown – the signal to stop – contexts that end with it, or that let a write finish.
//   - internal/controller/events – events of all controllers – Kubernetes events at a limited rate.
//   - internal/controller/fairqueue – requests – requests in an order in which namespaces take turns.
//   - internal/admission – an AdmissionReview – the answer to it, by the same decision; also the webhook's certificate.
//   - internal/fairslots – requests of namespaces – a slot for each, in turns.
//   - internal/serverclock – the dates of responses and the clock of this machine – the time of the API server.
//   - internal/livelist – a kind and a namespace – live objects, page by page within a limit of bytes.
//   - internal/election – a Lease – the lock of the leader, and the fence that blocks writes of all other replicas.
//   - internal/telemetry – events of the process – logs, metrics, traces and error reports.
//   - internal/operator – flags – the running process.
//   - cmd/operator – the command line – the operator, the uninstall Job and the test of a Helm release.
//   - internal/removal – a workload, a manifest or a cluster – the same without sidecars.
//   - internal/checkup – an installation – results of checks, for the plugin and for helm test.
//   - internal/cli – commands of users – output of the kubectl plugin, by the same decision.
//   - cmd/kubectl-vectorsidecar – the command line – the kubectl plugin.
//   - internal/simulate – plans – the merged workloads and the batches in which the operator would write them.
//   - internal/lint – files of values, templates and VectorSidecars – findings with file and line.
//   - internal/scenario – files of a test of templates – inputs, expected outcomes and differences.
//   - internal/vectorprogram – a rendered configuration – findings of a local Vector binary.
//   - internal/draingate – the checkpoints and log files of a pod – the end of Vector's delayed shutdown.
//   - cmd/drain-gate – the command line – the drain gate, which runs in pods next to Vector.
//
// Packages that many others use:
//
//   - internal/meta – none – names of labels, annotations, field managers, conditions and reasons.
//   - internal/bounded – external text – decoded values within limits, and a store limited in bytes.
//   - internal/definition – an object and its CustomResourceDefinition – the object as the API server stores it.
//   - internal/humanize – external text and names – text that is safe to print, and suggestions.
//   - internal/tree – decoded JSON – its parts.
package vectorsidecar

import "embed"

// FS is the sidecar chart: the directory of this file, as a Helm chart. The files of the installation chart that its
// .helmignore excludes are in FS, too, because the operator reads the values of the installation as that chart does.
//
//go:embed .helmignore Chart.yaml values.yaml values.schema.json all:templates values chart/values.yaml chart/values.schema.json chart/templates/_environments.tpl
var FS embed.FS

// Definition is the CustomResourceDefinition of VectorSidecars, in YAML. Only the plugin
// has it.
//
//go:embed chart/files/crds/observability.kontroloop.ai_vectorsidecars.yaml
var Definition []byte

// ClusterDefinition is that of ClusterVectorSidecars.
//
//go:embed chart/files/crds/observability.kontroloop.ai_clustervectorsidecars.yaml
var ClusterDefinition []byte
