// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"regexp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// people are the field managers of programs with which a person changes an object
// by hand. Whatever deploys (kubectl apply, helm, argocd, flux) is none of them:
// what a deployer owns is written in a manifest and comes back.
var people = []string{
	"kubectl-edit", "kubectl-patch", "kubectl-set", "kubectl-replace", "kubectl-rollout",
	"kubectl-annotate", "kubectl-label", "k9s", "node-fetch", "Mozilla", "dashboard",
}

// conflictWith reads the manager from the message of a conflict's cause, and
// whether it wrote by an update: an apply is not said to use a version.
var conflictWith = regexp.MustCompile(`^conflict with "([^"]*)"( using)?`)

// onlyPeople tells whether an apply was refused because of fields that people
// changed by hand, and of no others.
func onlyPeople(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsConflict(err) || status.Status().Details == nil {
		return false
	}
	conflicts := 0
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		match := conflictWith.FindStringSubmatch(cause.Message)
		if len(match) < 3 || !isPerson(match[1], match[2] != "") {
			return false
		}
		conflicts++
	}
	return conflicts > 0
}

// isPerson tells whether a manager stands for a person. kubectl writes as
// "kubectl" when a person undoes a rollout, by an update, and when a deployer
// applies on the server's side.
func isPerson(manager string, byUpdate bool) bool {
	return slices.Contains(people, manager) || manager == "kubectl" && byUpdate
}
