// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package meta declares the labels, annotations, finalizers, field managers, conditions and reasons of the
// operator. Each is declared once. The package makes no decisions.
package meta

import (
	"encoding/json"
	"slices"
	"strings"
)

// Group prefixes every label, annotation and finalizer of the operator.
const Group = "vectorsidecar.observability.kontroloop.ai"

// WebhookPath is the path of the admission webhook.
const WebhookPath = "/validate-vectorsidecar"

// Annotations that an injected workload carries on its own metadata.
const (
	// AnnotationInjected is "true" on a workload that carries a sidecar.
	AnnotationInjected = Group + "/injected"
	// AnnotationInjectedHash has the hash of the injected sidecar.
	AnnotationInjectedHash = Group + "/injected-hash"
	// AnnotationContainerName has the name of the sidecar container.
	AnnotationContainerName = Group + "/container-name"
	// AnnotationConfigMapVersion has a digest of the Vector configuration that the workload runs.
	AnnotationConfigMapVersion = Group + "/configmap-version"
	// AnnotationInputHash has a digest of the requested input when the sidecar was written. The digest covers only
	// user input, not the code or the templates of the operator.
	AnnotationInputHash = Group + "/input-hash"
	// AnnotationAppliedHash has a digest of the applied fields.
	AnnotationAppliedHash = Group + "/applied-hash"
	// AnnotationSidecarName has the name of the VectorSidecar that the sidecar belongs to.
	AnnotationSidecarName = Group + "/sidecar-name"
	// AnnotationChangeCause has a text for users that explains why the sidecar was last changed.
	AnnotationChangeCause = Group + "/change-cause"
	// AnnotationRenderedFrom has short digests of the inputs that the sidecar was rendered from, by name of the
	// input. The next change compares them to report the inputs that have changed.
	AnnotationRenderedFrom = Group + "/rendered-from"
)

// bookkeeping lists the annotations that record the origin of the sidecar and do not belong to the sidecar.
var bookkeeping = []string{
	AnnotationInputHash, AnnotationAppliedHash, AnnotationSidecarName, AnnotationChangeCause, AnnotationRenderedFrom, writtenBy, orphaned, waiting,
	failedBefore,
}

// IsBookkeeping reports whether a comparison of a workload with its desired state ignores the annotation of a
// key, for any VectorSidecar. These annotations record the origin of the sidecar, which may differ between two
// workloads with the same sidecar.
func IsBookkeeping(key string) bool {
	return slices.ContainsFunc(bookkeeping, func(plain string) bool { return IsAnnotationKey(key, plain) })
}

// IsAnnotationKey reports whether a key is an annotation, or a result of AnnotationKeyFor for this annotation.
func IsAnnotationKey(key, annotation string) bool {
	suffix, ok := strings.CutPrefix(key, annotation)
	return ok && (suffix == "" || suffix[0] == '.')
}

// AnnotationKeyFor returns the key of an annotation for the second and every further VectorSidecar of a workload. The
// first VectorSidecar uses the plain key.
func AnnotationKeyFor(annotation, sidecar string) string {
	const longest = 63 // of the part of a key after the slash
	prefix, name, _ := strings.Cut(annotation, "/")
	return prefix + "/" + shortenName(name+"."+keyName(sidecar), longest)
}

// AnnotationInject on a workload opts out of sidecars with any value except "true", even if selectors match. On
// a Namespace, it opts out of the sidecars of ClusterVectorSidecars. There it may also be a label.
const AnnotationInject = Group + "/inject"

// AnnotationReconcileAt on a VectorSidecar triggers one reconcile from scratch whenever its text changes. The
// text is usually a time. If the text has the suffix ReconcileLive, the operator first lists the workloads of
// the namespace live, once for each text, and corrects its cache.
const (
	AnnotationReconcileAt = Group + "/reconcile-at"
	ReconcileLive         = " live"
)

// AnnotationStopWrites on the installation's ConfigMap of values stops all writes except removals, with any
// value except "false". A user sets it. AnnotationWrites does the same if it is WritesStopped. The chart sets it to its
// value writes. Each annotation has one owner, because Helm 4 does not apply a field that the plugin owns.
const (
	AnnotationStopWrites = Group + "/stop-writes"
	AnnotationWrites     = Group + "/writes"
	WritesStopped        = "Stopped"
)

// AnnotationUninstalling on the installation's ConfigMap of values stops all writes of VectorSidecars and
// ClusterVectorSidecars that the values declare, with any value except "false". The uninstall Job sets it before it
// deletes the first VectorSidecar.
const AnnotationUninstalling = Group + "/uninstalling"

