// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A field of the sidecar that a user changed manually is overwritten by force. A field that a deployment tool owns is
// not.
func TestNeedsForce_OverwritesOnlyManualChanges(t *testing.T) {
	another := apierrors.NewConflict(schema.GroupResource{Group: "apps", Resource: "deployments"}, "cart", errors.New("UID"))
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"one person":               {refusalOver("kubectl-edit"), true},
		"two of them":              {refusalOver("kubectl-edit", "kubectl-set"), true},
		"a deployer":               {refusalOver("helm"), false},
		"a manifest that is kept":  {refusalOver("kubectl-client-side-apply"), false},
		"another VectorSidecar":    {refusalOver(theirs), false},
		"a patch of our own":       {refusalOver(mine), true},
		"a person and a deployer":  {refusalOver("kubectl-edit", "argocd-controller"), false},
		"nobody on record":         {refusalOver(), false},
		"an undo by kubectl":       {refusalOver("kubectl"), true},
		"an apply by kubectl":      {refused(`conflict with "kubectl"`), false},
		"a name that is a prefix":  {refusalOver("kube"), false},
		"another kind of conflict": {another, false},
		"no conflict":              {apierrors.NewBadRequest("no"), false},
		"no error":                 {nil, false},
	} {
		require.Equal(t, test.want, (&Plan{Manager: mine, Write: Write{Force: true}}).NeedsForce(test.err), name)
		require.False(t, (&Plan{Manager: mine}).NeedsForce(test.err), "%s, which is only to be told", name)
	}
}

// refusalOver is the API server's conflict for fields that others wrote with Update.
// For managers that used Apply it names no version.
func refusalOver(managers ...string) error {
	var messages []string
	for _, manager := range managers {
		messages = append(messages, fmt.Sprintf("conflict with %q using apps/v1", manager))
	}
	return refused(messages...)
}

func refused(messages ...string) error { return refusedAt("", messages...) }

func refusedAt(field string, messages ...string) error {
	return apierrors.NewApplyConflict(causesAt(field, messages...), "Apply failed with 1 conflict")
}

func causesAt(field string, messages ...string) []metav1.StatusCause {
	var causes []metav1.StatusCause
	for _, message := range messages {
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Field: field, Message: message})
	}
	return causes
}

// A chart applies an empty map of annotations, so its field manager owns the map. That is no conflict, because the map
// has no entry that a write would take over.
func TestNeedsForce_IgnoresEmptyMapsAndLists(t *testing.T) {
	p := &Plan{Manager: mine}
	for _, field := range []string{".spec.template.metadata.annotations", ".spec.template.spec.volumes"} {
		require.True(t, p.NeedsForce(refusedAt(field, `conflict with "helm"`)), field)
		require.True(t, p.NeedsForce(refusedAt(field, `conflict with "kubectl-edit" using apps/v1`)), field)
	}
	for _, field := range []string{`.spec.template.spec.volumes[name="cache"]`, ".spec.replicas", ".spec.template.spec"} {
		require.False(t, p.NeedsForce(refusedAt(field, `conflict with "helm"`)), field)
	}
	both := append(causesAt(".spec.template.spec.volumes", `conflict with "helm"`), causesAt(".spec.replicas", `conflict with "helm"`)...)
	require.False(t, p.NeedsForce(apierrors.NewApplyConflict(both, "Apply failed with 2 conflicts")))
}
