// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// tapTime is how long a tap is given; Vector's samples events twice a second.
const tapTime = 15 * time.Second

// openAPI has Vector's API on all addresses, as what was rendered before had.
const openAPI = `
data_dir: /var/lib/vector
api: {enabled: true, address: "0.0.0.0:8686"}
sources:
  logs: {type: file, include: [/var/log/app/*.log]}
sinks:
  out: {type: console, inputs: [logs], encoding: {codec: json}}
`

// A tap cannot read events from outside of the pod. If the API is open, the same tap reads them, which shows that the
// test works.
func testNobodyTaps(t *testing.T) {
	needsVector(t)
	if strings.HasSuffix(vector, ".tar") {
		t.Skip("SKIPPED: it needs Vector as a program: an image archive has none that runs here")
	}
	if err := exec.CommandContext(t.Context(), vector, "tap", "--help").Run(); err != nil {
		t.Skipf("SKIPPED: this Vector was built without vector tap (%v)", err)
	}
	require.Empty(t, tapped(t, injected(t)), "events that whoever reaches the pod reads")

	space := restricted(t)
	app := writer("app", space).Build()
	world.Create(t, app, collecting(space).WithInlineConfig(openAPI).Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.Health = &v1alpha1.HealthSpec{Probe: "Never"}
	}).Build())
	pod := running(t, app, true)
	require.Contains(t, tapped(t, pod), pod.Name)
}

// tapped returns the output of vector tap for a pod's events, from outside of the pod.
func tapped(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), tapTime)
	defer cancel()
	var printed bytes.Buffer
	command := exec.CommandContext(ctx, vector, "tap", "--quiet", "--no-reconnect", "--duration-ms=5000", "--url=http://"+net.JoinHostPort(pod.Status.PodIP, "8686"))
	command.Stdout = &printed
	err := command.Run() // It fails where it is refused.
	t.Logf("vector tap of pod %s: %d bytes of events (%v)", pod.Name, printed.Len(), err)
	return printed.String()
}
