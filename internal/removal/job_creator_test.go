// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// made returns the entry of the manager that created the Job.
func made(manager string, operation metav1.ManagedFieldsOperationType) metav1.ManagedFieldsEntry {
	return set(manager, operation, `{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/name":{}}},"f:spec":{"f:backoffLimit":{},"f:template":{"f:spec":{
		"f:containers":{"k:{\"name\":\"uninstall\"}":{".":{},"f:args":{},"f:image":{},"f:name":{}}},"f:restartPolicy":{}}}}}`)
}

func set(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

func status(manager string) metav1.ManagedFieldsEntry {
	entry := set(manager, byUpdate, `{"f:status":{"f:active":{},"f:ready":{}}}`)
	entry.Subresource = "status"
	return entry
}

const byUpdate, byApply = metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply

// The managedFields of the uninstall Job show whether Helm runs it, or a client applied it with other manifests.
func TestFindCause_IdentifiesCreatorOfJob(t *testing.T) {
	type entries = []metav1.ManagedFieldsEntry
	helmAlone := map[string]string{"helm.sh/hook": "pre-delete"}
	lastApplied := map[string]string{"helm.sh/hook": "pre-delete", corev1.LastAppliedConfigAnnotation: "{}"}
	for name, test := range map[string]struct {
		managed     entries
		annotations map[string]string
		finalizers  []string
		why         cause
	}{
		"Helm 3":                   {entries{made("helm", byUpdate)}, helmAlone, nil, uninstalling},
		"Helm 4":                   {entries{made("helm", byApply)}, helmAlone, nil, uninstalling},
		"Flux' Helm":               {entries{made("helm-controller", byUpdate)}, helmAlone, nil, uninstalling},
		"Terraform's provider":     {entries{made("terraform-provider-helm_v3.1.1_x5", byUpdate)}, helmAlone, nil, uninstalling},
		"Rancher Fleet":            {entries{made("fleetagent", byUpdate)}, helmAlone, nil, uninstalling},
		"a program that was named": {entries{made("installer", byUpdate)}, helmAlone, nil, uninstalling},
		"a program that was named with its version": {entries{made("lifecycle_v2.1", byUpdate)}, helmAlone, nil, uninstalling},
		"a program that is longer than a name":      {entries{made("installer2", byUpdate)}, helmAlone, nil, unproven},
		"Helm, and what others write later": {
			entries{set("kubectl-label", byUpdate, `{"f:metadata":{"f:labels":{"f:team":{}}}}`), status("kubectl-edit"), made("helm", byUpdate), status("kube-controller-manager")},
			helmAlone, nil, uninstalling,
		},
		"Helm, and a queue that chooses the node": {
			entries{set("kueue", byApply, `{"f:spec":{"f:suspend":{},"f:template":{"f:spec":{"f:nodeSelector":{"f:pool":{}}}}}}`), made("helm", byUpdate)},
			helmAlone, nil, uninstalling,
		},

		"kubectl":                      {entries{made("kubectl-client-side-apply", byUpdate)}, lastApplied, nil, applied},
		"kubectl on the server's side": {entries{made("kubectl", byApply)}, helmAlone, nil, applied},
		"kubectl create":               {entries{made("kubectl-create", byUpdate)}, helmAlone, nil, applied},
		"Flux' kustomize":              {entries{made("kustomize-controller", byApply)}, helmAlone, nil, applied},
		"kapp":                         {entries{made("kapp-server-side-apply", byApply)}, helmAlone, nil, applied},
		"a chart that Pulumi renders":  {entries{made("pulumi-kubernetes-0cb7d2a1", byApply)}, helmAlone, nil, applied},
		"a manifest of Terraform":      {entries{made("Terraform", byApply)}, helmAlone, nil, applied},

		"Argo CD that deletes":                    {entries{made("argocd-application-controller", byUpdate)}, helmAlone, nil, uninstalling},
		"Argo CD by its own hook":                 {entries{made("argocd-application-controller", byUpdate)}, map[string]string{"argocd.argoproj.io/hook": "PreDelete", "helm.sh/hook": "pre-delete"}, nil, uninstalling},
		"Argo CD that syncs":                      {entries{made("argocd-controller", byUpdate)}, lastApplied, nil, applied},
		"Argo CD on the server's side":            {entries{made("argocd-controller", byApply)}, helmAlone, nil, applied},
		"Argo CD of before, that syncs":           {entries{made("argocd-application-controller", byUpdate)}, lastApplied, nil, applied},
		"Argo CD's hook of a sync":                {entries{made("argocd-application-controller", byUpdate)}, helmAlone, []string{"argocd.argoproj.io/hook-finalizer"}, applied},
		"Argo CD that replaces no hook":           {entries{made("argocd-application-controller", byUpdate)}, nil, nil, applied},
		"Argo CD, by either of two":               {entries{made("argocd-application-controller", byUpdate)}, map[string]string{"argocd.argoproj.io/hook": "PreDelete,Sync"}, nil, unproven},
		"Argo CD, a hook of a sync that replaces": {entries{made("argocd-application-controller", byUpdate)}, map[string]string{"argocd.argoproj.io/hook": "Sync", "helm.sh/hook": "pre-delete"}, nil, unproven},

		"somebody":                         {entries{made("deployer", byUpdate)}, helmAlone, nil, unproven},
		"somebody who begins as Helm does": {entries{made("helm-renderer", byApply)}, helmAlone, nil, unproven},
		"the name of Helm with kubectl":    {entries{made("helm", byUpdate)}, lastApplied, nil, unproven},
		"Helm's Job that is applied over":  {entries{made("kubectl", byApply), made("helm", byUpdate)}, helmAlone, nil, unproven},
		"three who disagree":               {entries{made("kubectl", byApply), made("helm", byUpdate), made("kubectl-create", byUpdate)}, helmAlone, nil, unproven},
		"a Job that hides who made it":     {nil, helmAlone, nil, unproven},
		"fields that nobody can read":      {entries{set("helm", byUpdate, `{"f:spec":`)}, helmAlone, nil, unproven},
		"Helm, of which only labels are":   {entries{set("helm", byUpdate, `{"f:metadata":{"f:labels":{"f:team":{}}}}`)}, helmAlone, nil, unproven},
		"the status alone":                 {entries{status("helm")}, helmAlone, nil, unproven},
	} {
		t.Run(name, func(t *testing.T) {
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Annotations: test.annotations, Finalizers: test.finalizers, ManagedFields: test.managed}}
			// A program that applies manifests is not trusted as a Helm client even if it is
			// listed.
			why, _ := findCause(job, []string{"installer", "lifecycle_v*", "kubectl"})
			require.Equal(t, test.why, why)
		})
	}
}

