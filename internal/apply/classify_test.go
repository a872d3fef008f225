// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}

// conflictWith returns the API server's response to an apply of a field that another manager
// owns.
func conflictWith(manager string) error {
	return apierrors.NewApplyConflict([]metav1.StatusCause{{
		Type:    metav1.CauseTypeFieldManagerConflict,
		Message: fmt.Sprintf("conflict with %q using apps/v1", manager),
		Field:   `.spec.template.spec.containers[name="vector"].image`,
	}}, "Apply failed with 1 conflict")
}

func internal(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: message}}
}

// ending returns the response to creating something in a namespace that is being deleted.
func ending() error {
	err := apierrors.NewForbidden(deployments, "cart", errors.New("the namespace is being terminated"))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
	return err
}

// Each response of the API server to a write becomes the typed error that determines the operator's reaction, such as a
// retry or a conflict.
func TestClassify_ReturnsTypedErrors(t *testing.T) {
	type verdict string
	const gone, terminating, stale, conflict, refused, denied, general, passing verdict = "gone", "terminating", "stale", "conflict", "refused", "denied", "general", "passing"
	of := func(err error) verdict {
		var isConflict *ConflictError
		var isRefused *RejectedError
		var isDenied *DeniedError
		switch {
		case errors.Is(err, ErrGone):
			return gone
		case errors.Is(err, ErrTerminating):
			return terminating
		case errors.Is(err, ErrStale):
			return stale
		case errors.As(err, &isConflict):
			return conflict
		case errors.As(err, &isRefused):
			return refused
		case errors.As(err, &isDenied) && isDenied.IsGeneral:
			return general
		case isDenied != nil:
			return denied
		}
		return passing
	}
	kind := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	invalid := field.ErrorList{field.Invalid(field.NewPath("spec"), "x", "no")}
	for name, test := range map[string]struct {
		err    error
		want   verdict
		reason string
	}{
		"not found":                 {apierrors.NewNotFound(deployments, "cart"), gone, "the next event says what to do"},
		"another UID":               {apierrors.NewConflict(deployments, "cart", errors.New("UID in precondition")), gone, "another one has its name"},
		"another version":           {apierrors.NewConflict(deployments, "cart", errors.New("the object has been modified")), stale, "a look at the workload says what to do"},
		"a field of somebody else":  {conflictWith("helm"), conflict, "a person has to settle it"},
		"invalid":                   {apierrors.NewInvalid(kind, "cart", invalid), refused, "the same would be refused again"},
		"a bad request":             {apierrors.NewBadRequest("no"), refused, "the same would be refused again"},
		"too large":                 {apierrors.NewRequestEntityTooLargeError("no"), refused, "the same would be refused again"},
		"no fit with the schema":    {internal(`failed to create typed patch object (shop/cart; apps/v1, Kind=Deployment): duplicate entries`), refused, "it is an internal error by its code only"},
		"too large for etcd":        {internal("etcdserver: request is too large"), refused, "it does not get smaller by itself"},
		"too large to be sent":      {internal("rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097409 vs. 2097152)"), refused, "the same"},
		"another internal error":    {internal("etcdserver: request timed out"), passing, "the server is unwell"},
		"a namespace that goes":     {ending(), terminating, "nothing can be made there any more"},
		"forbidden":                 {apierrors.NewForbidden(deployments, "cart", errors.New("quota")), denied, "a quota may change at any time"},
		"a missing right":           {apierrors.NewForbidden(deployments, "cart", errors.New(`User "vso" cannot patch resource "deployments" in API group "apps" in the namespace "shop"`)), general, "a role may change, and says nothing of the workload"},
		"a missing right to create": {apierrors.NewForbidden(deployments, "cart", errors.New(`User "vso" cannot create resource "vectorsidecars" in API group "observability.kontroloop.ai" in the namespace "shop"`)), general, "a role may change, and says nothing of the object"},
		"too many requests":         {apierrors.NewTooManyRequests("later", 1), passing, "the server says so"},
		"a timeout":                 {apierrors.NewTimeoutError("slow", 1), passing, "the server is unwell"},
		"unavailable":               {apierrors.NewServiceUnavailable("starting"), passing, "the server is unwell"},
		"no answer":                 {context.DeadlineExceeded, passing, "nobody knows"},
		"a webhook that is down":    {internal(`Internal error occurred: failed calling webhook "a": connection refused`), general, "it may come back, and has not seen the workload"},
		"a webhook's own code":      {internal(`admission webhook "a" denied the request: no`), denied, "it may change its mind"},
	} {
		t.Run(name, func(t *testing.T) {
			got := classify(test.err)
			require.Equal(t, test.want, of(got), test.reason)
			require.ErrorIs(t, got, test.err, "what the server said is not lost")
			require.Equal(t, test.want, of(fmt.Errorf("applying: %w", got)))
		})
	}
}

func TestClassify_ReturnsNilForNil(t *testing.T) {
	require.NoError(t, classify(nil))
}

// Each typed error of a write has its own value of the metric's label.
func TestResultLabel_ReturnsLabelOfWriteError(t *testing.T) {
	for want, err := range map[string]error{
		"ok":       nil,
		"gone":     fmt.Errorf("applying: %w", ErrGone),
		"stale":    fmt.Errorf("applying: %w", ErrStale),
		"conflict": fmt.Errorf("applying: %w", &ConflictError{Err: errors.New("no")}),
		"rejected": fmt.Errorf("applying: %w", &RejectedError{Err: errors.New("no")}),
		"error":    apierrors.NewServiceUnavailable("later"),
	} {
		require.Equal(t, want, ResultLabel(err))
	}
}
