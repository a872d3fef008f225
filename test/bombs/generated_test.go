// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// allowing sets a policy that allows namespaces and workloads to set the values of bombs.
func allowing(t *testing.T) string {
	t.Helper()
	installation := objects.NewConfigMap("bombs", own, desired.PolicyKey, "overrides: {namespaces: [values], workloads: [values]}")
	world.SetValues(t, installation)
	return "--environments-configmap=" + installation.Name
}

// try creates a bomb, and returns false if the API server rejects it.
func (b *bomb) try(t *testing.T, namespace string) bool {
	t.Helper()
	for _, object := range b.carrier(namespace, b.text) {
		err := world.Client.Create(t.Context(), object)
		if err != nil {
			require.True(t, apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.ReasonForError(err) == "", "%s: %v", b.name, err)
			return false
		}
		t.Cleanup(func() {
			require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), object)))
		})
	}
	return true
}

// meet makes an operator check a bomb, and limits its cost beyond the operator at rest, whose heap has no garbage
// of the previous bomb.
func (o *running) meet(t *testing.T, b *bomb, profiles string) (isTaken bool) {
	t.Helper()
	living(t, profiles)
	rest, err := harness.Memory(o.Pid(), "VmRSS")
	require.NoError(t, err)
	require.NoError(t, harness.ForgetMost(o.Pid()))
	before, err := harness.CPU(o.Pid())
	require.NoError(t, err)
	namespace := world.Namespace(t)
	if !b.try(t, namespace) {
		return false
	}
	isJudged := o.until(t.Context(), tooLong, func(ctx context.Context) bool { return reportedSidecar(ctx, namespace) != nil })
	require.True(t, o.lives(), "killed by %s, %d bytes", b.name, len(b.text))
	require.True(t, isJudged, "not judged within %s: %s, %d bytes", tooLong, b.name, len(b.text))
	most, err := harness.Memory(o.Pid(), "VmHWM")
	require.NoError(t, err)
	used, err := harness.CPU(o.Pid())
	require.NoError(t, err)
	if most-rest > mostMemory || used-before > mostCPU {
		t.Errorf("%s, %d bytes, costs %d MiB and %s", b.name, len(b.text), (most-rest)>>20, used-before)
	}
	return true
}

// Generated inputs grow when they are parsed or rendered. Each is rejected, or needs little memory and CPU time.
func TestLimits_LimitCostOfGeneratedInput(t *testing.T) {
	unlessAsked(t)
	count := 300
	if !*full {
		count = 30
	}
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("with -seed %d", *seed)
	profiles := freeport.ForTest(t)
	o := start(t, allowing(t), "--pprof-bind-address="+profiles)
	require.True(t, o.until(t.Context(), harness.Patience, o.isReady), "it does not start")
	o.warm(t)
	g := generator{rand.New(rand.NewPCG(*seed, 0))}
	taken := 0
	for n := range count {
		b := g.bomb()
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if o.meet(t, &b, profiles) {
				taken++
			}
		})
		if !o.lives() {
			break
		}
	}
	require.True(t, o.rest(t, tooLong), "it goes on computing")
	t.Logf("%d of %d bombs were taken by the API server", taken, count)
	require.Greater(t, taken, count/2)
}