// Annotations on the installation's ConfigMap of values, for rollouts in waves. A change of the text of
// AnnotationRetryRollout continues a failed revision. With AnnotationPromoteRollout, which is REVISION/WAVE,
// VectorSidecars no longer wait for the waves up to that wave. With AnnotationUndoRollout, which is FROM or
// FROM@TIME, each VectorSidecar with that revision returns to its own earlier revision. With FROM/TO, all
// VectorSidecars move from the first revision to the second. Both forms apply until another revision is
// published.
//
// On a VectorSidecar, the annotations apply only to that VectorSidecar. AnnotationRetryRollout continues its
// failed rollouts. AnnotationPromoteRollout is one of the following values, or several separated by commas:
//   - REVISION
//   - a change of status.deferred, which workloads get without waiting for spec.rollout.mode
//   - "canary" and a change of status.canary, which workloads get without waiting for a canary with pods
const (
	AnnotationRetryRollout   = Group + "/retry-rollout"
	AnnotationPromoteRollout = Group + "/promote-rollout"
	AnnotationUndoRollout    = Group + "/undo-rollout"
)

// AnnotationTemplateSets on the installation's ConfigMap of values lists the ConfigMaps of the release's template sets:
// a JSON object of digests by name. The chart writes it, so that values and template sets are published together.
const AnnotationTemplateSets = Group + "/template-sets"

// AnnotationRoll in the Chart.yaml of the built-in sidecar chart names the last template change that an upgrade
// of the operator rolls out to existing workloads. A change of its text is a new revision, which rolls out in
// waves. Without a change of its text, a rendering that differs between releases reaches a workload with its
// next change.
const AnnotationRoll = Group + "/roll"

// AnnotationContract in the Chart.yaml of a template set is the version of the contract between the operator
// and template sets that the set is written for. A set without the annotation has version v1.
const AnnotationContract = Group + "/contract"

// Annotations on the ControllerRevision of a revision, written by the release that published it last.
// AnnotationBuiltIn is the digest of the part that contains the operator's templates. AnnotationSamples
// contains digests of the rendering of a sample, as JSON by template set.
const (
	AnnotationBuiltIn = Group + "/built-in"
	AnnotationSamples = Group + "/samples"
)

// AnnotationFailed on the ControllerRevision of a revision marks it as failed. VectorSidecars do not return to
// a failed revision automatically. Its text is the reason, Halted or Undone, and a time.
const AnnotationFailed = Group + "/failed"

// AnnotationInjectedItems returns the key of the pod template annotation that lists the items that a field
// manager has merged, as JSON of InjectedItems. The annotation belongs to the revisions of the template. A
// rollout undo therefore restores the list with the sidecar, but does not restore managedFields.
func AnnotationInjectedItems(manager string) string {
	return AnnotationKeyFor(injectedItemsPrefix, SidecarName(manager))
}

// IsInjectedItems reports whether a key is a result of AnnotationInjectedItems.
func IsInjectedItems(key string) bool { return strings.HasPrefix(key, injectedItemsPrefix+".") }

// injectedItemsPrefix is the start of the keys that AnnotationInjectedItems returns.
const injectedItemsPrefix = Group + "/injected-items"

// AnnotationInjectedEnv returns the key of the pod template annotation that lists the variables that a field
// manager injected into application containers, as lines CONTAINER NAME=VALUE.
func AnnotationInjectedEnv(manager string) string {
	return AnnotationKeyFor(injectedEnvPrefix, SidecarName(manager))
}

// IsInjectedEnv reports whether a key is a result of AnnotationInjectedEnv.
func IsInjectedEnv(key string) bool { return strings.HasPrefix(key, injectedEnvPrefix+".") }

// injectedEnvPrefix is the start of the keys that AnnotationInjectedEnv returns.
const injectedEnvPrefix = Group + "/injected-env"

// AnnotationAbout returns the key of the pod template annotation that tells application teams about a field manager's
// sidecar. Its text does not depend on the workload. A changed text reaches a workload only with another change of its
// pod template.
func AnnotationAbout(manager string) string {
	return AnnotationKeyFor(aboutPrefix, SidecarName(manager))
}

// IsAbout reports whether a key is a result of AnnotationAbout.
func IsAbout(key string) bool { return strings.HasPrefix(key, aboutPrefix+".") }

// aboutPrefix is the start of the keys that AnnotationAbout returns.
const aboutPrefix = Group + "/about"

// AnnotationAboutURL on the installation's ConfigMap of values is the platform team's page about sidecars. The chart
// sets it. It is in the text of AnnotationAbout, and not in the values, because a change must not roll workloads.
const AnnotationAboutURL = Group + "/about-url"

