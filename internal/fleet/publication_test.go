// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A publication that was written to a ConfigMap is read back unchanged.
func TestPublication_EqualsWrittenOneAfterRead(t *testing.T) {
	now := metav1.NewTime(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	written := &Publication{
		Revision: "0123456789", RolloutText: "halt: {}\n",
		TemplateSets: []PartStatus{NewPartStatus("gateway", errors.New("line 1"), true), NewPartStatus("own", nil, true)},
		Policy:       NewPartStatus("", errors.New("line 2"), false),
		Rollout:      NewPartStatus("", nil, true),
	}
	written.KeepTimes(nil, now)
	object := written.ConfigMap(types.NamespacedName{Namespace: "vector-system", Name: "environments"})
	require.Equal(t, "environments-published", object.Name)
	read, err := ReadPublication(object)
	require.NoError(t, err)
	require.Equal(t, written.Faults(), read.Faults())
	require.Equal(t, []string{
		`template set "gateway" cannot be loaded; its last known good version is in use: line 1`,
		"policy cannot be loaded, and no earlier version is in use: line 2",
	}, read.Faults())

	object.Data = nil
	_, err = ReadPublication(object)
	require.Error(t, err)
}

// The publication has the time since which the revision, and each part such as a template set, is unchanged.
func TestPublication_KeepsTimesOfUnchangedParts(t *testing.T) {
	first := metav1.NewTime(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	later := metav1.NewTime(first.Add(time.Hour))
	publication := func(revision string, err error) *Publication {
		return &Publication{Revision: revision, TemplateSets: []PartStatus{NewPartStatus("own", err, true)}, Policy: NewPartStatus("", nil, true), Rollout: NewPartStatus("", nil, true)}
	}
	before := publication("one", nil)
	before.KeepTimes(nil, first)
	for name, test := range map[string]struct {
		now            *Publication
		revision, part metav1.Time
	}{
		"nothing changes":        {publication("one", nil), first, first},
		"the set breaks":         {publication("one", errors.New("line 1")), first, later},
		"the revision changes":   {publication("two", nil), later, first},
		"another set is the own": {&Publication{Revision: "one", TemplateSets: []PartStatus{NewPartStatus("other", nil, true)}}, first, later},
	} {
		t.Run(name, func(t *testing.T) {
			test.now.KeepTimes(before, later)
			require.Equal(t, test.revision, test.now.Since)
			require.Equal(t, test.part, test.now.TemplateSets[0].Since)
		})
	}
}
