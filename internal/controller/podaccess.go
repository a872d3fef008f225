// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

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

// Permissions asks the API server for permissions of the operator.
type Permissions interface {
	// CanListPods reports whether the operator may list pods of a namespace, of all namespaces if it is "".
	CanListPods(ctx context.Context, namespace string) (bool, error)
}

// podAccess knows whether the operator may list pods: an option enables it, and a role grants it. A role may lack the
// permission although the option is set, so the API server is asked.
type podAccess struct {
	isEnabled bool
	// permissions is nil if nobody can be asked: then the option decides.
	permissions Permissions
	// namespaces are the watched ones, none for all.
	namespaces []string
	now        func() time.Time

	mu sync.Mutex
	// answers are the last ones by namespace, "" for all. A denial is asked for again after state.LastRetry, a permission
	// when a request is denied.
	answers map[string]accessAnswer
}

type accessAnswer struct {
	isAllowed bool
	time      time.Time
}

func newPodAccess(isEnabled bool, permissions Permissions, namespaces []string, clock func() time.Time) *podAccess {
	return &podAccess{isEnabled: isEnabled, permissions: permissions, namespaces: namespaces, now: clock, answers: map[string]accessAnswer{}}
}

// notRead explains why pods of a namespace are not read, "" if they are.
func (a *podAccess) notRead(ctx context.Context, namespace string) string {
	switch {
	case !a.isEnabled:
		return "pods are not read (rbac.optional.pods)"
	case a.permissions == nil, len(a.namespaces) == 0 && a.isAllowed(ctx, metav1.NamespaceAll), namespace != "" && a.isAllowed(ctx, namespace):
		return ""
	case namespace == "":
		return "the operator may not list pods (rbac.optional.pods)"
	}
	return fmt.Sprintf("the operator may not list pods in namespace %s (rbac.optional.pods)", namespace)
}

// isAllowed returns the last answer for a namespace, or asks for it. Without an answer it returns true: requests for pods
// tell.
func (a *podAccess) isAllowed(ctx context.Context, namespace string) bool {
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
		telemetry.Warn(log.FromContext(ctx), "pods may not be listed", "namespace", namespace)
	}
	a.answers[namespace] = accessAnswer{isAllowed, a.now()}
	return isAllowed
}

// forget makes the next notRead ask again, after a request for pods of a namespace was denied.
func (a *podAccess) forget(namespace string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.answers, namespace)
	delete(a.answers, metav1.NamespaceAll)
}

// blindHalt explains why rollout.halt cannot see the causes of failures in a namespace, "" if it can, or is not set.
func (a *podAccess) blindHalt(ctx context.Context, rules *fleet.Rules, namespace string) string {
	if !rules.CanHalt() {
		return ""
	}
	if cause := a.notRead(ctx, namespace); cause != "" {
		return "rollout.halt cannot see the causes of failures: " + cause
	}
	return ""
}