// InjectedItems lists the names of list items, and the keys, that one field manager has merged into a pod
// template.
type InjectedItems struct {
	Manager string `json:"manager"`
	// Containers are init containers and regular containers.
	Containers []string `json:"containers,omitempty"`
	Volumes    []string `json:"volumes,omitempty"`
	// Annotations and Labels are the keys in the metadata of the pods, except the operator's annotations.
	Annotations []string `json:"annotations,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	// PullSecrets are the names in imagePullSecrets.
	PullSecrets []string `json:"pullSecrets,omitempty"`
}

// String returns the items as JSON, the value of the annotation.
func (p InjectedItems) String() string {
	text, _ := json.Marshal(p) // Strings always marshal.
	return string(text)
}

// AnnotationCompanion on a companion object is the name of the object. A copy with another name therefore does
// not count as a companion.
const AnnotationCompanion = Group + "/companion"

// AnnotationExcess is set only in the operator's cache. It names the part that is too large in a VectorSidecar
// with a spec that is too large for the cache.
const AnnotationExcess = Group + "/excess"

// AnnotationWarning on a rendered PodTemplate is a warning for the status of the VectorSidecar. It does not
// block writes.
const AnnotationWarning = Group + "/warning"

// AnnotationApplicationEnv on a rendered PodTemplate lists the variables to inject into application containers,
// as JSON: containers, name and value of each.
const AnnotationApplicationEnv = Group + "/application-env"

// AnnotationOptional on a rendered PodTemplate lists keys of its pod annotations, separated by commas. A key is
// left out in a workload if another field manager owns it there, or if the policy reserves its domain. The
// result is a warning and not a conflict.
const AnnotationOptional = Group + "/optional-annotations"

// AnnotationOptionalWithVolumes on a rendered PodTemplate lists the keys of AnnotationOptional that are also
// left out, without a warning, if one of the workload's volumes prevents the Cluster Autoscaler from removing a
// node.
const AnnotationOptionalWithVolumes = Group + "/optional-with-volumes"

// AnnotationEvictableVolumes is the pod annotation that lists volumes on the disk of a node that may be lost
// with the node, as names separated by commas. The Cluster Autoscaler reads it.
const AnnotationEvictableVolumes = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"

// VolumePrefix is the prefix of the names of volumes that the built-in templates add.
const VolumePrefix = "vectorsidecar-"

// AnnotationWebhook on a ValidatingWebhookConfiguration is its webhook as JSON. The operator applies the
// webhook, with the CA bundle, when a replica can answer.
const AnnotationWebhook = Group + "/webhook"

// AnnotationValuesPrefix is the prefix of the annotations that override values for one workload. The rest of
// the key is the path, such as sidecar.resources, and the annotation's value is YAML. The platform team's
// policy lists the allowed paths.
const AnnotationValuesPrefix = "values." + Group + "/"

// NamespaceDefaults is the name of the ConfigMap with the values of a namespace for all of its VectorSidecars,
// in the key NamespaceDefaultsKey. The platform team's policy lists the allowed paths.
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
	// LabelTemplateSet on a ConfigMap of the operator namespace marks it as the template set of that name.
	LabelTemplateSet = Group + "/template-set"
	// LabelRevision and LabelRevisionPart on a ControllerRevision of the operator namespace name its content: a
	// revision of the installation's templates and values, or a part of a revision.
	LabelRevision     = Group + "/revision"
	LabelRevisionPart = Group + "/revision-part"
	// LabelManagedBy is the Kubernetes label for the tool that manages an object.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelSidecar on a companion object names its VectorSidecar. The operator finds companions by this label.
	LabelSidecar = Group + "/vectorsidecar"
	// LabelValidation on a Job, its pod and its ConfigMap is the key of the validated configuration.
	LabelValidation = Group + "/validation"
	// LabelValidated on the same objects names the VectorSidecar.
	LabelValidated = Group + "/validated"
	// LabelDeclaredBy on a VectorSidecar or ClusterVectorSidecar names the installation whose values declare it.
	LabelDeclaredBy = Group + "/declared-by"
)

// Finalizer delays the deletion of a VectorSidecar until its sidecars are removed.
const Finalizer = Group + "/finalizer"

// LabelValue returns the label value for the name of a VectorSidecar, or of a ClusterVectorSidecar in a
// namespace. Names that exceed the 63 characters of a label value are shortened.
func LabelValue(name string) string { return shortenName(keyName(name), 63) }

// InstallationLabel returns the label value for an installation, which is named NAMESPACE/NAME.
func InstallationLabel(installation string) string {
	return shortenName(strings.ReplaceAll(installation, "/", "_"), 63)
}

// IsLabelOfCluster reports whether a label value stands for a ClusterVectorSidecar.
func IsLabelOfCluster(value string) bool { return strings.HasPrefix(value, clusterNames.keyPrefix) }
