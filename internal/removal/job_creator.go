// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"bytes"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// cause is the reason why the Job runs, which follows from the Job itself. A Helm client creates the Job only when it
// deletes a release. A client that applies rendered manifests creates it like any other Job.
type cause int

const (
	// unproven means that the Job does not show its creator, or that its creator is not known to uninstall
	// releases.
	unproven cause = iota
	// applied means that the Job came with the other rendered manifests.
	applied
	// uninstalling means that the Job was created because the release is being deleted.
	uninstalling
)

// helmClients lists the field managers of programs that run Helm hooks. A trailing * matches any suffix.
var helmClients = []string{
	"helm",                     // Helm 3 by create, Helm 4 by apply, and programs that run Helm
	"helm-controller",          // Flux
	"terraform-provider-helm*", // Terraform and OpenTofu; the version follows
	"fleetagent",               // Rancher Fleet
	"zarf",
}

// appliers lists the field managers of programs that apply manifests and do not run hooks.
var appliers = []string{
	"kubectl*",             // alone for server-side apply, with -client-side-apply, -create or -replace
	"kustomize-controller", // Flux
	"kapp*",                // Carvel
	"pulumi-kubernetes*",   // a chart that Pulumi renders; server-side apply adds a random suffix
	"Terraform",            // kubernetes_manifest
}

// Argo CD syncs with the first field manager. With the second, its program name, it creates
// hooks before it deletes an application (3.3 and later).
const (
	argoApplier = "argocd-controller"
	argoCreator = "argocd-application-controller"

	argoHook          = "argocd.argoproj.io/hook"
	argoHookFinalizer = "argocd.argoproj.io/hook-finalizer"
	argoPreDelete     = "PreDelete"
)

const (
	helmHook      = "helm.sh/hook"
	helmPreDelete = "pre-delete"
)

// argsPath is the field of the Job's arguments, in the container of the chart. The field is immutable, so its
// manager created the Job. Other managers may own labels, node selectors or the status.
var argsPath = fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", "uninstall"), "args")

// findCause returns the cause of the Job, and the field managers that created it. clients are Helm clients in addition
// to the known ones, where a trailing * matches any suffix. If two managers disagree, the cause is unproven.
func findCause(job *batchv1.Job, clients []string) (cause, []string) {
	var jobCause cause
	var makers []string
	for i := range job.ManagedFields {
		entry := &job.ManagedFields[i]
		if !hasField(entry, argsPath) {
			continue
		}
		entryCause := causeByEntry(job, entry, clients)
		if len(makers) > 0 && entryCause != jobCause {
			entryCause = unproven
		}
		jobCause, makers = entryCause, append(makers, entry.Manager)
	}
	return jobCause, makers
}

// causeByEntry returns the cause of a Job that the manager of an entry has created.
func causeByEntry(job *batchv1.Job, entry *metav1.ManagedFieldsEntry, clients []string) cause {
	matches := func(pattern string) bool {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		return pattern == entry.Manager || isPrefix && strings.HasPrefix(entry.Manager, prefix)
	}
	switch {
	case slices.ContainsFunc(appliers, matches):
		return applied
	case entry.Manager == argoApplier, entry.Manager == argoCreator:
		return causeByArgoCD(job, entry)
	case isLastApplied(job): // A Helm client does not write this annotation; the creator only uses the name.
		return unproven
	case slices.ContainsFunc(helmClients, matches), slices.ContainsFunc(clients, matches):
		return uninstalling
	}
	return unproven
}

// causeByArgoCD distinguishes a PreDelete hook from a sync of Argo CD. A sync uses server-side apply, and sets a
// finalizer on hooks. A sync with Replace=true creates objects as a PreDelete hook does, so then the annotations of
// Argo CD decide.
func causeByArgoCD(job *batchv1.Job, entry *metav1.ManagedFieldsEntry) cause {
	hook, isArgoHook := job.Annotations[argoHook]
	switch {
	case entry.Manager == argoApplier, entry.Operation == metav1.ManagedFieldsOperationApply,
		isLastApplied(job), slices.Contains(job.Finalizers, argoHookFinalizer):
		return applied
	case isArgoHook && hook == argoPreDelete, !isArgoHook && job.Annotations[helmHook] == helmPreDelete:
		return uninstalling
	case isArgoHook, job.Annotations[helmHook] != "":
		return unproven
	}
	return applied // The Job is not a hook.
}

// isLastApplied reports whether the Job has the last-applied-configuration annotation of
// client-side apply.
func isLastApplied(job *batchv1.Job) bool {
	_, carries := job.Annotations[corev1.LastAppliedConfigAnnotation]
	return carries
}

// hasField reports whether an entry's manager owns a field of the object itself.
func hasField(entry *metav1.ManagedFieldsEntry, path fieldpath.Path) bool {
	if entry.Subresource != "" || entry.FieldsV1 == nil {
		return false
	}
	var fields fieldpath.Set
	return fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) == nil && fields.Has(path)
}
