// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/world"
)

// need is what the operator has to be allowed.
type need struct {
	group, resource, subresource string
	verbs                        []string
}

// needs are the rights that the chart gives the operator everywhere.
var needs = []need{
	{"apps", "deployments", "", []string{"list", "watch", "patch"}},
	{"apps", "replicasets", "", []string{"list"}},
	{"", "configmaps", "", []string{"get", "list", "watch", "create", "update", "delete"}},
	{"", "namespaces", "", []string{"list", "watch"}},
	{v1alpha1.GroupVersion.Group, "vectorsidecars", "", []string{"list", "watch", "patch"}},
	{v1alpha1.GroupVersion.Group, "vectorsidecars", "status", []string{"patch"}},
	{v1alpha1.GroupVersion.Group, "vectorsidecars", "finalizers", []string{"update"}},
	{"events.k8s.io", "events", "", []string{"create", "patch"}},
}

// rights asks the API server, as the operator's ServiceAccount, what that may do.
func (d *Diagnosis) rights(ctx context.Context, installation *world.Installation) Result {
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
	var missing []string
	for _, namespace := range namespaces {
		for _, need := range needs {
			if namespace != "" && need.resource == "namespaces" {
				continue // It does without.
			}
			denied, err := need.deniedTo(ctx, operator, namespace)
			if err != nil {
				return Result{check, Unknown, err.Error(), "have somebody look who may impersonate " + user}
			}
			missing = append(missing, denied...)
		}
	}
	if len(missing) > 0 {
		return Result{check, Failed, "it may not " + strings.Join(missing, ", "), "upgrade the installation with rbac.create, or grant these to " + user}
	}
	return Result{check, OK, user + " may do what it has to", ""}
}

// deniedTo are the verbs that whoever asks is not allowed.
func (n *need) deniedTo(ctx context.Context, who client.Client, namespace string) ([]string, error) {
	var denied []string
	for _, verb := range n.verbs {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Group: n.group, Resource: n.resource, Subresource: n.subresource, Verb: verb,
			},
		}}
		// Nothing is stored: creating a review asks for it.
		if err := who.Create(ctx, review); err != nil {
			return nil, err
		}
		if !review.Status.Allowed {
			text := strings.TrimSuffix(verb+" "+n.resource+"/"+n.subresource, "/")
			if namespace != "" {
				text += " in " + namespace
			}
			denied = append(denied, text)
		}
	}
	return denied, nil
}
