// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// A wave is in progress while the metric of the alert counts members in progress. The time is that from which it has
// counted some without a gap.
func TestProgressingSince_AgreesWithMetric(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	at := func(hoursAgo float64) *metav1.Time {
		return &metav1.Time{Time: now.Add(-time.Duration(hoursAgo * float64(time.Hour)))}
	}
	in := func(wave string, started, finished *metav1.Time) *v1alpha1.RolloutStatus {
		return &v1alpha1.RolloutStatus{Wave: wave, Revision: "two", State: v1alpha1.RolloutProgressing, StartTime: started, CompletionTime: finished}
	}
	paused := in("canary", at(7), nil)
	paused.State = v1alpha1.RolloutPaused
	other := in("canary", at(9), nil)
	other.Revision = "one"
	for name, test := range map[string]struct {
		members []*v1alpha1.RolloutStatus
		want    map[string]time.Time
	}{
		"none":                {nil, map[string]time.Time{}},
		"one in progress":     {[]*v1alpha1.RolloutStatus{in("canary", at(7), nil)}, map[string]time.Time{"canary": at(7).Time}},
		"finished":            {[]*v1alpha1.RolloutStatus{in("canary", at(7), at(1))}, map[string]time.Time{}},
		"another revision":    {[]*v1alpha1.RolloutStatus{other}, map[string]time.Time{}},
		"paused":              {[]*v1alpha1.RolloutStatus{paused}, map[string]time.Time{"canary": at(7).Time}},
		"the first of two":    {[]*v1alpha1.RolloutStatus{in("canary", at(2), nil), in("canary", at(5), nil)}, map[string]time.Time{"canary": at(5).Time}},
		"one after another":   {[]*v1alpha1.RolloutStatus{in("canary", at(2), nil), in("canary", at(7), at(4)), in("canary", at(4), at(1))}, map[string]time.Time{"canary": at(7).Time}},
		"a gap between two":   {[]*v1alpha1.RolloutStatus{in("canary", at(3), nil), in("canary", at(7), at(4))}, map[string]time.Time{"canary": at(3).Time}},
		"waves by themselves": {[]*v1alpha1.RolloutStatus{in("canary", at(7), nil), in("default", at(1), nil)}, map[string]time.Time{"canary": at(7).Time, "default": at(1).Time}},
		"no workload started": {[]*v1alpha1.RolloutStatus{in("canary", nil, nil)}, map[string]time.Time{"canary": at(8).Time}},
		"no workload started after another wave and its soak": {[]*v1alpha1.RolloutStatus{in("canary", at(8), at(5)), in("default", nil, nil)}, map[string]time.Time{"default": at(4).Time}},
		"nothing to roll out": {[]*v1alpha1.RolloutStatus{in("canary", nil, at(5)), in("canary", at(2), nil)}, map[string]time.Time{"canary": at(2).Time}},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := Parse("rollout", []byte("waves: [{name: canary, environments: [staging], soak: 1h}]"))
			require.NoError(t, err)
			given := &Target{Rules: rules, Revision: "two"}
			require.Equal(t, test.want, ProgressingSince(given, at(8).Time, test.members))

			var statuses []MemberStatus
			for i, is := range test.members {
				statuses = append(statuses, MemberStatus{Name: types.NamespacedName{Namespace: "shop", Name: fmt.Sprint(i)}, Member: WaveMember{Wave: rules.waveIndex(is.Wave)}, Status: is})
			}
			for _, count := range NewWaves(given, statuses, true).Count() {
				_, isInProgress := test.want[count.Wave]
				require.Equal(t, isInProgress, count.Progressing > 0, count.Wave)
			}
		})
	}
}

// If the start of a wave is not recorded, its time is zero.
func TestProgressingSince_IsZeroWithoutRecord(t *testing.T) {
	given := &Target{Revision: "two", Rules: &Rules{}}
	is := &v1alpha1.RolloutStatus{Wave: DefaultWave, Revision: "two"}
	require.Equal(t, map[string]time.Time{DefaultWave: {}}, ProgressingSince(given, time.Time{}, []*v1alpha1.RolloutStatus{is}))
}
