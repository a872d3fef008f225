// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// The first line of rollout status lists each reason for which the rollout does not continue.
func TestRollout_StatusStartsWithBlockingReasons(t *testing.T) {
	stop := func(value string) func(*publishedFleet) {
		return func(f *publishedFleet) { f.values.Annotations = map[string]string{meta.AnnotationStopWrites: value} }
	}
	breakSet := func(f *publishedFleet) { f.set.Data["templates__pod.yaml"] = brokenTemplate }
	breakPolicy := func(f *publishedFleet) { f.values.Data[desired.PolicyKey] = "imagess: {}" }
	isHalted := func(is *v1alpha1.RolloutStatus) {
		is.State, is.FailedRevision, is.FailedWorkloads, is.CompletionTime = v1alpha1.RolloutHalted, is.Revision, 2, nil
	}
	isStuck := func(is *v1alpha1.RolloutStatus) {
		is.State, is.StartTime, is.CompletionTime = v1alpha1.RolloutProgressing, &metav1.Time{Time: time.Now().Add(-7 * time.Hour)}, nil
	}
	for name, test := range map[string]struct {
		installation func(*publishedFleet)
		status       func(*v1alpha1.RolloutStatus)
		want         string
	}{
		"none":                      {nil, nil, `^$`},
		"writes stopped by pause":   {stop("2026-11-30T08:00:00Z"), nil, `^; all writes except removals are stopped since 2026-11-30T08:00:00Z$`},
		"writes stopped by another": {stop("true"), nil, `^; all writes except removals are stopped since an unknown time$`},
		"writes not stopped":        {stop("false"), nil, `^$`},
		"the revision is halted":    {nil, isHalted, `^; revision \w+ halted: 2 workloads failed$`},
		"a wave is stuck":           {nil, isStuck, `^; waves stuck: wave default in progress since \S+ \(unfinished: shop/logs\)$`},
		"a template set is broken":  {breakSet, nil, `^; template set "own" broken$`},
		"the policy is broken":      {breakPolicy, nil, `^; policy broken$`},
		"all of them": {
			func(f *publishedFleet) { stop("true")(f); breakSet(f); breakPolicy(f) }, isHalted,
			`^; all writes except removals are stopped since an unknown time; revision \w+ halted: 2 workloads failed; (template set "own" broken; policy broken|policy broken; template set "own" broken)$`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newPublishedFleet(t, func(f *publishedFleet) {
				if test.installation != nil {
					test.installation(f)
				}
			})
			fleet := f.cluster(t, nil)
			for _, object := range fleet.objects {
				if vs, ok := object.(*v1alpha1.VectorSidecar); ok && test.status != nil {
					test.status(vs.Status.Rollout)
				}
			}
			out, notes, code := fleet.runOutside(t, "rollout", "status")
			require.Zero(t, code, notes)
			first, _, _ := strings.Cut(out, "\n")
			problems, ok := strings.CutPrefix(first, "revision "+f.platform.Revision)
			require.True(t, ok, first)
			require.Regexp(t, test.want, problems)
		})
	}
}
