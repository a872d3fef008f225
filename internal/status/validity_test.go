// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/test/hostile"
)

func TestNewSidecarStatus_ReportsConfigFindings(t *testing.T) {
	warning := vectorconfig.Finding{Code: "VSC215", Level: vectorconfig.Warning, Source: "vector.yaml", Line: 3, Column: 5, Message: "nothing takes it"}
	failure := vectorconfig.Finding{Code: "VSC211", Level: vectorconfig.Error, Message: "there is no source"}
	for name, test := range map[string]struct {
		findings []vectorconfig.Finding
		valid    string
		ready    string
	}{
		"nothing":                  {valid: "produce a sidecar"},
		"a warning":                {findings: []vectorconfig.Finding{warning}, valid: "; warning (1): vector.yaml:3:5: nothing takes it (VSC215)", ready: "findings in the Vector configuration: 1"},
		"an accepted error":        {findings: []vectorconfig.Finding{failure, warning}, valid: "; accepted error (1): there is no source (VSC211); warning (1): ", ready: "findings in the Vector configuration: 2"},
		"more than a person reads": {findings: []vectorconfig.Finding{warning, warning, warning, warning, warning}, valid: "and 2 more", ready: "configuration: 5"},
	} {
		t.Run(name, func(t *testing.T) {
			status := NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: &decision.Decision{
				Findings: test.findings, Matched: 1, Plans: []plan.Plan{planned("cart", plan.None)},
			}}, noon)

			valid := apimeta.FindStatusCondition(status.Conditions, meta.ConditionConfigValid)
			ready := apimeta.FindStatusCondition(status.Conditions, meta.ConditionReady)
			require.Equal(t, "True", string(valid.Status))
			require.Equal(t, "True", string(ready.Status), "a warning stops nothing")
			require.Contains(t, valid.Message, test.valid)
			require.Contains(t, ready.Message, test.ready)
			require.Equal(t, len(test.findings) > 0, strings.Contains(ready.Message, "findings"))
		})
	}
}

// Text of other programs in a status is escaped.
func TestNewSidecarStatus_EscapesControlCharacters(t *testing.T) {
	for why, text := range hostile.Texts() {
		rejected := planned("cart", plan.Inject)
		facts := Facts{
			Sidecar: sidecar(), Results: decision.Results{{Object: WorkloadTitle(rejected.Target), Reason: meta.ReasonBlocked, Err: errors.New(text), IsPermanent: true}},
			Decision: &decision.Decision{Matched: 1, Plans: []plan.Plan{rejected}, Common: desired.Common{Outdated: &desired.Invalid{Reason: meta.ReasonInvalidTemplate, Message: text}}},
		}
		status := NewSidecarStatus(facts, noon)
		for _, condition := range status.Conditions {
			hostile.RequireHarmless(t, condition.Message, why+", "+condition.Type)
		}
		require.Len(t, status.Workloads, 1)
		hostile.RequireHarmless(t, status.Workloads[0].Message, why)
	}
}
