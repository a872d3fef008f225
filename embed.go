// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package vectorsidecar is the root of the Vector Sidecar Operator and holds
// nothing but FS, the sidecar chart that is built into the operator.
//
// A tour of the code, in the order in which data flows:
//
//   - api/v1alpha1 is what a person writes: the VectorSidecar, and the ClusterVectorSidecar,
//     of which internal/clusterwide makes a VectorSidecar for each namespace that it selects.
//   - internal/environment merges layers of values and keeps their origin.
//   - internal/fleet paces rollouts over all VectorSidecars.
//   - internal/lastgood takes a VectorSidecar back to its last good spec.
//   - internal/gotemplate executes compiled templates, bounded and hermetic.
//   - internal/vectorlint/config – files of a Vector configuration, image and container – faults that prevent Vector from
//     starting.
//   - internal/vectorlint/flags – Vector's command line – its settings and faults.
//   - internal/vectorlint/options – a component and a release of Vector – its options.
//   - internal/vectorlint/vrl – a program in the Vector Remap Language – its faults.
//   - internal/policy holds what is injected against what the platform allows.
//   - internal/companion knows the ConfigMaps that the operator makes, and finds what
//     is left of VectorSidecars that are gone.
//   - internal/render loads a chart of templates, values and schema, and makes of it,
//     values and target the Overlay, which is what gets merged, and its companion objects.
//   - internal/workload shows a Deployment as a small View, and describes the Overlay that
//     is merged into it; internal/workloadcache keeps thousands of Views small, and finds
//     them by what VectorSidecars ask for.
//   - internal/plan compares Overlay and View, names what has to be done, and which of
//     that may be done now, and says in words why.
//   - internal/preflight judges a sidecar by what the API server answers to dry runs, before it is
//     written.
//   - internal/desired says what workloads should carry of one VectorSidecar: values,
//     rendering, policy and checks, remembered in a cache. Its Catalog makes the Platform
//     of what a platform team gives: template sets, values of every environment, the
//     policy and the pace of rollouts; it keeps the last good version of each.
//   - internal/decision says what is to be done about that, by pure functions.
//   - internal/overlayset says which of that the API server may put into workloads itself.
//   - internal/evaluate runs both on a snapshot of the world of one VectorSidecar: values
//     in, values out, no cluster.
//   - internal/source reads what is in such a snapshot from whatever there is: a cluster,
//     files, or files laid over a cluster.
//   - internal/apply is the only writer.
//   - internal/status turns facts into conditions.
//   - internal/controller is the loop: take the snapshot, decide, apply, tell.
//     internal/controller/state is what it remembers of each VectorSidecar,
//     internal/controller/companionuse knows which old companions a workload can be rolled
//     back to, and internal/controller/fairqueue is its queue, in which namespaces take turns.
//     internal/telemetry observes it by a log, metrics, traces and reports, and changes
//     nothing of what it does.
//   - internal/admission answers the API server, with the same decision, whether a
//     VectorSidecar may be created or changed, and keeps the certificate that it
//     answers with.
//   - internal/livelist lists live objects page by page within a limit of bytes.
//   - internal/election is the lock by which one operator leads.
//   - internal/operator wires the process; cmd/operator is its main, which also runs
//     internal/removal before a release goes and internal/checkup for helm test.
//   - internal/cli is the kubectl plugin, which decides with the same code, and carries
//     plans out with internal/simulate, as a merge and in turns; cmd/kubectl-vectorsidecar
//     is its main. Its longer commands have packages of their own: internal/lint,
//     internal/scenario (test), internal/removal (eject), internal/checkup (check) and
//     internal/vectorprogram, which runs a Vector (validate).
//   - internal/draingate runs in pods, beside Vector, and holds its end back until it has read
//     the log files; cmd/drain-gate is its main.
//
// Beside the flow stand internal/meta, the vocabulary, internal/bounded, the door
// through which texts of others come in, with the Store of so many bytes that remembers
// what was made of them, internal/definition, which decodes objects by their
// CustomResourceDefinition for the plugin, internal/humanize, which names what a person meant to write and
// escapes all text of others that people are shown, and internal/tree, which reads decoded
// JSON.
package vectorsidecar

import "embed"

// FS is the sidecar chart: the folder that this file lies in, as a Helm chart. What its
// .helmignore leaves out of that is how the installation chart reads its values.
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
