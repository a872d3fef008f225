// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// need is a permission that the operator needs for the object with a name, or for all objects if the name is "".
type need struct {
	group, resource, subresource, name string
	verbs                              []string
}

// needs are the permissions that the chart grants regardless of the enabled kinds.
var needs = []need{
	{"", "configmaps", "", "", []string{"get", "list", "watch", "create", "update", "delete"}},
	{"", "namespaces", "", "", []string{"list", "watch"}},
	{v1alpha1.GroupVersion.Group, "vectorsidecars", "", "", []string{"list", "watch", "patch"}},
	{v1alpha1.GroupVersion.Group, "vectorsidecars", "status", "", []string{"patch"}},
	{v1alpha1.GroupVersion.Group, "overlaysets", "", "", []string{"list", "delete"}},
	{"events.k8s.io", "events", "", "", []string{"create", "patch"}},
}

// workloadNeeds returns the permissions that the chart grants for the enabled kinds of workloads.
func workloadNeeds(names []string) []need {
	var needs []need
	var kinds []*workload.Kind
	for _, name := range names {
		kind := workload.KindByName(name)
		if kind == nil {
			continue // Of a release to come.
		}
		kinds = append(kinds, kind)
		verbs := []string{"list", "watch", "patch"}
		if kind.Traits.Immutable != "" {
			verbs = []string{"list", "watch"}
		}
		needs = append(needs, need{kind.Group, kind.Resource, "", "", verbs})
	}
	for _, holder := range workload.HoldersFor(kinds) {
		needs = append(needs, need{holder.Group, holder.Resource, "", "", []string{"list"}})
	}
	return needs
}

// optionalNeeds returns the additional permissions that the chart grants for enabled features.
func optionalNeeds(installation *source.Installation) []need {
	var needs []need
	if installation.Injects {
		needs = append(needs,
			need{v1alpha1.GroupVersion.Group, "overlaysets", "", "", []string{"get", "watch", "create", "update"}},
			need{"", "podtemplates", "", "", []string{"create"}})
	}
	if installation.RunsJobs {
		needs = append(needs,
			need{"batch", "jobs", "", "", []string{"list", "watch", "create", "delete"}},
			need{v1alpha1.GroupVersion.Group, "vectorsidecars", "finalizers", "", []string{"update"}})
	}
	if installation.RunsJobs || installation.ReadsPods {
		needs = append(needs, need{"", "pods", "", "", []string{"list"}})
	}
	tellsByEvent := func(name string) bool {
		kind := workload.KindByName(name)
		return kind != nil && kind.Traits.ReportsByEvent
	}
	if installation.ReadsPods && slices.ContainsFunc(installation.Kinds, tellsByEvent) {
		needs = append(needs, need{"", "events", "", "", []string{"list"}})
	}
	if installation.Preflight {
		needs = append(needs, need{"", "pods", "", "", []string{"create"}}, need{"", "secrets", "", "", []string{"create"}})
	}
	if declaresObjects(installation) {
		needs = append(needs, need{v1alpha1.GroupVersion.Group, "vectorsidecars", "", "", []string{"create", "delete"}})
	}
	if installation.ReadsAccounts {
		needs = append(needs, need{"", "serviceaccounts", "", "", []string{"get"}})
	}
	return needs
}

// clusterNeeds returns the permissions for ClusterVectorSidecars, none if the kind is not enabled.
func clusterNeeds(installation *source.Installation) []scopedNeed {
	if !installation.EnablesClusters {
		return nil
	}
	verbs := []string{"list", "watch", "patch"}
	if declaresObjects(installation) {
		verbs = append(verbs, "create", "delete")
	}
	return []scopedNeed{
		{need{v1alpha1.GroupVersion.Group, "clustervectorsidecars", "", "", verbs}, metav1.NamespaceAll},
		{need{v1alpha1.GroupVersion.Group, "clustervectorsidecars", "status", "", []string{"patch"}}, metav1.NamespaceAll},
	}
}

