// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package meta declares every label, annotation, finalizer, field manager, condition and
// reason of the operator, once. It decides nothing.
package meta

import (
	"encoding/json"
	"slices"
	"strings"
)

// Group prefixes every label, annotation and finalizer of the operator.
const Group = "vectorsidecar.observability.kontroloop.ai"

// WebhookPath is where the admission webhook is served.
const WebhookPath = "/validate-vectorsidecar"

// Annotations that an injected workload carries on its own metadata.
const (
	// AnnotationInjected is "true" on a workload that carries a sidecar.
	AnnotationInjected = Group + "/injected"
	// AnnotationInjectedHash is the hash of what was injected.
	AnnotationInjectedHash = Group + "/injected-hash"
	// AnnotationContainerName is the name of the sidecar container.
	AnnotationContainerName = Group + "/container-name"
	// AnnotationConfigMapVersion is a digest of the Vector configuration that the workload
	// runs.
	AnnotationConfigMapVersion = Group + "/configmap-version"
	// AnnotationInputHash is a digest of what was asked for when the sidecar was written:
	// only of user input, not of the operator's own code or templates.
	AnnotationInputHash = Group + "/input-hash"
	// AnnotationAppliedHash is a digest of what was written.
	AnnotationAppliedHash = Group + "/applied-hash"
	// AnnotationSidecarName is the name of the VectorSidecar that the sidecar belongs to.
	AnnotationSidecarName = Group + "/sidecar-name"
	// AnnotationChangeCause says, for people, why the sidecar was last changed.
	AnnotationChangeCause = Group + "/change-cause"
	// AnnotationRenderedFrom holds short digests of the inputs that the sidecar was rendered
	// from, by name: the next change compares them to say what has changed.
	AnnotationRenderedFrom = Group + "/rendered-from"
)

// bookkeeping are the annotations that describe how the sidecar came about and are not part
// of it.
var bookkeeping = []string{
	AnnotationInputHash, AnnotationAppliedHash, AnnotationSidecarName, AnnotationChangeCause, AnnotationRenderedFrom, writtenBy, orphaned, waiting,
	failedBefore,
}

// IsBookkeeping reports whether an annotation's key, of any VectorSidecar, is ignored when a
// workload is compared with its desired state: it records how the sidecar came about, which may
// differ between two workloads with the same sidecar.
func IsBookkeeping(key string) bool {
	return slices.ContainsFunc(bookkeeping, func(plain string) bool { return Is(key, plain) })
}

// Is reports whether a key is an annotation, or one that Beside returns for it.
func Is(key, annotation string) bool {
	rest, ok := strings.CutPrefix(key, annotation)
	return ok && (rest == "" || rest[0] == '.')
}

// Beside returns the key of an annotation for the second and every further VectorSidecar of
// a workload; the first uses the plain key.
func Beside(annotation, sidecar string) string {
	const longest = 63 // of the part of a key after the slash
	prefix, name, _ := strings.Cut(annotation, "/")
	return prefix + "/" + shorten(name+"."+keyed(sidecar), longest)
}

// AnnotationInject on a workload opts out of sidecars with any value but "true", whatever
// selectors match. On a Namespace, where it may be a label too, it opts out of those of
// ClusterVectorSidecars.
const AnnotationInject = Group + "/inject"

// AnnotationReconcileAt on a VectorSidecar triggers one reconcile from scratch whenever its
// text changes; usually it is a time. If it ends with ReconcileLive, the workloads of the
// namespace are first listed live, once for each text, and the operator's cache is corrected.
const (
	AnnotationReconcileAt = Group + "/reconcile-at"
	ReconcileLive         = " live"
)

// AnnotationStopWrites on the installation's ConfigMap of values stops all writes but
// removals with any value but "false".
const AnnotationStopWrites = Group + "/stop-writes"

