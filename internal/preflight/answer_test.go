// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var pods = schema.GroupResource{Resource: "pods"}

func forbidden(text string) error { return apierrors.NewForbidden(pods, "cart", errors.New(text)) }

func invalid() error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "cart", nil)
}

// Each response of the API server to a dry run is passed, rejected or inconclusive.
func TestNewAnswer_ClassifiesDryRunResponses(t *testing.T) {
	terminating := apierrors.NewForbidden(pods, "cart", errors.New("it is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, test := range map[string]struct {
		err  error
		want Answer
	}{
		"consent":    {nil, Answer{Result: Passed}},
		"a quota":    {forbidden("exceeded quota: compute, requested: requests.memory=80Mi"), Answer{Result: Rejected, IsQuota: true}},
		"no limits":  {forbidden("failed quota: compute: must specify limits.cpu for: vector"), Answer{Result: Rejected}},
		"no account": {forbidden(`error looking up service account shop/cart: serviceaccount "cart" not found`), Answer{Result: Rejected, IsAccount: true}},
		"a webhook":  {apierrors.NewBadRequest(`admission webhook "a" denied the request: no`), Answer{Result: Rejected}},
		"a webhook that answers as a server does": {
			apierrors.NewInternalError(errors.New(`admission webhook "a" denied the request: no`)), Answer{Result: Rejected}},
		"a policy":              {errors.New(`ValidatingAdmissionPolicy 'a' with binding 'a' denied request: no`), Answer{Result: Rejected}},
		"validation":            {invalid(), Answer{Result: Rejected, IsInvalid: true}},
		"a webhook as of 1.15":  {apierrors.NewBadRequest(`admission webhook "a" does not support dry run`), Answer{Result: Inconclusive}},
		"a webhook that is off": {apierrors.NewInternalError(errors.New(`calling webhook "a": connection refused`)), Answer{Result: Inconclusive}},
		"no right":              {forbidden(`User "system:serviceaccount:a:b" cannot create resource "pods" in API group ""`), Answer{Result: Inconclusive}},
		"no time":               {apierrors.NewTimeoutError("slow", 1), Answer{Result: Inconclusive}},
		"the end of all":        {terminating, Answer{Result: Inconclusive}},
	} {
		t.Run(name, func(t *testing.T) {
			got := NewAnswer(test.err)
			if test.err != nil {
				require.Equal(t, test.err.Error(), got.Text)
			}
			got.Text = ""
			require.Equal(t, test.want, got)
		})
	}
}

// A second dry run without the sidecar shows whether the sidecar or the application is rejected.
func TestNewDryRunResult_SeparatesSidecarAndApplication(t *testing.T) {
	full := NewAnswer(forbidden("exceeded quota: compute"))
	for name, test := range map[string]struct {
		with, without Answer
		removesFirst  bool
		want          Result
		isOfOne       bool
	}{
		"nobody refuses":                      {with: Answer{Result: Passed}, want: Passed},
		"nobody could judge":                  {with: Answer{Result: Inconclusive}, want: Inconclusive},
		"the sidecar's":                       {with: full, without: Answer{Result: Passed}, want: Rejected},
		"nobody could judge the other":        {with: full, without: Answer{Result: Inconclusive}, want: Rejected},
		"the application's":                   {with: full, without: full, want: RejectedAnyway},
		"one workload's":                      {with: full, without: Answer{Result: Rejected, IsAccount: true}, want: RejectedAnyway, isOfOne: true},
		"nobody's: a quota gets room first":   {with: full, removesFirst: true, want: Inconclusive},
		"nobody's: the pod is not as it will": {with: Answer{Result: Rejected, IsInvalid: true}, without: Answer{Result: Rejected, IsInvalid: true}, want: Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			got := NewDryRunResult(test.with, func() Answer { return test.without }, test.removesFirst)
			require.Equal(t, test.want, got.Result)
			require.Equal(t, test.isOfOne, got.IsWorkloadSpecific)
		})
	}
	NewDryRunResult(Answer{Result: Passed}, func() Answer { t.Fatal("it passed"); return Answer{} }, false)
}