// declaresObjects reports whether the values of the installation declare VectorSidecars or ClusterVectorSidecars.
func declaresObjects(installation *source.Installation) bool {
	_, ok := installation.Values[declared.Key]
	return ok
}

// scopedNeed is a permission in a namespace, "" for all namespaces or for cluster-scoped resources.
type scopedNeed struct {
	need
	namespace string
}

// webhookNeeds returns the additional permissions that the chart grants for the admission webhook.
func webhookNeeds(installation *source.Installation) []scopedNeed {
	webhook := installation.Webhook
	switch {
	case webhook == nil:
		return nil
	case webhook.Configuration == "":
		return []scopedNeed{{need{"", "secrets", "", webhook.Secret, []string{"list", "watch"}}, installation.Namespace}}
	}
	return []scopedNeed{
		{need{"", "secrets", "", webhook.Secret, []string{"get", "list", "watch", "create", "patch"}}, installation.Namespace},
		{need{"admissionregistration.k8s.io", "validatingwebhookconfigurations", "", webhook.Configuration, []string{"get", "list", "watch", "patch"}}, ""},
	}
}

// rolloutNeeds returns the permissions that the chart grants to store the revisions of an installation with waves.
func rolloutNeeds(installation *source.Installation) []scopedNeed {
	rules, err := fleet.Parse(desired.RolloutKey, []byte(installation.Values[desired.RolloutKey]))
	if err != nil || !rules.IsStaged() {
		return nil // The check of the values reports a parse error.
	}
	return []scopedNeed{{need{"apps", "controllerrevisions", "", "", []string{"get", "list", "create", "patch", "delete"}}, installation.Namespace}}
}

// operatorNamespaceNeeds returns the permissions that the chart grants in the operator namespace if the operator watches other
// namespaces only.
func operatorNamespaceNeeds(installation *source.Installation) []scopedNeed {
	if len(installation.Namespaces) == 0 {
		return nil
	}
	record := fleet.PublicationName(installation.ValuesName())
	return []scopedNeed{
		{need{"", "configmaps", "", "", []string{"list", "watch", "create"}}, installation.Namespace},
		{need{"", "configmaps", "", record.Name, []string{"update"}}, installation.Namespace},
	}
}

// requiredNeeds returns the permissions that the chart grants to find missing objects of the release.
func requiredNeeds(installation *source.Installation) []scopedNeed {
	var needs []scopedNeed
	for _, text := range installation.Required {
		object, err := source.ParseRequiredObject(text)
		if err != nil {
			continue // A later release may have other kinds.
		}
		resource, namespace := object.Resource(), ""
		if object.IsNamespaced() {
			namespace = installation.Namespace
		}
		needs = append(needs, scopedNeed{need{resource.Group, resource.Resource, "", object.Name, []string{"get"}}, namespace})
	}
	return needs
}

// checkPermissions checks the permissions of the operator's ServiceAccount, by impersonating the ServiceAccount.
func (d *Diagnosis) checkPermissions(ctx context.Context, installation *source.Installation) Result {
	const check = "permissions of the operator"
	user := fmt.Sprintf("system:serviceaccount:%s:%s", installation.Namespace, installation.ServiceAccount)
	operator, err := d.AsOperator(user)
	if err != nil {
		return Result{check, Unknown, err.Error(), ""}
	}
	namespaces := installation.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	placedNeeds := slices.Concat(webhookNeeds(installation), rolloutNeeds(installation), operatorNamespaceNeeds(installation), requiredNeeds(installation), clusterNeeds(installation))
	needs := slices.Concat(workloadNeeds(installation.Kinds), needs, optionalNeeds(installation))
	if installation.ReadsNodes {
		placedNeeds = append(placedNeeds, scopedNeed{need{"", "nodes", "", "", []string{"list"}}, ""})
	}
	for _, namespace := range namespaces {
		for _, need := range needs {
			if namespace != "" && need.resource == "namespaces" {
				continue // With watched namespaces, the operator does not need to list namespaces.
			}
			placedNeeds = append(placedNeeds, scopedNeed{need, namespace})
		}
	}
	var missing []string
	for _, placedNeed := range placedNeeds {
		denied, err := placedNeed.deniedPermissions(ctx, operator)
		if err != nil {
			return Result{check, Unknown, err.Error(), "ask someone with permission to impersonate " + user}
		}
		missing = append(missing, denied...)
	}
	if len(missing) > 0 {
		return Result{check, Failed, "the operator has no permission to " + strings.Join(missing, ", ") + blindHalt(installation, missing), "upgrade the installation with rbac.create, or grant these permissions to " + user}
	}
	return Result{check, OK, user + " has all permissions that it needs", ""}
}

