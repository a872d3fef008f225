// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// vectorSidecars and clusterVectorSidecars are the names by which kubectl knows the kinds.
var (
	vectorSidecars        = []string{"vectorsidecar", "vectorsidecars", "vs"}
	clusterVectorSidecars = []string{"clustervectorsidecar", "clustervectorsidecars"}
)

// isKind reports whether a word is one of a kind's names, with its group or without.
func isKind(word string, names []string) bool {
	return slices.Contains(names, strings.TrimSuffix(strings.ToLower(word), "."+v1alpha1.GroupVersion.Group))
}

// sidecarName returns the name in vectorsidecar/NAME, or clustervectorsidecar/NAME as it is. isOne is
// false for all else.
func sidecarName(argument string) (name string, isOne bool) {
	kind, name, isPair := strings.Cut(argument, "/")
	switch {
	case isPair && isKind(kind, vectorSidecars):
		return name, true
	case isPair && isKind(kind, clusterVectorSidecars):
		return meta.InNamespace(name), true
	}
	return "", false
}

// rolloutTarget is a VectorSidecar or a ClusterVectorSidecar that a command about rollouts changes.
type rolloutTarget struct {
	object client.Object
	// name is that of the object, for a ClusterVectorSidecar as within a namespace.
	name string
	spec *v1alpha1.VectorSidecarSpec
	// title names it in messages, and argument as on a command line.
	title, argument string
	// deferred is what waits in it for its spec.rollout.mode, nil if nothing does. isObserved is true if
	// that is of its present spec.
	deferred   *v1alpha1.DeferredStatus
	isObserved bool
	// canaries are the changes that wait because no canary has pods.
	canaries []string
}

// sidecar reads the VectorSidecar of a name, or the ClusterVectorSidecar of clustervectorsidecar/NAME.
func (o *rolloutOptions) sidecar(ctx context.Context, cluster client.Client, name string) (*rolloutTarget, error) {
	if argument, isOne := sidecarName(name); isOne {
		name = argument
	}
	if ofCluster, isCluster := meta.ClusterOf(name); isCluster {
		found := &v1alpha1.ClusterVectorSidecar{}
		if err := cluster.Get(ctx, types.NamespacedName{Name: ofCluster}, found); err != nil {
			return nil, fmt.Errorf("reading %s: %w", meta.Title(name), err)
		}
		return &rolloutTarget{
			object: found, name: name, spec: &found.Spec.VectorSidecarSpec, title: meta.Title(name), argument: name,
			isObserved: found.Status.ObservedGeneration == found.Generation, canaries: found.Status.CanariesWithoutPods,
		}, nil
	}
	namespace, err := o.app.current()
	if err != nil {
		return nil, err
	}
	found := &v1alpha1.VectorSidecar{}
	if err := cluster.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, found); err != nil {
		return nil, fmt.Errorf("reading VectorSidecar %s/%s: %w", namespace, name, err)
	}
	one := &rolloutTarget{
		object: found, name: name, spec: &found.Spec, title: meta.TitleIn(namespace, name), argument: "vectorsidecar/" + name,
		isObserved: found.Status.ObservedGeneration == found.Generation,
	}
	if is := found.Status.Rollout; is == nil || is.State != v1alpha1.RolloutWaiting { // It waits for its wave first.
		one.deferred = found.Status.Deferred
		if canary := found.Status.Canary; canary != nil && canary.State == v1alpha1.CanaryWithoutPods && canary.Change != "" {
			one.canaries = []string{canary.Change}
		}
	}
	return one, nil
}

// setOn sets or removes annotations. The first one has the effect.
func (o *rolloutOptions) setOn(ctx context.Context, cluster client.Client, on *rolloutTarget, changes ...annotation) error {
	return o.patch(ctx, cluster, on.object, on.title, on.argument, changes)
}

// inWave is how far a VectorSidecar is, or a ClusterVectorSidecar in the namespaces of a wave.
type inWave struct {
	name     string
	is       *v1alpha1.RolloutStatus
	deferred int32
}

// inWaves lists them. reverted are those that have gone back from a spec of their own, with what that was.
// Where ClusterVectorSidecars may not be read, a note says so.
func (o *rolloutOptions) inWaves(ctx context.Context, cluster client.Reader) (all []inWave, reverted []string, err error) {
	live := livelist.New(cluster)
	note := func(to *[]string, name, text string) {
		if text != "" {
			*to = append(*to, fmt.Sprintf("%s: %s: %s", name, v1alpha1.RolloutReverted, text))
		}
	}
	type sidecarWave struct {
		inWave

		lastGood string
	}
	sidecars, err := livelist.Collect(ctx, live, &v1alpha1.VectorSidecarList{}, func(sidecar *v1alpha1.VectorSidecar) (sidecarWave, bool) {
		wave := sidecarWave{inWave{name: sidecar.Namespace + "/" + sidecar.Name, is: sidecar.Status.Rollout}, lastgood.TextOf(sidecar)}
		if later := sidecar.Status.Deferred; later != nil {
			wave.deferred = later.Workloads
		}
		return wave, true
	})
	if err != nil {
		return nil, nil, explainMissing(err)
	}
	for i := range sidecars {
		note(&reverted, sidecars[i].name, sidecars[i].lastGood)
		all = append(all, sidecars[i].inWave)
	}
	var wide []string // They are for many, and come first.
	clusters, err := livelist.Collect(ctx, live, &v1alpha1.ClusterVectorSidecarList{}, func(cluster *v1alpha1.ClusterVectorSidecar) (v1alpha1.ClusterVectorSidecar, bool) {
		return *cluster, true
	})
	switch {
	case apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err): // There is no such kind, so there are none.
	case apierrors.IsForbidden(err):
		o.app.note("ClusterVectorSidecars are not counted: " + err.Error())
	case err != nil:
		return nil, nil, fmt.Errorf("listing ClusterVectorSidecars: %w", err)
	}
	for i := range clusters {
		of := clusterwide.In(&clusters[i], "", true)
		note(&wide, of.Name, lastgood.TextOf(of))
		for n := range clusters[i].Status.Waves {
			all = append(all, inWave{name: meta.InNamespace(clusters[i].Name), is: &clusters[i].Status.Waves[n]})
		}
	}
	return all, append(wide, reverted...), nil
}
