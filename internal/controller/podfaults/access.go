// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package podfaults

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// Permissions are the permissions of the operator according to the API server.
type Permissions interface {
	// CanListPods reports whether the operator may list the pods of a namespace. An empty name means all namespaces.
	CanListPods(ctx context.Context, namespace string) (bool, error)
}

// Access reports whether the operator may list pods. An option enables that and a Role grants it. A Role may lack the
// permission although the option is set, so Access asks the API server.
type Access struct {
	isEnabled bool
	// permissions is nil if the API server cannot be asked. Then only the option counts.
	permissions Permissions
	// namespaces are the watched namespaces. An empty list means all namespaces.
	namespaces []string
	now        func() time.Time

	mu sync.Mutex
	// answers are the last answers by namespace, with "" for all namespaces. A denial is checked again after
	// state.LastRetry, and a permission when a request is denied.
	answers map[string]accessAnswer
}

// accessAnswer is an answer of the API server, with its time.
type accessAnswer struct {
	isAllowed bool
	time      time.Time
}

// NewAccess returns an Access without answers. The permissions are nil if the API server cannot be asked.
func NewAccess(isEnabled bool, permissions Permissions, namespaces []string, clock func() time.Time) *Access {
	return &Access{isEnabled: isEnabled, permissions: permissions, namespaces: namespaces, now: clock, answers: map[string]accessAnswer{}}
}

// UnreadableReason explains why the pods of a namespace cannot be read, or returns "" if they can be. An empty name
// means all namespaces.
func (a *Access) UnreadableReason(ctx context.Context, namespace string) string {
	switch {
	case !a.isEnabled:
		return "pods are not read (rbac.optional.pods)"
	case a.permissions == nil, len(a.namespaces) == 0 && a.isAllowed(ctx, metav1.NamespaceAll), namespace != "" && a.isAllowed(ctx, namespace):
		return ""
	case namespace == "":
		return "the operator has no permission to list pods (rbac.optional.pods)"
	}
	return fmt.Sprintf("the operator has no permission to list pods in namespace %s (rbac.optional.pods)", namespace)
}

// isAllowed reports whether the operator may list the pods of a namespace: according to the last answer, or according
// to the API server if the last answer is too old. If the API server does not answer, the last answer counts. Without
// any answer, isAllowed returns true, because requests for pods then show the permission.
func (a *Access) isAllowed(ctx context.Context, namespace string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, ok := a.answers[namespace]
	if ok && (answer.isAllowed || a.now().Sub(answer.time) < state.LastRetry) {
		return answer.isAllowed
	}
	isAllowed, err := a.permissions.CanListPods(ctx, namespace)
	if err != nil {
		if ctx.Err() == nil {
			telemetry.Warn(log.FromContext(ctx), "cannot check the permission to list pods", "namespace", namespace, "cause", err.Error())
		}
		isAllowed = !ok || answer.isAllowed
	}
	if !isAllowed && (!ok || answer.isAllowed) {
		telemetry.Warn(log.FromContext(ctx), "cannot list pods", "namespace", namespace)
	}
	a.answers[namespace] = accessAnswer{isAllowed, a.now()}
	return isAllowed
}

// forget drops the answers for a namespace after a request for its pods was denied. The next UnreadableReason asks the API
// server again.
func (a *Access) forget(namespace string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.answers, namespace)
	delete(a.answers, metav1.NamespaceAll)
}

// BlindHalt explains why rollout.halt cannot detect the causes of failures in a namespace. It returns "" if
// rollout.halt can detect them, or is not set.
func (a *Access) BlindHalt(ctx context.Context, rules *fleet.Rules, namespace string) string {
	if !rules.CanHalt() {
		return ""
	}
	if cause := a.UnreadableReason(ctx, namespace); cause != "" {
		return "rollout.halt does not detect the causes of failures: " + cause
	}
	return ""
}
