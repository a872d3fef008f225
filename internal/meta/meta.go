// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package meta is the operator's vocabulary: every label, annotation, finalizer,
// field manager, condition and reason, declared once. It decides nothing.
package meta

import (
	"slices"
	"strings"
)

// Group prefixes every label, annotation and finalizer of the operator.
const Group = "vectorsidecar.observability.kontroloop.ai"

// Annotations that an injected workload carries on its own metadata.
const (
	// AnnotationInjected is "true" on a workload that carries a sidecar.
	AnnotationInjected = Group + "/injected"
	// AnnotationInjectedHash is the hash of what was injected.
	AnnotationInjectedHash = Group + "/injected-hash"
	// AnnotationSidecarName is the name of the sidecar container.
	AnnotationSidecarName = Group + "/sidecar-name"
	// AnnotationConfigMapVersion tells which content of the Vector
	// configuration the workload runs: a digest of the content.
	AnnotationConfigMapVersion = Group + "/configmap-version"
	// AnnotationAskedHash is a digest of what was asked for when the sidecar was
	// written: nothing of it comes from the program.
	AnnotationAskedHash = Group + "/asked-hash"
	// AnnotationAppliedHash is a digest of what was written.
	AnnotationAppliedHash = Group + "/applied-hash"
	// AnnotationManagedBy is the name of the VectorSidecar that the sidecar is of.
	AnnotationManagedBy = Group + "/managed-by"
	// AnnotationChangeCause says to people why the sidecar was changed last.
	AnnotationChangeCause = Group + "/change-cause"
	// AnnotationRenderedFrom holds short digests of what the sidecar was rendered from,
	// by name: the next change tells by them what has become another.
	AnnotationRenderedFrom = Group + "/rendered-from"
)

// bookkeeping are the annotations of a workload's own metadata that say how what was
// injected came about, and are none of it.
var bookkeeping = []string{
	AnnotationAskedHash, AnnotationAppliedHash, AnnotationManagedBy, AnnotationChangeCause, AnnotationRenderedFrom, writtenBy, orphaned,
}

// IsBookkeeping reports whether an annotation's key, of whichever VectorSidecar, takes
// no part in the comparison of what a workload carries with what it should carry: a
// workload without it, which an earlier release wrote, is as good as one with it.
func IsBookkeeping(key string) bool {
	return slices.ContainsFunc(bookkeeping, func(plain string) bool { return Is(key, plain) })
}

// Is reports whether a key is that of an annotation, or the annotation's beside it.
func Is(key, annotation string) bool {
	rest, ok := strings.CutPrefix(key, annotation)
	return ok && (rest == "" || rest[0] == '.')
}

// Beside is the key of an annotation for the second and every further
// VectorSidecar of a workload: the first has the plain one.
func Beside(annotation, sidecar string) string {
	const longest = 63 // of the part of a key after the slash
	prefix, name, _ := strings.Cut(annotation, "/")
	return prefix + "/" + shorten(name+"."+sidecar, longest)
}

// AnnotationInject on a workload keeps sidecars out of it: any value but "true"
// opts out, whatever VectorSidecars select.
const AnnotationInject = Group + "/inject"

// AnnotationReconcileAt on a VectorSidecar has it judged anew once whenever its text
// changes; a moment is usual. With ReconcileLive at its end, the workloads of the namespace
// are listed live first, and compared with the operator's cache.
const (
	AnnotationReconcileAt = Group + "/reconcile-at"
	ReconcileLive         = " live"
)

// AnnotationConfigDigest is the annotation on a pod template by which earlier releases
// started new pods when a ConfigMap that a VectorSidecar refers to changed. What is
// mounted now has a name that tells its content.
func AnnotationConfigDigest(sidecar string) string {
	return Beside(Group+"/config-digest", sidecar)
}

// AnnotationParts is the annotation on a pod template that lists, as JSON of Parts,
// what a field manager has merged into it. It goes with the pod template into its
// revisions: when a rollout is undone, the list comes back with the sidecar, while
// the record of who applied it does not.
func AnnotationParts(manager string) string {
	return Beside(partsPrefix, SidecarOf(manager))
}

// IsParts tells whether an annotation's key is one of AnnotationParts'.
func IsParts(key string) bool { return strings.HasPrefix(key, partsPrefix+".") }

const partsPrefix = Group + "/parts"

// Parts are the items in the lists of a pod template that one field manager has
// merged in, by name.
type Parts struct {
	Manager string `json:"manager"`
	// Containers are init containers and containers.
	Containers []string `json:"containers,omitempty"`
	Volumes    []string `json:"volumes,omitempty"`
}

// AnnotationCompanion on a companion object is its own name: a copy that somebody makes
// of it under another name is none.
const AnnotationCompanion = Group + "/companion"

// AnnotationExcess in a cache of the operator's, and nowhere else, says what a VectorSidecar
// has too much of whose spec is too large to be kept.
const AnnotationExcess = Group + "/excess"

// AnnotationWarning on a rendered PodTemplate is a sentence for the VectorSidecar's
// status: something that a person should know though it stops nothing.
const AnnotationWarning = Group + "/warning"

// AnnotationWebhook on a ValidatingWebhookConfiguration is the webhook, as JSON, that
// belongs in it. The operator puts it there, with the certificates of whom to trust,
// when one of its processes answers.
const AnnotationWebhook = Group + "/webhook"

// AnnotationValuesPrefix begins the annotations by which a workload overrides
// values: the rest of the key is their path, such as sidecar.resources, and the
// annotation's text is YAML. The platform's policy lists the paths it allows.
const AnnotationValuesPrefix = "values." + Group + "/"

// NamespaceDefaults is the name of the ConfigMap with the values that a namespace
// gives all its VectorSidecars, in its key NamespaceDefaultsKey. The platform's
// policy lists the paths it allows.
const (
	NamespaceDefaults    = "vectorsidecar-defaults"
	NamespaceDefaultsKey = "values.yaml"
)

// Labels.
const (
	// LabelEnvironment on a Namespace names the environment of its
	// VectorSidecars.
	LabelEnvironment = Group + "/environment"
	// LabelTemplateSet on a ConfigMap of the operator's namespace makes it the
	// template set of that name.
	LabelTemplateSet = Group + "/template-set"
	// LabelSidecar on a companion object names the VectorSidecar it belongs to: the
	// operator's inventory of what it has made.
	LabelSidecar = Group + "/vectorsidecar"
	// LabelValidation on a Job, its pod and its ConfigMap is the key of the
	// configuration that Vector judges there.
	LabelValidation = Group + "/validation"
	// LabelValidated on the same names the VectorSidecar.
	LabelValidated = Group + "/validated"
)

// Finalizer keeps a VectorSidecar until its sidecars are out again.
const Finalizer = Group + "/finalizer"

// LabelValue makes of an object's name a value that a label may have: names may
// be longer than the 63 characters of a label.
func LabelValue(name string) string { return shorten(name, 63) }
