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
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// need is what the operator has to be allowed: with one object by its name, or with
// all if that is "".
type need struct {
	group, resource, subresource, name string
	verbs                              []string
}

// needs are the rights that the chart gives the operator everywhere.
var needs = []need{
	{"apps", "deployments", "", "", []string{"list", "watch", "patch"}},
	{"apps", "replicasets", "", "", []string{"list"}},
	{"", "configmaps", "", "", []string{"get", "list", "watch", "create", "update", "delete"}},
	{"", "namespaces", "", "", []string{"list", "watch"}},
	{v1alpha1.GroupVersion.Group, "vectorsidecars", "", "", []string{"list", "watch", "patch"}},
	{v1alpha1.GroupVersion.Group, "vectorsidecars", "status", "", []string{"patch"}},
	{v1alpha1.GroupVersion.Group, "vectorsidecars", "finalizers", "", []string{"update"}},
	{"events.k8s.io", "events", "", "", []string{"create", "patch"}},
}

// placed is a need in a namespace, "" for all of them or for what is in none.
type placed struct {
	need
	namespace string
}

// webhookNeeds are what the chart gives besides for the admission webhook.
func webhookNeeds(installation *source.Installation) []placed {
	webhook := installation.Webhook
	switch {
	case webhook == nil:
		return nil
	case webhook.Configuration == "":
		return []placed{{need{"", "secrets", "", webhook.Secret, []string{"list", "watch"}}, installation.Namespace}}
	}
	return []placed{
		{need{"", "secrets", "", webhook.Secret, []string{"get", "list", "watch", "create", "patch"}}, installation.Namespace},
		{need{"admissionregistration.k8s.io", "validatingwebhookconfigurations", "", webhook.Configuration, []string{"get", "list", "watch", "patch"}}, ""},
	}
}

// rights asks the API server, as the operator's ServiceAccount, what that may do.
func (d *Diagnosis) rights(ctx context.Context, installation *source.Installation) Result {
	const check = "rights of the operator"
	user := fmt.Sprintf("system:serviceaccount:%s:%s", installation.Namespace, installation.ServiceAccount)
	operator, err := d.AsOperator(user)
	if err != nil {
		return Result{check, Unknown, err.Error(), ""}
	}
	namespaces := installation.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	wanted := webhookNeeds(installation)
	needs := needs
	if installation.ReadsPods {
		needs = append(slices.Clip(needs), need{"", "pods", "", "", []string{"list"}})
	}
	for _, namespace := range namespaces {
		for _, need := range needs {
			if namespace != "" && need.resource == "namespaces" {
				continue // It does without.
			}
			wanted = append(wanted, placed{need, namespace})
		}
	}
	var missing []string
	for _, one := range wanted {
		denied, err := one.deniedTo(ctx, operator)
		if err != nil {
			return Result{check, Unknown, err.Error(), "have somebody look who may impersonate " + user}
		}
		missing = append(missing, denied...)
	}
	if len(missing) > 0 {
		return Result{check, Failed, "it may not " + strings.Join(missing, ", "), "upgrade the installation with rbac.create, or grant these to " + user}
	}
	return Result{check, OK, user + " may do what it has to", ""}
}

// deniedTo are the verbs that whoever asks is not allowed.
func (p *placed) deniedTo(ctx context.Context, who client.Client) ([]string, error) {
	var denied []string
	for _, verb := range p.verbs {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: p.namespace, Group: p.group, Resource: p.resource, Subresource: p.subresource, Name: p.name, Verb: verb,
			},
		}}
		// Nothing is stored: creating a review asks for it.
		if err := who.Create(ctx, review); err != nil {
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

// optional says what an installation does not see for want of a right that it can do
// without.
func optional(installation *source.Installation) Result {
	const check = "optional rights"
	if !installation.ReadsPods {
		return Result{check, OK, "pods are not read: what keeps them from running is not said of a rollout, beyond what the API server refuses; " +
			"it fails when pods are unavailable for 2 minutes, or by its progress deadline (rbac.optional.pods)", ""}
	}
	return Result{check, OK, "pods are read where a rollout does not finish (rbac.optional.pods)", ""}
}
