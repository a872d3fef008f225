// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// A write waits until Vector has validated the configuration.
func TestDecide_WaitsForValidationByVector(t *testing.T) {
	for name, test := range map[string]struct {
		waits   bool
		verdict func(string) Verdict
		reason  string
		writes  bool
		invalid bool
		asks    int
		says    string
	}{
		"not asked yet":              {verdict: always(VerdictPending), reason: meta.ReasonValidating, asks: 1, says: "waiting until Vector has checked the configuration in Job vector-validate-1"},
		"valid":                      {verdict: always(VerdictValid), writes: true},
		"invalid":                    {verdict: always(VerdictInvalid), reason: meta.ReasonInvalidConfig, invalid: true, says: "vector validate: its word"},
		"unable":                     {verdict: always(VerdictUnable), writes: true, says: "could not check the configuration: its word"},
		"unable, to wait":            {waits: true, verdict: always(VerdictUnable), reason: meta.ReasonNotValidated, says: "could not check the configuration: its word"},
		"not allowed":                {writes: true, says: "configValidation.job.enabled"},
		"not allowed, and to wait":   {waits: true, reason: meta.ReasonNotValidated, says: "configValidation.job.enabled"},
		"not asked yet, and to wait": {waits: true, verdict: always(VerdictPending), reason: meta.ReasonValidating, asks: 1},
	} {
		t.Run(name, func(t *testing.T) {
			rendered := &desired.Rendered{Validation: &desired.Validation{
				Key: "key", Job: batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "vector-validate-1"}}, WaitsWhenUnable: test.waits,
			}}
			both := []evaluatedWorkload{
				evaluated("basket", plan.Inject, &plan.Desired{}, workload.State{}), evaluated("cart", plan.Inject, &plan.Desired{}, workload.State{}),
			}
			for i := range both {
				both[i].Evaluated.Rendered = rendered
				both[i].Evaluated.Companions = []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "logs-vector-1"}}}
			}
			e := newTestEvaluation(t, inputAt(time.Time{}))
			e.Sidecar.Spec.Rollout = nil // Both have a place.
			e.Verdict = test.verdict

			decided := decideFor(e, both, nil)

			require.Equal(t, test.invalid, decided.Invalid != nil)
			require.Len(t, decided.Validations, test.asks, "one configuration is asked about once")
			for i := range decided.Plans {
				p := &decided.Plans[i]
				require.Equal(t, test.writes, p.Writes(), p.Message())
				if !test.writes {
					require.Equal(t, test.reason, p.Reason())
				}
				require.Contains(t, p.Message()+p.Warning, test.says)
			}
			require.Equal(t, test.writes, len(decided.Missing) == 1, "no pod may see what was not let through")
		})
	}
}
