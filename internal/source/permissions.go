// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// Permissions asks the API server which permissions its client has. NewPermissions creates it.
type Permissions struct {
	client authorizationclient.SelfSubjectAccessReviewInterface
}

// NewPermissions returns the Permissions of a client.
func NewPermissions(config *rest.Config) (*Permissions, error) {
	client, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for access reviews: %w", err)
	}
	return &Permissions{client.SelfSubjectAccessReviews()}, nil
}

// CanListPods reports whether the client may list the pods of a namespace. "" stands for all namespaces.
func (p *Permissions) CanListPods(ctx context.Context, namespace string) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Resource: "pods", Verb: "list"},
	}}
	answer, err := p.client.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("reviewing access to pods: %w", err)
	}
	return answer.Status.Allowed, nil
}
