// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"regexp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// conflictPattern matches the message of a conflict. The groups are the other field manager, and " using" if that
// manager wrote with Update. The API server names an API version only for Update, and not for Apply.
var conflictPattern = regexp.MustCompile(`^conflict with "([^"]*)"( using)?`)

// containers are the paths of maps and lists that several field managers share. A manager that owns such a map
// or list itself has created it or applied it empty, as chart templates do. It does not own the fields in it.
var containers = []string{
	".metadata.annotations", ".spec.template.metadata.annotations", ".spec.template.metadata.labels",
	".spec.template.spec.initContainers", ".spec.template.spec.containers", ".spec.template.spec.volumes",
}

// NeedsForce reports whether a conflicting apply must be retried with force. This is true if each conflict concerns
// an empty map or list, or a field that a user changed by hand or the manager itself patched.
func (p *Plan) NeedsForce(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsConflict(err) || status.Status().Details == nil {
		return false
	}
	conflicts := 0
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		match := conflictPattern.FindStringSubmatch(cause.Message)
		if len(match) < 3 {
			return false
		}
		byUpdate := match[2] != ""
		isOwn := byUpdate && match[1] == p.Manager
		isEmpty := slices.Contains(containers, p.Target.Adapter().NormalizeFieldPath(cause.Field))
		if !isEmpty && (!p.Write.Force || !isOwn && !meta.IsPerson(match[1], byUpdate)) {
			return false
		}
		conflicts++
	}
	return conflicts > 0
}

// IsSidecarConflict reports whether an apply failed because another VectorSidecar owns one of its fields.
func IsSidecarConflict(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool {
		match := conflictPattern.FindStringSubmatch(cause.Message)
		return cause.Type == metav1.CauseTypeFieldManagerConflict && len(match) > 1 && meta.IsManager(match[1])
	})
}