// Annotations on the installation's ConfigMap of values, for rollouts in waves. A change of
// the text of AnnotationRetryRollout has a revision go on that had failed. With
// AnnotationPromoteRollout, which is REVISION/WAVE, nothing waits for the waves up to that
// one any more. With AnnotationUndoRollout, which is FROM or FROM@TIME, each VectorSidecar that has that
// revision returns to an earlier one of its own; with FROM/TO, all go from the one revision to the other; both until
// another is given out. On a VectorSidecar they are for that
// alone: AnnotationRetryRollout has it go on with what has failed in it; there AnnotationPromoteRollout is REVISION, or the change of status.deferred that
// workloads are to get without waiting for spec.rollout.mode, or "canary" and the change of status.canary that they are to
// get without waiting for a canary with pods; commas separate several.
const (
	AnnotationRetryRollout   = Group + "/retry-rollout"
	AnnotationPromoteRollout = Group + "/promote-rollout"
	AnnotationUndoRollout    = Group + "/undo-rollout"
)

// AnnotationTemplateSets on the installation's ConfigMap of values lists the ConfigMaps of the release's template sets:
// a JSON object of digests by name. The chart writes it, so that values and template sets are published together.
const AnnotationTemplateSets = Group + "/template-sets"

// AnnotationRoll in the Chart.yaml of the built-in sidecar chart names the last change of its
// templates that is to reach existing workloads with an upgrade of the operator: another text
// is another revision, which goes by waves. Without it, what a release renders differently goes
// with a workload's next change.
const AnnotationRoll = Group + "/roll"

// AnnotationContract in the Chart.yaml of a template set is the version of the contract between the operator and template
// sets that the set is written for. A set without it has v1.
const AnnotationContract = Group + "/contract"

// Annotations on the ControllerRevision of a revision, by the release that gave it out last:
// AnnotationBuiltIn is the digest of the part that holds the operator's own templates, and
// AnnotationSamples has, as JSON by template set, digests of what was rendered for a sample.
const (
	AnnotationBuiltIn = Group + "/built-in"
	AnnotationSamples = Group + "/samples"
)

// AnnotationFailed on the ControllerRevision of a revision marks it as failed: no VectorSidecar returns to it by itself.
// Its text is the reason, Halted or Undone, and a time.
const AnnotationFailed = Group + "/failed"

// AnnotationInjectedItems returns the pod template annotation that lists, as JSON of InjectedItems, what a
// field manager has merged in. It is part of the template's revisions: after a rollout undo,
// the list comes back with the sidecar, while managedFields do not.
func AnnotationInjectedItems(manager string) string {
	return Beside(injectedItemsPrefix, SidecarOf(manager))
}

// IsInjectedItems reports whether an annotation's key is one that AnnotationInjectedItems returns.
func IsInjectedItems(key string) bool { return strings.HasPrefix(key, injectedItemsPrefix+".") }

const injectedItemsPrefix = Group + "/injected-items"

// AnnotationInjectedEnv returns the pod template annotation that lists by which variables the application was
// told of a field manager's sidecar, as lines CONTAINER NAME=VALUE.
func AnnotationInjectedEnv(manager string) string {
	return Beside(injectedEnvPrefix, SidecarOf(manager))
}

// IsInjectedEnv reports whether an annotation's key is one that AnnotationInjectedEnv returns.
func IsInjectedEnv(key string) bool { return strings.HasPrefix(key, injectedEnvPrefix+".") }

const injectedEnvPrefix = Group + "/injected-env"

