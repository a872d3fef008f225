// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// made is a VectorSidecar for the cart, created at this second.
func made(second int64, b *objects.VectorSidecar) *v1alpha1.VectorSidecar {
	vs := b.Build()
	vs.CreationTimestamp = metav1.NewTime(time.Unix(second, 0))
	return vs
}

// named begins a VectorSidecar with a container and ports of its own.
func named(name string, port int32) *objects.VectorSidecar {
	return objects.NewVectorSidecar(name, "shop").Selecting("logs", "vector").Named("vector-" + name).Sidecar(func(s *v1alpha1.SidecarSpec) {
		health := port + 1000
		s.Metrics, s.Health = &v1alpha1.MetricsSpec{Port: &port}, &v1alpha1.HealthSpec{Port: &health}
	})
}

// decideAmong decides for one of several VectorSidecars that select the workload.
func decideAmong(t *testing.T, sidecar *v1alpha1.VectorSidecar, s *Snapshot, others ...*v1alpha1.VectorSidecar) *plan.Plan {
	t.Helper()
	s.Sidecar, s.Others = sidecar, nil
	for _, other := range others {
		if other != sidecar {
			s.Others = append(s.Others, *other)
		}
	}
	decided := decide(t, s)
	remembered := newMemory().decide(t, s)
	require.Equal(t, decided, remembered)
	return &decided.Plans[0]
}

// enters has the workload carry what was planned, beside what it has.
func enters(s *Snapshot, p *plan.Plan) {
	change(s, func(view *workload.View) {
		after := p.Desired.Expect(p.Manager, view)
		owned := after.Owned[p.Manager]
		_, owned.HasPlainAnnotations = annotations(p)[meta.AnnotationInjectedHash]
		owned.Tree, owned.Hash = podMetadata(p), workload.Hash(p.Write.Apply)
		owned.InputHash, owned.AppliedHash = recordOf(p)
		after.Owned[p.Manager] = owned
		*view = after
	})
}

func annotations(p *plan.Plan) map[string]any {
	return p.Write.Apply["metadata"].(map[string]any)["annotations"].(map[string]any)
}

// Two VectorSidecars conflict in a workload. The older one is injected.
func TestPrecedingSidecars_TakePrecedenceOverYoungerOnes(t *testing.T) {
	for name, test := range map[string]struct {
		first, second *v1alpha1.VectorSidecar
		refused       string
	}{
		"side by side":           {made(1, named("z", 9001)), made(2, named("a", 9002)), ""},
		"of one age, by name":    {made(1, named("a", 9001)), made(1, named("b", 9002)), ""},
		"with one port":          {made(1, named("z", 9001)), made(2, named("a", 9001)), `port 9001 of container "vector-a" is already used by container "vector-z"`},
		"with one container":     {made(1, named("z", 9001)), made(2, named("a", 9002).Named("vector-z")), "VectorSidecar z, which is older, injects a container of the same name"},
		"with one volume's name": {made(1, named("z", 9001).WithEmptyDir("own", "/a")), made(2, named("a", 9002).WithEmptyDir("own", "/b")), `the workload already has a volume "own"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, test.first, cart())
			p := decideAmong(t, test.second, s, test.first, test.second)
			if test.refused != "" {
				require.False(t, p.HasChange(plan.Inject))
				require.Contains(t, p.Message(), test.refused)
			} else {
				require.Equal(t, plan.Inject, p.Change, p.Message())
				require.Contains(t, annotations(p), meta.AnnotationKeyFor(meta.AnnotationInjectedHash, test.second.Name))
				require.NotContains(t, annotations(p), meta.AnnotationInjectedHash)
				// It is the first to write.
				enters(s, p)
				require.Equal(t, plan.None, decideAmong(t, test.second, s, test.first, test.second).Change, "it waits for no turn, and takes none")
			}
			p = decideAmong(t, test.first, s, test.first, test.second)
			require.Equal(t, plan.Inject, p.Change, p.Message())
			require.Contains(t, annotations(p), meta.AnnotationInjectedHash)
			enters(s, p)
			require.Equal(t, plan.None, decideAmong(t, test.first, s, test.first, test.second).Change)
			p = decideAmong(t, test.second, s, test.first, test.second)
			require.Equal(t, test.refused == "", p.HasChange(plan.None), "%s: %s", p.Change, p.Message())
		})
	}
}

// A restored backup may create VectorSidecars in another order. The sidecar that is already injected stays.
func TestPrecedingSidecars_KeepInjectedSidecarOfYounger(t *testing.T) {
	for name, test := range map[string]struct {
		first, second *objects.VectorSidecar
		then          plan.Change
	}{
		"side by side":       {named("z", 9001), named("a", 9002), plan.None},
		"with one container": {named("z", 9001), named("a", 9002).Named("vector-z"), plan.ActionConflict},
		"with one port":      {named("z", 9001), named("a", 9001), plan.ActionBlocked},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := made(1, test.first), made(2, test.second)
			s := snapshot(t, first, cart())
			enters(s, decideAmong(t, first, s, first, second))
			if p := decideAmong(t, second, s, first, second); p.Writes() {
				enters(s, p)
			}

			first, second = made(9, test.first), made(9, test.second)

			require.Equal(t, plan.None, decideAmong(t, first, s, second, first).Change)
			require.EqualValues(t, test.then, decideAmong(t, second, s, second, first).Action())
		})
	}
}

// If a VectorSidecar cannot be injected, it does not block younger ones.
func TestPrecedingSidecars_BlockNoYoungerIfNotInjectable(t *testing.T) {
	for name, precedingSidecar := range map[string]*objects.VectorSidecar{
		"it is disabled":            named("z", 9001).Disabled(),
		"its configuration is bad":  named("z", 9001).WithInlineConfig("sources: {in: {type: nonsense}}\n"),
		"there is no log folder":    named("z", 9001).WithLogs("/var/log/app"),
		"its ConfigMap is missing":  named("z", 9001).WithConfigMap("nowhere", "vector.yaml"),
		"it selects other workload": objects.NewVectorSidecar("z", "shop").Selecting("logs", "other"),
	} {
		t.Run(name, func(t *testing.T) {
			old, young := made(1, precedingSidecar), made(2, named("a", 9001))
			p := decideAmong(t, young, snapshot(t, young, cart()), old, young)
			require.Equal(t, plan.Inject, p.Change, p.Message())
			require.Contains(t, annotations(p), meta.AnnotationInjectedHash)
		})
	}
}

// A third VectorSidecar depends on the result of the second one, which depends on the first one. Each is evaluated only
// once.
func TestAddPreceding_ConsidersAllPrecedingVectorSidecars(t *testing.T) {
	first, second, third := made(1, named("a", 9001)), made(2, named("b", 9001)), made(3, named("c", 9003).Named("vector-b"))
	s := snapshot(t, third, cart())
	require.Equal(t, plan.ActionBlocked, decideAmong(t, second, s, first, second, third).Action())
	p := decideAmong(t, third, s, first, second, third)
	require.Equal(t, plan.ActionConflict, p.Action(), "a name is kept for whoever is older")

	var all []*v1alpha1.VectorSidecar
	for i := range int32(12) {
		all = append(all, made(int64(i), named(fmt.Sprintf("n%02d", i), 9100+i)))
	}
	last := decideAmong(t, all[11], s, all...)
	require.Equal(t, plan.Inject, last.Change, last.Message())
}
