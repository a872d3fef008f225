// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// The operator knows each object that its release requires, and reports each one that is deleted, or that the chart
// does not render for the Kubernetes version.
func TestRequiredObjects_AreReportedIfMissing(t *testing.T) {
	args := []string{"--set", "watchNamespaces={shop},admissionInjection.enabled=true,preflight.enabled=true,monitoring.enabled=false"}
	i := installed(t, chartDir, args...)
	reports := func() (lines []string) {
		for line := range strings.Lines(i.pods.Log()) {
			if strings.Contains(line, "required object") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	injected(t)
	require.Empty(t, reports())

	kubectl(t, "delete", "validatingadmissionpolicybinding", namespace+"."+fullname+".vectorsidecars")
	kubectl(t, "delete", "mutatingadmissionpolicy", namespace+"."+fullname+".deployments")
	i.restarted(t)
	harness.Eventually(t, "the report of both objects", func() bool { return len(reports()) == 2 })
	for n, object := range []string{"MutatingAdmissionPolicy " + namespace + "." + fullname + ".deployments", "ValidatingAdmissionPolicyBinding " + namespace + "." + fullname + ".vectorsidecars"} {
		require.Contains(t, reports()[n], `"required object is missing"`)
		require.Contains(t, reports()[n], `"object":"`+object+`"`)
	}
}
