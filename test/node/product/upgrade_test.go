// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/node"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

const (
	// before is the folder in bin of the release before: its program, chart and values.
	before = "before"
	// fleetSize is how many applications go through a release's life, half of each kind.
	fleetSize = 20
)

// fleet are applications of two VectorSidecars, of which one is changed after the upgrade.
type fleet struct {
	*collector

	space         string
	kept, changed *v1alpha1.VectorSidecar
	members       []*member
}

// member is an application, and what it was before and is now.
type member struct {
	*appsv1.Deployment

	original  string
	isChanged bool
	// pod is the name of the one that runs.
	pod string
}

// newFleet makes applications without pods, and a VectorSidecar for each half of them.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{collector: newCollector(t), space: restricted(t)}
	asked := func(name string) *v1alpha1.VectorSidecar {
		return example.NewVectorSidecar(name, f.space).Selecting("logs", name).WithLogs(logs).WithImage(node.Vector).WithMaxConcurrent("100%").
			Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.ImagePullPolicy, s.Resources = corev1.PullNever, example.Requests("1m", "8Mi")
				s.Sinks = map[string]apiextensionsv1.JSON{"collector": {Raw: fmt.Appendf(nil, `{"type": "http", "uri": "http://%s/lines"}`, f.lines)}}
			}).Build()
	}
	f.kept, f.changed = asked("kept"), asked("changed")
	for i := range fleetSize {
		one := &member{isChanged: i%2 == 1}
		by := f.kept.Name
		if one.isChanged {
			by = f.changed.Name
		}
		one.Deployment = writer(fmt.Sprintf("app-%d", i), f.space, "--rate=20", "--collector=http://"+f.wrote).Labeled("logs", by).WithReplicas(0).Build()
		world.Create(t, one.Deployment)
		one.original = templateOf(t, one.Deployment)
		f.members = append(f.members, one)
	}
	return f
}

// inject asks for the sidecars, and starts the applications' pods when they have them.
func (f *fleet) inject(t *testing.T) {
	t.Helper()
	began := time.Now()
	world.Create(t, f.kept, f.changed)
	for _, one := range f.members {
		eventually(t, one.Name+" to be injected", func() bool {
			require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(one.Deployment), one.Deployment))
			return templateOf(t, one.Deployment) != one.original
		})
		scale(t, one.Deployment, 1)
	}
	for _, one := range f.members {
		one.pod = running(t, one.Deployment, true).Name
	}
	took(t, fmt.Sprintf("until %d applications run with their sidecars", len(f.members)), began)
}

// requireRolled requires that the pods of the selected members are replaced, and that the pods of all others are the
// same as before.
func (f *fleet) requireRolled(t *testing.T, why string, isSaid func(*member) bool) {
	t.Helper()
	began := time.Now()
	for _, one := range f.members {
		if !isSaid(one) {
			continue
		}
		eventually(t, why+" to roll "+one.Name, func() bool {
			pods := podsOf(t, one.Name, f.space)
			return len(pods) == 1 && pods[0].Name != one.pod && isReady(&pods[0])
		})
		one.pod = running(t, one.Deployment, true).Name
	}
	for _, one := range f.members {
		require.Equal(t, one.pod, running(t, one.Deployment, true).Name, "%s: %s", why, one.Name)
	}
	took(t, "until all that "+why+" rolls has rolled, and the others are as they were", began)
}

// settled waits until the VectorSidecars' status says that all is as it was asked for.
func (f *fleet) settled(t *testing.T) {
	t.Helper()
	for _, asked := range []*v1alpha1.VectorSidecar{f.kept, f.changed} {
		eventually(t, asked.Name+" to have looked at all applications", func() bool {
			require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(asked), asked))
			return asked.Status.ObservedGeneration == asked.Generation && int(asked.Status.InjectedDeployments) == fleetSize/2
		})
	}
}

func templateOf(t *testing.T, app *appsv1.Deployment) string {
	t.Helper()
	text, err := json.Marshal(app.Spec.Template)
	require.NoError(t, err)
	return string(text)
}

// releaseBefore imports the operator of the previous release, and returns the directory of its chart and values.
func releaseBefore(t *testing.T) string {
	t.Helper()
	program, err := machine.Bin(before + "/operator")
	if err != nil {
		t.Skip("SKIPPED: the release before is not in bin/before: run \"make release-before\", in a clone that has its commit")
	}
	image, err := node.FromFiles([]string{"/operator"}, map[string]string{"/operator": program})
	require.NoError(t, err)
	require.NoError(t, machine.Import(t.Context(), operatorBefore, image))
	return filepath.Dir(program)
}

// The chart is upgraded from the previous release, a sidecar is changed, and the chart is rolled back and uninstalled.
// No line of an application is lost, and only the changed workload rolls.
func TestProduct_UpgradesAndRollsBackWithoutLoss(t *testing.T) {
	folder := releaseBefore(t)
	f := newFleet(t)
	none := func(*member) bool { return false }
	isChanged := func(one *member) bool { return one.isChanged }
	t.Run("while it is installed", func(t *testing.T) {
		install(t, chartOf(folder, "image.registry=node.test,image.repository=operator,image.tag=before"))
		f.inject(t)
		f.settled(t)

		began := time.Now()
		run(t, "helm", append([]string{"upgrade"}, chart(webhook)...)...)
		took(t, "helm upgrade --wait from the release before, to the webhook", began)
		broken := example.NewVectorSidecar("broken", f.space).Selecting("logs", "none").WithInlineConfig("sources: [").Build()
		eventually(t, "the API server to ask the operator", func() bool { return cluster.Create(t.Context(), broken.DeepCopy(), client.DryRunAll) != nil })
		eventually(t, "the change to be let through", func() bool { // An operator that has just begun refuses it.
			return cluster.Patch(t.Context(), f.changed, client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"sidecar": {"logLevel": "warn"}}}`))) == nil
		})
		f.settled(t)
		f.requireRolled(t, "the change", isChanged)

		began = time.Now()
		run(t, "helm", "rollback", release, "1", "--namespace="+namespace, "--wait", "--timeout=4m")
		took(t, "helm rollback --wait", began)
		f.requireRolled(t, "the rollback", none)
		f.settled(t)
		f.requireRolled(t, "the release before", none)
	})
	for _, one := range f.members {
		f.forget(running(t, one.Deployment, false).Name) // Nobody reads its lines.
		require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(one.Deployment), one.Deployment))
		require.JSONEq(t, one.original, templateOf(t, one.Deployment))
	}
	eventually(t, "all other pods to be gone", func() bool {
		var pods corev1.PodList
		require.NoError(t, cluster.List(t.Context(), &pods, client.InNamespace(f.space)))
		return len(pods.Items) == fleetSize
	})
	sum, silent := f.count()
	t.Log(f.missing())
	require.Empty(t, silent)
	require.NotZero(t, sum.Wrote)
	require.Zero(t, sum.Lost)
	t.Logf("of %d lines %d are lost, and %d came twice", sum.Wrote, sum.Lost, sum.Twice)
}