// InjectedItems are the names of the list items, and the keys, that one field manager has merged into a
// pod template.
type InjectedItems struct {
	Manager string `json:"manager"`
	// Containers are init containers and regular containers.
	Containers []string `json:"containers,omitempty"`
	Volumes    []string `json:"volumes,omitempty"`
	// Annotations and Labels are the keys in the pods' metadata, without the operator's own.
	Annotations []string `json:"annotations,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	// PullSecrets are the names in imagePullSecrets.
	PullSecrets []string `json:"pullSecrets,omitempty"`
}

// String returns the annotation's value.
func (p InjectedItems) String() string {
	text, _ := json.Marshal(p) // Strings always marshal.
	return string(text)
}

// AnnotationCompanion on a companion object is its own name: a copy under another name does
// not count as a companion.
const AnnotationCompanion = Group + "/companion"

// AnnotationExcess is set only in the operator's cache. It says what is too large in a
// VectorSidecar whose spec is too large to be kept.
const AnnotationExcess = Group + "/excess"

// AnnotationWarning on a rendered PodTemplate is a warning for the VectorSidecar's status:
// it blocks nothing.
const AnnotationWarning = Group + "/warning"

// AnnotationApplicationEnv on a rendered PodTemplate lists, as JSON, the variables by which the application is to be
// told of the sidecar: containers, name and value of each.
const AnnotationApplicationEnv = Group + "/application-env"

// AnnotationOptional on a rendered PodTemplate lists keys of its pod annotations, with commas: one that
// somebody else has in a workload, or whose domain the policy reserves, is left out there, which
// is no conflict but a warning.
const AnnotationOptional = Group + "/optional-annotations"

// AnnotationOptionalWithVolumes on a rendered PodTemplate lists those of AnnotationOptional that are also left
// out, without a warning, where a volume of the workload's own keeps the Cluster Autoscaler from
// removing a node.
const AnnotationOptionalWithVolumes = Group + "/optional-with-volumes"

// AnnotationEvictableVolumes is the pod annotation by which the Cluster Autoscaler is told, by the
// names of volumes with commas between them, which of those on a node's disk may be lost with the node.
const AnnotationEvictableVolumes = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"

// VolumePrefix begins the names of the volumes that the built-in templates add.
const VolumePrefix = "vectorsidecar-"

// AnnotationWebhook on a ValidatingWebhookConfiguration is the webhook, as JSON, that should
// be in it. The operator applies it, with the CA bundle, once a replica can answer.
const AnnotationWebhook = Group + "/webhook"

// AnnotationValuesPrefix is the prefix of the annotations with which a workload overrides
// values: the rest of the key is the path, such as sidecar.resources, and the value is YAML.
// The platform team's policy lists the allowed paths.
const AnnotationValuesPrefix = "values." + Group + "/"

// NamespaceDefaults is the name of the ConfigMap with a namespace's values for all its
// VectorSidecars, in the key NamespaceDefaultsKey. The platform team's policy lists the
// allowed paths.
const (
	NamespaceDefaults    = "vectorsidecar-defaults"
	NamespaceDefaultsKey = "values.yaml"
)

// OverlaySet is the name of the OverlaySet of each namespace that has one.
const OverlaySet = "vectorsidecars"

// Labels.
const (
	// LabelEnvironment on a Namespace names the environment of its
	// VectorSidecars.
	LabelEnvironment = Group + "/environment"
	// LabelTemplateSet on a ConfigMap of the operator's namespace makes it the
	// template set of that name.
	LabelTemplateSet = Group + "/template-set"
	// LabelRevision and LabelRevisionPart on a ControllerRevision of the operator's
	// namespace name what it stores: a revision of the installation's templates and
	// values, or a part of one.
	LabelRevision     = Group + "/revision"
	LabelRevisionPart = Group + "/revision-part"
	// LabelManagedBy is Kubernetes' own for the tool that manages an object.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelSidecar on a companion object names the VectorSidecar that it belongs to: the
	// operator finds its companions by it.
	LabelSidecar = Group + "/vectorsidecar"
	// LabelValidation on a Job, its pod and its ConfigMap is the key of the configuration
	// that is validated.
	LabelValidation = Group + "/validation"
	// LabelValidated on the same objects names the VectorSidecar.
	LabelValidated = Group + "/validated"
)

// Finalizer keeps a VectorSidecar until its sidecars are removed.
const Finalizer = Group + "/finalizer"

// LabelValue turns the name of a VectorSidecar, or of a ClusterVectorSidecar in a namespace,
// into a label value: names may be longer than the 63 characters of a label.
func LabelValue(name string) string { return shorten(keyed(name), 63) }

// IsLabelOfCluster reports whether a label value is that of a ClusterVectorSidecar.
func IsLabelOfCluster(value string) bool { return strings.HasPrefix(value, clusterKey) }