// The message names the field managers that created the uninstall Job, or states that none is known.
func TestQuoteManagers_NamesCreatorsOfJob(t *testing.T) {
	job := &batchv1.Job{}
	_, makers := findCause(job, nil)
	require.Equal(t, "a client that is not in its managedFields", quoteManagers(makers))

	job.ManagedFields = []metav1.ManagedFieldsEntry{made("kubectl", byApply), made("helm", byUpdate), status("kube-controller-manager")}
	_, makers = findCause(job, nil)
	require.Equal(t, `"kubectl" and "helm"`, quoteManagers(makers))
}

func TestManualSteps_ListsUninstallCommands(t *testing.T) {
	everywhere, two := Operator{}, Operator{WatchNamespaces: []string{"shop", "pay"}}
	for name, test := range map[string]struct {
		options Options
		says    string
	}{
		"eject":          {Options{Policy: Eject, Operator: everywhere}, "while the operator runs, kubectl delete vectorsidecars.observability.kontroloop.ai --all -A, then uninstall without hooks"},
		"eject from two": {Options{Policy: Eject, Operator: two}, "kubectl delete vectorsidecars.observability.kontroloop.ai --all -n shop && kubectl delete vectorsidecars.observability.kontroloop.ai --all -n pay, then"},
		"orphan":         {Options{Policy: Orphan, Operator: everywhere}, `"deletionPolicy":"Orphan"}}' for each, and kubectl delete vectorsidecars.observability.kontroloop.ai --all -A, then`},
		"block":          {Options{Policy: Block, Operator: everywhere}, "check that no VectorSidecars exist: kubectl get vectorsidecars.observability.kontroloop.ai -A, then"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, manualSteps(&test.options), test.says)
		})
	}
}

// The text states the effect of each uninstall policy, with the names of the VectorSidecars.
func TestDescribePolicy_NamesRemovedSidecars(t *testing.T) {
	one := sidecars(1)
	require.Equal(t, "find no VectorSidecars and do nothing", describePolicy(Eject, nil))
	require.Equal(t, "delete 1 VectorSidecars: shop/logs, and remove their sidecars", describePolicy(Eject, one))
	require.Equal(t, "delete 1 VectorSidecars: shop/logs, and keep their sidecars", describePolicy(Orphan, one))
	require.Equal(t, "fail, because there still are 1 VectorSidecars: shop/logs", describePolicy(Block, one))
}
