// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// slow takes more than half a second of CPU time for the maximum number of steps of a template. Of all template
// functions, a regular expression takes the longest per step. Many of these VectorSidecars are not checked yet when
// the first one has a status.
const slow = `{{- $a := repeat 3000 "aaaaaaaaaaaaaaa" }}{{ range until 2000 }}{{ $is := regexMatch "(a|aa)b" $a }}{{ end }}`

// When the operator is stopped, it cancels computations in progress and starts no queued ones.
func TestOperator_CancelsComputationAtStop(t *testing.T) {
	unlessAsked(t)
	namespaces := make([]string, 40)
	for i := range namespaces {
		namespaces[i] = world.Namespace(t)
		(&bomb{text: slow, carrier: inSet("podtemplate.yaml")}).plant(t, namespaces[i])
	}
	unjudged := func(ctx context.Context) int {
		count := 0
		for _, namespace := range namespaces {
			if reportedSidecar(ctx, namespace) == nil {
				count++
			}
		}
		return count
	}
	o := start(t, "--webhook-shutdown-delay=0s")
	require.True(t, o.until(t.Context(), harness.Patience, func(ctx context.Context) bool { return unjudged(ctx) < len(namespaces) }), "none is judged")
	before, err := harness.CPU(o.Pid())
	require.NoError(t, err)

	o.Signal(t, syscall.SIGTERM)
	select {
	case <-o.Ended():
	case <-time.After(harness.Patience):
		require.FailNow(t, "it goes on after the signal to stop")
	}

	require.Zero(t, o.ExitCode())
	require.Positive(t, unjudged(t.Context()), "it was not stopped in the middle")
	// Each worker finishes only its current template function. All waiting computations would take several times
	// the CPU time used before.
	require.Less(t, o.Used()-before, before/3, "processor time after the signal, compared with that before it")
}