// blindHalt returns a warning that rollout.halt cannot detect the causes of failures, because the permission to list
// pods is missing. It returns "" if rollout.halt is not set.
func blindHalt(installation *source.Installation, missing []string) string {
	rules, err := fleet.Parse(desired.RolloutKey, []byte(installation.Values[desired.RolloutKey]))
	isDenied := slices.ContainsFunc(missing, func(text string) bool { return text == "list pods" || strings.HasPrefix(text, "list pods ") })
	if err != nil || !rules.CanHalt() || !isDenied {
		return ""
	}
	return "; without permission to read pods, rollout.halt does not detect the causes of failures"
}

// deniedPermissions returns the verbs that a client is denied.
func (p *scopedNeed) deniedPermissions(ctx context.Context, operator client.Client) ([]string, error) {
	var denied []string
	for _, verb := range p.verbs {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: p.namespace, Group: p.group, Resource: p.resource, Subresource: p.subresource, Name: p.name, Verb: verb,
			},
		}}
		// Creating a review only asks the API server; nothing is stored.
		if err := operator.Create(ctx, review); err != nil {
			return nil, err
		}
		if !review.Status.Allowed {
			text := strings.TrimSuffix(verb+" "+p.resource+"/"+p.subresource, "/")
			if p.name != "" {
				text += " " + p.name
			}
			if p.namespace != "" {
				text += " in " + p.namespace
			}
			denied = append(denied, text)
		}
	}
	return denied, nil
}

// checkOptional reports the information that the operator lacks without an optional permission.
func checkOptional(installation *source.Installation) Result {
	texts := []string{
		"pods are not read: a rollout does not report why pods do not run, except for rejections by the API server; " +
			"a rollout fails when pods are unavailable for 2 minutes, or at its progress deadline (rbac.optional.pods)",
		"nodes are not read: before Kubernetes 1.32 sidecars are not native, and before 1.33 they have no preStop sleep (rbac.optional.nodes)",
		"ServiceAccounts are not read: with sidecar.imagePullSecrets, workloads that do not list pull secrets are skipped (rbac.optional.serviceAccounts)",
	}
	if installation.ReadsPods {
		texts[0] = "pods are read if a rollout does not finish (rbac.optional.pods)"
	}
	if installation.ReadsNodes {
		texts[1] = "nodes are listed for the versions of kubelets (rbac.optional.nodes)"
	}
	if installation.ReadsAccounts {
		texts[2] = "ServiceAccounts are read for workloads that get a pull secret and do not list any (rbac.optional.serviceAccounts)"
	}
	rules, err := fleet.Parse(desired.RolloutKey, []byte(installation.Values[desired.RolloutKey]))
	if err == nil && rules.CanHalt() && !installation.ReadsPods { // The check of the values reports invalid rules.
		message := "rollout.halt does not detect the causes of failures, so a rollout that misses its deadline stops only its VectorSidecar; " + strings.Join(texts, "; ")
		return Result{"optional permissions", Warning, message, "set rbac.optional.pods in the installation's values"}
	}
	return Result{"optional permissions", OK, strings.Join(texts, "; "), ""}
}
