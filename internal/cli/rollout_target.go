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

// vectorSidecars and clusterVectorSidecars are the names of the kinds in kubectl.
var (
	vectorSidecars        = []string{"vectorsidecar", "vectorsidecars", "vs"}
	clusterVectorSidecars = []string{"clustervectorsidecar", "clustervectorsidecars"}
)

// isKind reports whether a word is a name of a kind, with or without its group.
func isKind(word string, names []string) bool {
	return slices.Contains(names, strings.TrimSuffix(strings.ToLower(word), "."+v1alpha1.GroupVersion.Group))
}

// parseSidecarName returns the name of a VectorSidecar in the argument vectorsidecar/NAME. It returns
// clustervectorsidecar/NAME unchanged. isSidecar is false for other arguments.
func parseSidecarName(argument string) (name string, isSidecar bool) {
	kind, name, isPair := strings.Cut(argument, "/")
	switch {
	case isPair && isKind(kind, vectorSidecars):
		return name, true
	case isPair && isKind(kind, clusterVectorSidecars):
		return meta.ClusterSidecarName(name), true
	}
	return "", false
}

// rolloutTarget is a VectorSidecar or a ClusterVectorSidecar that a rollout command changes.
type rolloutTarget struct {
	object client.Object
	// name is the name of the object. For a ClusterVectorSidecar, it is the name that its VectorSidecars have within a
	// namespace.
	name string
	spec *v1alpha1.VectorSidecarSpec
	// title is the name in messages.
	title string
	// deferred is the change that waits for spec.rollout.mode, or nil if no change waits. isObserved is true if the
	// status is for the current spec.
	deferred   *v1alpha1.DeferredStatus
	isObserved bool
	// canaries are the changes that wait because no canary has pods.
	canaries []string
}

// findTarget reads the VectorSidecar with a name, or the ClusterVectorSidecar of clustervectorsidecar/NAME.
func (o *rolloutOptions) findTarget(ctx context.Context, cluster client.Client, name string) (*rolloutTarget, error) {
	if argument, isSidecar := parseSidecarName(name); isSidecar {
		name = argument
	}
	if ofCluster, isCluster := meta.ParseClusterName(name); isCluster {
		object := &v1alpha1.ClusterVectorSidecar{}
		if err := cluster.Get(ctx, types.NamespacedName{Name: ofCluster}, object); err != nil {
			return nil, fmt.Errorf("reading %s: %w", meta.Title(name), err)
		}
		return &rolloutTarget{
			object: object, name: name, spec: &object.Spec.VectorSidecarSpec, title: meta.Title(name),
			isObserved: object.Status.ObservedGeneration == object.Generation, canaries: object.Status.CanariesWithoutPods,
		}, nil
	}
	namespace, err := o.app.currentNamespace()
	if err != nil {
		return nil, err
	}
	object := &v1alpha1.VectorSidecar{}
	if err := cluster.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, object); err != nil {
		return nil, fmt.Errorf("reading VectorSidecar %s/%s: %w", namespace, name, err)
	}
	target := &rolloutTarget{
		object: object, name: name, spec: &object.Spec, title: meta.TitleIn(namespace, name),
		isObserved: object.Status.ObservedGeneration == object.Generation,
	}
	if status := object.Status.Rollout; status == nil || status.State != v1alpha1.RolloutWaiting { // A VectorSidecar waits for its wave first.
		target.deferred = object.Status.Deferred
		if canary := object.Status.Canary; canary != nil && canary.State == v1alpha1.CanaryWithoutPods && canary.Change != "" {
			target.canaries = []string{canary.Change}
		}
	}
	return target, nil
}

// annotateTarget sets or removes annotations. The message shows the effect of the first annotation.
func (o *rolloutOptions) annotateTarget(ctx context.Context, cluster client.Client, target *rolloutTarget, changes ...annotation) error {
	return o.patchAnnotations(ctx, cluster, target.object, target.title, meta.Argument(target.name), changes)
}

// waveMember is the progress of a VectorSidecar in its wave, or of a ClusterVectorSidecar in those of its namespaces
// that are in the wave.
type waveMember struct {
	name     string
	status   *v1alpha1.RolloutStatus
	deferred int32
}

// readWaveMembers returns the progress of all VectorSidecars by wave. reverted describes the VectorSidecars that have
// reverted to an earlier spec. It prints a note if ClusterVectorSidecars cannot be read.
func (o *rolloutOptions) readWaveMembers(ctx context.Context, cluster client.Reader) (waveMembers []waveMember, reverted []string, err error) {
	live := livelist.New(cluster)
	note := func(list *[]string, name, text string) {
		if text != "" {
			*list = append(*list, fmt.Sprintf("%s: %s: %s", name, v1alpha1.RolloutReverted, text))
		}
	}
	type sidecarWave struct {
		waveMember

		lastGood string
	}
	sidecars, err := livelist.Collect(ctx, live, &v1alpha1.VectorSidecarList{}, func(sidecar *v1alpha1.VectorSidecar) (sidecarWave, bool) {
		wave := sidecarWave{waveMember{name: sidecar.Namespace + "/" + sidecar.Name, status: sidecar.Status.Rollout}, lastgood.RevertMessage(sidecar)}
		if deferred := sidecar.Status.Deferred; deferred != nil {
			wave.deferred = deferred.Workloads
		}
		return wave, true
	})
	if err != nil {
		return nil, nil, explainMissing(err)
	}
	for i := range sidecars {
		note(&reverted, sidecars[i].name, sidecars[i].lastGood)
		waveMembers = append(waveMembers, sidecars[i].waveMember)
	}
	var wide []string // ClusterVectorSidecars affect many namespaces, so they come first.
	clusters, err := livelist.Collect(ctx, live, &v1alpha1.ClusterVectorSidecarList{}, func(cluster *v1alpha1.ClusterVectorSidecar) (v1alpha1.ClusterVectorSidecar, bool) {
		return *cluster, true
	})
	switch {
	case apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err): // The kind is not installed.
	case apierrors.IsForbidden(err):
		o.app.printNote("ClusterVectorSidecars are not counted: " + err.Error())
	case err != nil:
		return nil, nil, fmt.Errorf("listing ClusterVectorSidecars: %w", err)
	}
	for i := range clusters {
		sidecar := clusterwide.NewSidecar(&clusters[i], "", true)
		note(&wide, sidecar.Name, lastgood.RevertMessage(sidecar))
		for n := range clusters[i].Status.Waves {
			waveMembers = append(waveMembers, waveMember{name: meta.ClusterSidecarName(clusters[i].Name), status: &clusters[i].Status.Waves[n]})
		}
	}
	return waveMembers, append(wide, reverted...), nil
}
