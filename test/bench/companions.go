// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

const (
	// atRest is the time after the last change until the operator counts as idle, and restFor is the measured time
	// after that.
	atRest, restFor = 20 * time.Second, 20 * time.Second
	// mostAtRest is the goal for the operator's CPU time in restFor.
	mostAtRest = 100 * time.Millisecond
	// readReplicaSets is the key of calls that list ReplicaSets.
	readReplicaSets = "LIST replicasets"
)

// oldCompanions changes the configuration of many VectorSidecars in one namespace, so that each has a companion
// that only an old ReplicaSet uses. Then it makes the controllers delete these ReplicaSets.
func (s sizes) oldCompanions(ctx context.Context, b *bench) (err error) {
	count := s.companions
	namespace, err := b.cluster.namespace(ctx, "companions")
	if err != nil {
		return err
	}
	grouped := func(n int, d *appsv1.Deployment) {
		scaledDown(n, d)
		metav1.SetMetaDataLabel(&d.ObjectMeta, "group", appName(n))
	}
	if err := errors.Join(b.cluster.seed(ctx, namespace, count, grouped), b.rolledOut(ctx, namespace, count)); err != nil {
		return err
	}
	operator, err := b.program.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, operator.stop(), b.empty(ctx, namespace)) }()
	err = each(ctx, count, func(ctx context.Context, n int) error {
		return b.cluster.Client.Create(ctx, objects.NewVectorSidecar(appName(n), namespace).
			Selecting("group", appName(n)).WithInlineConfig(objects.VectorConfig("first")).Build())
	})
	if err == nil {
		err = b.companions(ctx, namespace, count)
	}
	if err == nil {
		_, err = b.cluster.quiet(ctx, 5*time.Second)
	}
	if err != nil {
		return err
	}
	t := table{title: fmt.Sprintf("%d VectorSidecars of one namespace with old companions", count), head: []string{"change", "time", "lists of ReplicaSets", "CPU", fmt.Sprintf("CPU in %s, %s later", restFor, atRest)}}
	reads, rest := 0, time.Duration(0)
	for _, change := range []struct {
		name       string
		companions int
		run        func(context.Context, int) error
	}{
		{"another configuration in each", 2 * count, func(ctx context.Context, n int) error {
			patch := fmt.Appendf(nil, `{"spec": {"sidecar": {"config": {"inline": %q}}}}`, objects.VectorConfig("second"))
			return b.cluster.Client.Patch(ctx, objects.NewVectorSidecar(appName(n), namespace).Build(), client.RawPatch(types.MergePatchType, patch))
		}},
		{"revisionHistoryLimit: 0 in each Deployment", count, func(ctx context.Context, n int) error {
			_, err := b.cluster.set.AppsV1().Deployments(namespace).Patch(ctx, appName(n), types.MergePatchType, []byte(`{"spec": {"revisionHistoryLimit": 0}}`), metav1.PatchOptions{})
			return err
		}},
	} {
		made, resting, err := b.companionsChange(ctx, operator, func(ctx context.Context) error {
			return errors.Join(each(ctx, count, change.run), b.companions(ctx, namespace, change.companions))
		})
		if err != nil {
			return err
		}
		t.add(change.name, rounded(made.wall), made.calls[readReplicaSets], rounded(made.cpu), rounded(resting))
		reads, rest = reads+made.calls[readReplicaSets], max(rest, resting)
	}
	b.tables = append(b.tables, t)
	b.find(finding{fmt.Sprintf("lists of ReplicaSets for %d VectorSidecars with old companions", count), "≤ 1 for each", fmt.Sprint(reads), reads <= count, 0})
	b.find(finding{fmt.Sprintf("processor time in %s when their rollouts have finished", restFor), "≤ " + mostAtRest.String(), rounded(rest), rest <= mostAtRest, 0})
	return nil
}

// companionsChange measures a change: its calls until the operator is idle, and its CPU time afterwards.
func (b *bench) companionsChange(ctx context.Context, operator *process, change func(context.Context) error) (made round, resting time.Duration, err error) {
	before, err := readCalls(ctx, b.cluster.set)
	if err != nil {
		return made, 0, err
	}
	spent, err := harness.CPU(operator.pid())
	if err != nil {
		return made, 0, err
	}
	began := time.Now()
	if err := change(ctx); err != nil {
		return made, 0, err
	}
	made.wall = time.Since(began)
	if err := pause(ctx, atRest); err != nil {
		return made, 0, err
	}
	used, err := harness.CPU(operator.pid())
	if err != nil {
		return made, 0, err
	}
	if err := pause(ctx, restFor); err != nil {
		return made, 0, err
	}
	rested, err := harness.CPU(operator.pid())
	if err != nil {
		return made, 0, err
	}
	after, err := readCalls(ctx, b.cluster.set)
	made.calls, made.cpu = after.since(before), used-spent
	return made, rested - used, err
}

// companions waits until a namespace has count companions, and all of its VectorSidecars are up to date.
func (b *bench) companions(ctx context.Context, namespace string, count int) error {
	return until(ctx, fmt.Sprintf("%d companions", count), func() (bool, error) {
		if err := pause(ctx, 500*time.Millisecond); err != nil {
			return false, err
		}
		made, err := b.cluster.set.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{LabelSelector: meta.LabelSidecar})
		if err != nil || len(made.Items) != count {
			return false, err
		}
		var sidecars v1alpha1.VectorSidecarList
		err = b.cluster.Client.List(ctx, &sidecars, client.InNamespace(namespace))
		return !slices.ContainsFunc(sidecars.Items, func(sidecar v1alpha1.VectorSidecar) bool {
			return !isReady(&sidecar) || sidecar.Status.ObservedGeneration != sidecar.Generation || sidecar.Status.InjectedDeployments != 1
		}), err
	})
}
