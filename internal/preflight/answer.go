// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Answer is the API server's response to a dry run.
type Answer struct {
	// Result is Passed, Rejected or Inconclusive.
	Result Result
	// Text is the error of the response, "" for none.
	Text string
	// IsQuota reports whether a ResourceQuota is exceeded. The result is inconclusive if the workload removes a
	// pod first.
	IsQuota bool
	// IsAccount reports whether the ServiceAccount of the pods is missing, which concerns only one workload.
	IsAccount bool
	// IsInvalid reports whether the API server rejected the object as invalid. It is false for a rejection by
	// admission.
	IsInvalid bool
}

var (
	// lacksRight matches the response to a request that RBAC denies.
	lacksRight = regexp.MustCompile(`is forbidden: User ".*" cannot `)
	// byPolicy matches rejections by webhooks and policies, which may have any status code.
	byPolicy = regexp.MustCompile(`denied (the )?request`)
	// lacksAccount matches the error of the admission plugin ServiceAccount.
	lacksAccount = regexp.MustCompile(`error looking up service account|serviceaccounts? "[^"]*" not found`)
)

// NewAnswer converts the error of a dry run to an Answer. Without an error, the dry run has passed.
func NewAnswer(err error) Answer {
	if err == nil {
		return Answer{Result: Passed}
	}
	answer := Answer{Result: Inconclusive, Text: err.Error()}
	_, isTerminating := apierrors.StatusCause(err, corev1.NamespaceTerminatingCause)
	switch {
	case strings.Contains(answer.Text, "does not support dry run"), lacksRight.MatchString(answer.Text), isTerminating:
	case byPolicy.MatchString(answer.Text), apierrors.IsForbidden(err):
		answer.Result = Rejected
		answer.IsQuota = strings.Contains(answer.Text, "exceeded quota")
		answer.IsAccount = lacksAccount.MatchString(answer.Text)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		answer.Result, answer.IsInvalid = Rejected, true
	}
	return answer
}

// NewDryRunResult returns the result for pods from the dry run with the sidecar. If that dry run was rejected, it
// also makes the dry run without the sidecar. If removesFirst is true, the workload deletes a pod before it creates
// the next one, and an exceeded quota is inconclusive.
func NewDryRunResult(withSidecar Answer, withoutSidecar func() Answer, removesFirst bool) DryRunResult {
	switch {
	case withSidecar.Result != Rejected:
		return DryRunResult{Result: withSidecar.Result, Message: withSidecar.Text}
	case withSidecar.IsQuota && removesFirst:
		return DryRunResult{Result: Inconclusive, Message: "the dry run cannot show whether the quota has room for the sidecar, because the workload deletes its old pods first, and they still count; make sure that the quota has room: " + withSidecar.Text}
	}
	bare := withoutSidecar()
	switch {
	case bare.Result != Rejected:
		return DryRunResult{Result: Rejected, Message: "pods are rejected with the sidecar, but not without it: " + withSidecar.Text}
	case bare.IsInvalid: // It was made from a template that the API server has, so it is not as its controller makes it.
		return DryRunResult{Result: Inconclusive, Message: withSidecar.Text}
	}
	return DryRunResult{Result: RejectedAnyway, IsWorkloadSpecific: bare.IsAccount, Message: "pods are rejected with and without the sidecar: " + bare.Text}
}
