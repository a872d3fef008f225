// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

const (
	drainGate = sidecar + "-drain-gate"
	// mostMemory is what a gate may have resident, in KiB.
	mostMemory = 10 << 10
)

// gated asks for a gate.
func gated() *v1alpha1.ShutdownSpec {
	return &v1alpha1.ShutdownSpec{Method: "Gate", Gate: &v1alpha1.DrainGateSpec{Resources: example.Requests("1m", "8Mi")}}
}

// testDrains measures the pod termination of applications that end at once.
func testDrains(t *testing.T) {
	needsVector(t)
	for _, test := range []struct {
		name string
		args []string
		// quiet is how long the application has not written when it ends.
		quiet time.Duration
	}{
		{"busy", nil, 0},
		{"quiet", []string{"--busy=2s"}, 15 * time.Second},
		{"quiet, without last words", []string{"--busy=2s", "--last=0"}, 15 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, method := range []string{"Sleep", "Gate"} {
				t.Run(method, func(t *testing.T) {
					t.Parallel()
					testDrain(t, method, test.quiet, test.args...)
				})
			}
		})
	}
}

// testDrain prints the duration of pod terminations with a method, after the application was quiet.
func testDrain(t *testing.T, method string, quiet time.Duration, args ...string) {
	t.Helper()
	space := restricted(t)
	app := writer("app", space, args...).WithReplicas(samples).Build()
	world.Create(t, app, collecting(space).Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.Resources = example.Requests("1m", "8Mi")
		if method == "Gate" {
			s.Shutdown = gated()
		}
	}).Build())
	pods := listPods(t, app)
	pass(t.Context(), 5*time.Second+quiet)
	took, memory := endAll(t, pods)
	t.Logf("of %d pods, each is gone after %s", len(took), seconds(took))
	if method == "Gate" {
		t.Logf("the gate has had %d KiB at most", memory)
		require.Positive(t, memory)
		require.Less(t, memory, mostMemory)
	}
}

// apart are the ends of these pods in the twelve seconds from one look of Vector's at a quiet file
// to the next: all of them began together.
const apart = 12 * time.Second / samples

// endAll deletes pods one after the other, and returns what the end of each took, and the most memory in KiB that
// a gate of theirs has had resident.
func endAll(t *testing.T, pods []corev1.Pod) (took []time.Duration, memory int) {
	t.Helper()
	var gates []int
	for i := range pods {
		if status := statusOf(&pods[i], drainGate); status != nil {
			gates = append(gates, processOf(t, status.ContainerID))
		}
	}
	began, deleted := time.Now(), make([]time.Time, len(pods))
	isGone := map[string]bool{}
	eventually(t, "all pods to be gone", func() bool {
		for _, gate := range gates {
			memory = max(memory, resident(gate))
		}
		for i := range pods {
			key := client.ObjectKeyFromObject(&pods[i])
			switch {
			case isGone[key.Name]:
			case !deleted[i].IsZero() && apierrors.IsNotFound(cluster.Get(t.Context(), key, &corev1.Pod{})):
				isGone[key.Name] = true
				took = append(took, time.Since(deleted[i]))
			case deleted[i].IsZero() && time.Since(began) >= time.Duration(i)*apart:
				require.NoError(t, cluster.Delete(t.Context(), &pods[i]))
				deleted[i] = time.Now()
			}
		}
		return len(took) == len(pods)
	})
	return took, memory
}

var highest = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// resident is the most memory in KiB that a process has had resident, 0 if it is gone.
func resident(process int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", process)) // It may have ended.
	found := highest.FindSubmatch(text)
	if found == nil {
		return 0
	}
	kib, _ := strconv.Atoi(string(found[1])) // It is a number.
	return kib
}
