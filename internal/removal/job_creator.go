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

// cause is why the Job runs, as far as the Job itself shows it. A client of Helm makes
// it before it deletes a release, and at no other time; to whoever applies rendered
// manifests it is a Job like any other.
type cause int

const (
	// unproven is the cause where the Job does not show who made it, or nobody knows
	// whether that one uninstalls.
	unproven cause = iota
	// applied is the cause of a Job that came with the other rendered manifests.
	applied
	// uninstalling is the cause of a Job made because the release is going to be deleted.
	uninstalling
)

// helmClients are the field managers of programs that run hooks as Helm does. One that
// ends in * stands for all names that begin so.
var helmClients = []string{
	"helm",                     // Helm 3 by create, Helm 4 by apply, and whatever runs one of them
	"helm-controller",          // Flux
	"terraform-provider-helm*", // Terraform and OpenTofu; the version follows
	"fleetagent",               // Rancher Fleet
	"zarf",
}

// appliers are the field managers of programs that apply manifests and know of no hooks.
var appliers = []string{
	"kubectl*",             // by itself on the server's side, with -client-side-apply, -create or -replace
	"kustomize-controller", // Flux
	"kapp*",                // Carvel
	"pulumi-kubernetes*",   // a chart that Pulumi renders; a random suffix follows on the server's side
	"Terraform",            // kubernetes_manifest
}

// Argo CD applies what it syncs as the first, and creates hooks before it deletes an
// application (3.3 and later) as the second, the name of its program.
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

// program is where a Job says what it runs, in the container that the chart gives it.
// Nobody can change that later, so that whoever set it made the Job: others own labels,
// node selectors or the status.
var program = fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", "uninstall"), "args")

// judge says why the Job runs, and who made it: field managers. It knows the common
// clients of Helm; others are given, as names or beginnings with a *. Who made it has to be certain: where two
// disagree, nothing is proven.
func judge(job *batchv1.Job, clients []string) (cause, []string) {
	var why cause
	var makers []string
	for i := range job.ManagedFields {
		entry := &job.ManagedFields[i]
		if !sets(entry, program) {
			continue
		}
		one := causeBy(job, entry, clients)
		if len(makers) > 0 && one != why {
			one = unproven
		}
		why, makers = one, append(makers, entry.Manager)
	}
	return why, makers
}

// causeBy is the cause of a Job that was made by the manager of an entry.
func causeBy(job *batchv1.Job, entry *metav1.ManagedFieldsEntry, clients []string) cause {
	is := func(pattern string) bool {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		return pattern == entry.Manager || isPrefix && strings.HasPrefix(entry.Manager, prefix)
	}
	switch {
	case slices.ContainsFunc(appliers, is):
		return applied
	case entry.Manager == argoApplier, entry.Manager == argoCreator:
		return causeByArgoCD(job, entry)
	case isLastApplied(job): // A client of Helm keeps no copy; this one only has the name.
		return unproven
	case slices.ContainsFunc(helmClients, is), slices.ContainsFunc(clients, is):
		return uninstalling
	}
	return unproven
}

// causeByArgoCD tells a hook before an application is deleted from what is synced. What
// is synced is applied, and has a finalizer if it is a hook. A sync with Replace=true
// creates as PreDelete does: then it shows only in annotations that ask for one of both.
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
	return applied // It is no hook.
}

// isLastApplied reports whether the Job carries the copy that kubectl apply and its like
// keep of what they applied.
func isLastApplied(job *batchv1.Job) bool {
	_, carries := job.Annotations[corev1.LastAppliedConfigAnnotation]
	return carries
}

// sets reports whether an entry's manager set a field of the object itself.
func sets(entry *metav1.ManagedFieldsEntry, path fieldpath.Path) bool {
	if entry.Subresource != "" || entry.FieldsV1 == nil {
		return false
	}
	var fields fieldpath.Set
	return fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) == nil && fields.Has(path)
}
