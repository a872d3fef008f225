// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// UserRangeAnnotation is the annotation on a Namespace from which OpenShift assigns users.
const UserRangeAnnotation = "openshift.io/sa.scc.uid-range"

// UserRange is the range of users that a namespace assigns to its pods. Its zero value has no
// bounds.
type UserRange struct{ First, Last int64 }

// ParseUserRange parses the annotation: FIRST/COUNT or FIRST-LAST. Any other text has no bounds.
func ParseUserRange(text string) UserRange {
	number := func(text string) int64 {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	first, count, isCounted := strings.Cut(text, "/")
	if isCounted {
		if users := (UserRange{number(first), number(first) + number(count) - 1}); users.First >= 0 && number(count) > 0 {
			return users
		}
		return UserRange{}
	}
	first, last, _ := strings.Cut(text, "-")
	if users := (UserRange{number(first), number(last)}); users.First >= 0 && users.Last >= users.First {
		return users
	}
	return UserRange{}
}

// String returns the range for messages.
func (r UserRange) String() string { return fmt.Sprintf("%d to %d", r.First, r.Last) }

// contains reports whether a user ID is in the range. It returns true for nil.
func (r UserRange) contains(user *int64) bool {
	return user == nil || *user >= r.First && *user <= r.Last
}

// Admit returns an error if a container of the overlay names a user outside of the range, because the API server
// would reject the pods. It returns nil if the application names such a user itself, because the security context
// constraints that admit the application then also admit the sidecar.
func (r UserRange) Admit(application *corev1.PodSpec, overlay *corev1.PodTemplateSpec) error {
	if r == (UserRange{}) {
		return nil
	}
	isOutside := func(pod *corev1.PodSpec) func(corev1.Container) bool {
		return func(c corev1.Container) bool {
			user, _ := workload.RunsAs(pod.SecurityContext, c.SecurityContext)
			return !r.contains(user)
		}
	}
	if slices.ContainsFunc(slices.Concat(application.InitContainers, application.Containers), isOutside(application)) {
		return nil
	}
	containers := slices.Concat(overlay.Spec.InitContainers, overlay.Spec.Containers)
	if i := slices.IndexFunc(containers, isOutside(&overlay.Spec)); i >= 0 {
		return fmt.Errorf("container %q would run as user %d, but the namespace allows users from %s (annotation %s); set sidecar.user to Platform, so that the cluster chooses the user, or to an allowed user",
			containers[i].Name, *containers[i].SecurityContext.RunAsUser, r, UserRangeAnnotation)
	}
	return nil
}
