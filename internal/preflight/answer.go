// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Answer is what the API server says to a dry run.
type Answer struct {
	// Result is Passed, Refused or NotJudged.
	Result Result
	// Text is its error, "" for none.
	Text string
	// IsQuota reports whether a ResourceQuota has no room, which says nothing if room is made first.
	IsQuota bool
	// IsAccount reports whether the pods' ServiceAccount is missing: that of one workload.
	IsAccount bool
	// IsInvalid reports whether the object was refused as such, and not by anybody who judges objects.
	IsInvalid bool
}

var (
	// lacksRight matches what the API server says to who may not ask.
	lacksRight = regexp.MustCompile(`is forbidden: User ".*" cannot `)
	// byPolicy matches what webhooks and policies refuse, with whatever code.
	byPolicy = regexp.MustCompile(`denied (the )?request`)
	// lacksAccount matches what the admission plugin ServiceAccount says.
	lacksAccount = regexp.MustCompile(`error looking up service account|serviceaccounts? "[^"]*" not found`)
)

// Read returns what an error of a dry run says, nil being consent.
func Read(err error) Answer {
	if err == nil {
		return Answer{Result: Passed}
	}
	answer := Answer{Result: NotJudged, Text: err.Error()}
	_, isTerminating := apierrors.StatusCause(err, corev1.NamespaceTerminatingCause)
	switch {
	case strings.Contains(answer.Text, "does not support dry run"), lacksRight.MatchString(answer.Text), isTerminating:
	case byPolicy.MatchString(answer.Text), apierrors.IsForbidden(err):
		answer.Result = Refused
		answer.IsQuota = strings.Contains(answer.Text, "exceeded quota")
		answer.IsAccount = lacksAccount.MatchString(answer.Text)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		answer.Result, answer.IsInvalid = Refused, true
	}
	return answer
}

// Judge returns the verdict on pods that were tried with the sidecar and, if they were refused,
// without it. removesFirst reports whether the workload removes a pod before it makes the next one.
func Judge(with Answer, without func() Answer, removesFirst bool) Verdict {
	switch {
	case with.Result != Refused:
		return Verdict{Result: with.Result, Message: with.Text}
	case with.IsQuota && removesFirst:
		return Verdict{Result: NotJudged, Message: "whether a quota has room shows when its pods have gone, which it removes before it makes others: " + with.Text}
	}
	bare := without()
	switch {
	case bare.Result != Refused:
		return Verdict{Result: Refused, Message: "its pods would be refused with the sidecar, and are not without it: " + with.Text}
	case bare.IsInvalid: // It was made from a template that the API server has, so it is not as its controller makes it.
		return Verdict{Result: NotJudged, Message: with.Text}
	}
	return Verdict{Result: RefusedAnyway, IsOfOne: bare.IsAccount, Message: "its pods would be refused, with the sidecar and without it: " + bare.Text}
}
