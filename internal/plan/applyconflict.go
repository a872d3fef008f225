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

// conflictPattern matches the message of a conflict. The first group is the other field manager. The second group is "
// using" if that manager wrote with Update, because the API server names the API version only of an Update.
var conflictPattern = regexp.MustCompile(`^conflict with "([^"]*)"( using)?`)

// sharedPaths are the paths of maps and lists to which several field managers add items. A manager that owns such a map
// or list itself has created it or applied it empty, as chart templates do. It does not own the fields in it.
var sharedPaths = []string{
	".metadata.annotations", ".spec.template.metadata.annotations", ".spec.template.metadata.labels",
	".spec.template.spec.initContainers", ".spec.template.spec.containers", ".spec.template.spec.volumes",
}

// NeedsForce reports whether an apply that failed with conflicts must be retried with force. It must if each conflict
// concerns an empty map or list, a field that a user changed by hand, or a field that the plan's manager has patched.
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
		isEmpty := slices.Contains(sharedPaths, p.Target.Adapter().NormalizeFieldPath(cause.Field))
		if !isEmpty && (!p.Write.Force || !isOwn && !meta.IsPerson(match[1], byUpdate)) {
			return false
		}
		conflicts++
	}
	return conflicts > 0
}

// IsSidecarConflict reports whether an apply failed because the field manager of another VectorSidecar owns one of the
// applied fields.
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
