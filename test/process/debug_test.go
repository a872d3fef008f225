// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// At level DEBUG, the operator logs each step of a reconcile, and each skipped workload with the reason.
func TestOperator_LogsReconcileStepsAtDebugLevel(t *testing.T) {
	namespace := world.Namespace(t)
	for _, name := range []string{"one", "two", "three"} {
		labeled(t, name, namespace)
	}
	world.Create(t, objects.NewDeployment("out", namespace).Labeled("logs", "vector").Annotated(meta.AnnotationInject, "false").Build())
	world.Create(t, objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("1").Build())
	p := start(t, harness.Settings{Arguments: []string{"--watch-namespaces=" + namespace, "--log-level=DEBUG"}})
	harness.Eventually(t, "the status", func() bool {
		return slices.ContainsFunc(p.Said(t, "step ended"), func(line map[string]any) bool { return line["step"] == "status" })
	})

	left := map[any]any{}
	for _, line := range p.Said(t, "skipped workload") {
		require.Equal(t, "DEBUG", line["level"])
		require.NotEmpty(t, line["cause"])
		require.NotEmpty(t, line["reconcileID"])
		left[line["workload"]] = line["reason"]
	}
	require.Equal(t, map[any]any{
		"Deployment " + namespace + "/out":   "OptedOut",
		"Deployment " + namespace + "/three": "WaitingForSlot",
		"Deployment " + namespace + "/two":   "WaitingForSlot",
	}, left)
	steps := map[any]bool{}
	for _, line := range p.Said(t, "step ended") {
		require.NotEmpty(t, line["took"])
		steps[line["step"]] = true
	}
	for _, step := range []string{"observe", "plan", "render", "check", "apply", "status", "reconcile"} {
		require.Contains(t, steps, step)
	}
}

// Each request of the operator has a user agent with its name and version, for the API server's audit log and
// metrics.
func TestOperator_SendsVersionedUserAgent(t *testing.T) {
	var mu sync.Mutex
	agents := map[string]bool{}
	note := func(next roundTripper) roundTripper {
		return func(request *http.Request) (*http.Response, error) {
			mu.Lock()
			agents[request.UserAgent()] = true
			mu.Unlock()
			return next(request)
		}
	}
	namespace := world.Namespace(t)
	cart := labeled(t, "cart", namespace)
	sidecar(t, namespace)
	harness.StartProcess(t, program, kubeconfigThrough(t, note), harness.Settings{Arguments: []string{
		"--namespace=" + own, "--leader-elect", "--leader-election-id=" + leaseName(t), "--watch-namespaces=" + namespace,
	}})
	harness.Until(t, world, cart, "the sidecar", isInjected)

	mu.Lock()
	defer mu.Unlock()
	for agent := range agents {
		require.Regexp(t, `^vector-sidecar-operator/\d+\.\d+\.\d+\S* \(\w+/\w+\)(/leader-election)?$`, agent)
	}
}
