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

// conflictWith extracts the field manager from a conflict cause, and whether it wrote with Update. The API
// server names an API version only for Update, not for Apply.
var conflictWith = regexp.MustCompile(`^conflict with "([^"]*)"( using)?`)

// containers lists shared maps and lists of a workload. A manager that owns the map or list itself created it,
// or applied it empty, as chart templates do. It does not own the fields in it.
var containers = []string{
	".metadata.annotations", ".spec.template.metadata.annotations", ".spec.template.metadata.labels",
	".spec.template.spec.initContainers", ".spec.template.spec.containers", ".spec.template.spec.volumes",
}

// Forces reports whether to retry a conflicting apply with force. This is true if all conflicting fields were
// changed by hand, were patched by the manager itself, or are empty maps or lists.
func (p *Plan) Forces(err error) bool {
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
		if len(match) < 3 {
			return false
		}
		byUpdate := match[2] != ""
		isOwn := byUpdate && match[1] == p.Manager
		isEmpty := slices.Contains(containers, p.Target.Adapter().Field(cause.Field))
		if !isEmpty && (!p.Force || !isOwn && !meta.IsPerson(match[1], byUpdate)) {
			return false
		}
		conflicts++
	}
	return conflicts > 0
}

// IsWithSiblings reports whether an apply conflicted with fields of other VectorSidecars.
func IsWithSiblings(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool {
		match := conflictWith.FindStringSubmatch(cause.Message)
		return cause.Type == metav1.CauseTypeFieldManagerConflict && len(match) > 1 && meta.IsManager(match[1])
	})
}
