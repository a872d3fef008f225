// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// The application or another VectorSidecar already has an optional annotation. It is not injected, and a message names
// the value to add to it.
func TestOmittedAnnotations_ReportsAnnotationsOfOthers(t *testing.T) {
	const list, flag = "vector.dev/exclude-containers", "fluentbit.io/exclude-vector"
	another := meta.Manager("audit")
	for name, test := range map[string]struct {
		view   *workload.View
		leaves []string
		says   string
	}{
		"nobody has them":       {view: application(), leaves: []string{list, flag}},
		"another key":           {view: with(application(), func(v *workload.View) { v.PodAnnotations = []string{"vector.dev/exclude"} }), leaves: []string{list, flag}},
		"ours, from before":     {view: with(current(), owns(mine, list, "proxy")), leaves: []string{list, flag}},
		"the owner's":           {view: with(application(), owns("", list, "proxy")), leaves: []string{flag}, says: `add "vector" to the annotation's value in the workload's pod template`},
		"the owner's, complete": {view: with(application(), owns("", list, "proxy, vector")), leaves: []string{flag}},
		"another VectorSidecar's": {
			view: with(application(), owns(another, list, "audit")), leaves: []string{flag},
			says: `add "vector" to the annotation's value in sidecar.podAnnotations of VectorSidecar audit`,
		},
		"a domain whose values are not known": {view: with(application(), owns("", flag, "")), leaves: []string{list}, says: `add "true"`},
	} {
		t.Run(name, func(t *testing.T) {
			desired := telling(list, flag)
			p := ForInjection(mine, desired, Policy{}, test.view)
			require.Contains(t, []Change{Inject, Update}, p.Change, p.Message())
			annotations := tree.MapAt(p.Write.Apply, "spec", "template", "metadata", "annotations")
			require.Len(t, annotations, len(test.leaves)+1, "beside the list of parts")
			for _, key := range test.leaves {
				require.Contains(t, annotations, key)
				require.Contains(t, p.Desired.overlay.Template.Annotations[meta.AnnotationInjectedItems(mine)], key)
			}
			if said := desired.OmittedAnnotations(mine, test.view); test.says == "" {
				require.Empty(t, said)
			} else {
				require.Len(t, said, 1)
				require.Contains(t, said[0], test.says)
			}

			expected := desired.Expect(mine, test.view)
			require.Subset(t, expected.Owned[mine].PodAnnotations, test.leaves)
			require.Len(t, expected.Owned[mine].PodAnnotations, len(test.leaves)+1)
		})
	}
}

// An annotation lists the sidecar's volumes, so that they do not prevent a node scale-down. It is left out if a volume
// of the application prevents that anyway. Once injected, it stays, so that a change of these volumes causes no second
// rollout.
func TestForInjection_MarksSidecarVolumesAsEvictable(t *testing.T) {
	const key, pod = meta.AnnotationEvictableVolumes, "cluster-autoscaler.kubernetes.io/safe-to-evict"
	has := func(kind string, medium corev1.StorageMedium) func(*workload.View) {
		return func(v *workload.View) {
			v.Volumes = append(v.Volumes, workload.Volume{Name: "own", Kind: kind, Medium: medium})
		}
	}
	onDisk, inMemory, ofNode := has("emptyDir", ""), has("emptyDir", corev1.StorageMediumMemory), has("hostPath", "")
	for name, test := range map[string]struct {
		view        *workload.View
		isNamed     bool
		says, keeps string
	}{
		"no volume of its own":          {view: application(), isNamed: true},
		"one on disk":                   {view: with(application(), onDisk)},
		"one in memory":                 {view: with(application(), inMemory), isNamed: true},
		"one of the node":               {view: with(application(), ofNode)},
		"one on disk that came later":   {view: with(with(current(), owns(mine, key, "b,data")), onDisk), isNamed: true},
		"the owner's annotation":        {view: with(application(), owns("", key, "own")), says: `add "b,data" to the annotation's value`, keeps: "b,data"},
		"the owner's, with one of ours": {view: with(application(), owns("", key, "own,b")), says: `add "data" to the annotation's value`, keeps: "data"},
		"the owner's, with a blank":     {view: with(application(), owns("", key, "own,b, data")), says: `add "data" to the annotation's value`, keeps: "data"},
		"the owner's, complete":         {view: with(application(), owns("", key, "data,own,b"))},
		"the owner's, and one on disk":  {view: with(with(application(), onDisk), owns("", key, "own")), says: `add "b,data" to the annotation's value`},
		"the owner's word on the pod":   {view: with(application(), owns("", pod, "false")), isNamed: true},
		"a sidecar without it":          {view: with(current(), owns(mine, "example.com/a", "")), isNamed: true, keeps: "b,data"},
	} {
		t.Run(name, func(t *testing.T) {
			desired := evictable("b", "data")
			p := ForInjection(mine, desired, Policy{}, test.view)
			require.Contains(t, []Change{Inject, Update}, p.Change, p.Message())
			annotations := tree.MapAt(p.Write.Apply, "spec", "template", "metadata", "annotations")
			if test.isNamed {
				require.Equal(t, "b,data", annotations[key])
			} else {
				require.NotContains(t, annotations, key)
			}
			said := strings.Join(desired.OmittedAnnotations(mine, test.view), "; ")
			require.Equal(t, test.says == "", said == "", said)
			require.Contains(t, said, test.says)
			require.Equal(t, test.keeps, p.Desired.NodeBlockingVolumes(mine, test.view))
			require.Equal(t, desired.InjectedHash(), p.WholeHash(), "it is what the API server would put in")
			require.Equal(t, test.isNamed, p.InjectedHash() == p.WholeHash())
		})
	}

	always := evictable("b", "data")
	always.overlay.OptionalWithNodeVolumes, always.withoutOptional = nil, nil
	p := ForInjection(mine, always, Policy{}, with(application(), onDisk))
	require.Equal(t, "b,data", tree.MapAt(p.Write.Apply, "spec", "template", "metadata", "annotations")[key])
}

// Workloads without the optional parts share one overlay, because it is large.
func TestOmitOptional_ReturnsSharedOverlay(t *testing.T) {
	desired, view := evictable("data").WithInput(RequestedInput{Digest: "1"}), with(application(), owns("", meta.AnnotationEvictableVolumes, "own"))
	require.Same(t, desired.withoutOptional, desired.OmitOptional(mine, view))
	require.Equal(t, "1", desired.OmitOptional(mine, view).InputDigest())
	require.Equal(t, "2", desired.WithInput(RequestedInput{Digest: "2"}).OmitOptional(mine, view).InputDigest())
}

// evictable is the sidecar with volumes on disk that keep no node, and one in memory.
func evictable(volumes ...string) *Desired {
	of, key := *sidecar().overlay, meta.AnnotationEvictableVolumes
	of.Template = *of.Template.DeepCopy()
	add := func(name string, medium corev1.StorageMedium) {
		from := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium}}
		of.Template.Spec.Volumes = append(of.Template.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: from})
	}
	for _, name := range volumes {
		add(name, "")
	}
	add("memory", corev1.StorageMediumMemory)
	of.OptionalAnnotations, of.OptionalWithNodeVolumes = []string{key}, []string{key}
	of.Template.Annotations = map[string]string{key: strings.Join(volumes, ",")}
	of.Body = map[string]any{"spec": of.Body["spec"], "metadata": map[string]any{"annotations": map[string]any{key: strings.Join(volumes, ",")}}}
	return NewDesired(&of, "logs", "vector", "config-1", Notes{})
}

// owns has a manager of ours, or with "" the workload's owner, set a pod annotation.
func owns(manager, key, text string) func(*workload.View) {
	return func(v *workload.View) {
		v.PodAnnotations, v.PodTexts = append(v.PodAnnotations, key), map[string]string{key: text}
		if manager == "" {
			return
		}
		if v.Owned == nil {
			v.Owned = map[string]workload.OwnedFields{}
		}
		owned := v.Owned[manager]
		owned.PodAnnotations, owned.InjectedHash = append(owned.PodAnnotations, key), "before"
		v.Owned[manager] = owned
	}
}

// telling is the sidecar with two annotations that yield.
func telling(list, flag string) *Desired {
	of := *sidecar().overlay
	parts := meta.InjectedItems{Manager: mine, Annotations: []string{flag, list}}
	of.OptionalAnnotations = []string{flag, list}
	of.Template.Annotations = map[string]string{list: "vector", flag: "true", meta.AnnotationInjectedItems(mine): parts.String()}
	of.Body = map[string]any{"spec": of.Body["spec"], "metadata": map[string]any{"annotations": map[string]any{
		list: "vector", flag: "true", meta.AnnotationInjectedItems(mine): parts.String(),
	}}}
	return NewDesired(&of, "logs", "vector", "config-1", Notes{})
}

// A pull secret that the application's manifest lists is not injected, and not recorded as injected.
func TestWithoutPullSecrets_OmitsSecretsOfApplication(t *testing.T) {
	for name, test := range map[string]struct{ own, adds []string }{
		"it lists one":  {[]string{"registry"}, []string{"mirror"}},
		"it lists both": {[]string{"registry", "mirror"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			left := pulling("mirror", "registry").WithInput(RequestedInput{Digest: "1"}).WithoutPullSecrets(test.own)
			var names, written []string
			for _, secret := range left.Template().Spec.ImagePullSecrets {
				names = append(names, secret.Name)
			}
			for _, item := range tree.List(tree.MapAt(left.standalone.tree, tree.Pod...)["imagePullSecrets"]) {
				written = append(written, tree.Name(item))
			}
			require.Equal(t, test.adds, names)
			require.Equal(t, test.adds, written)
			require.Len(t, left.PullSecrets(), len(test.adds))
			require.Equal(t, meta.InjectedItems{Manager: mine, PullSecrets: test.adds}.String(), left.Template().Annotations[meta.AnnotationInjectedItems(mine)])
			require.Equal(t, "1", left.InputDigest())
		})
	}
}

// pulling is the sidecar with pull secrets.
func pulling(names ...string) *Desired {
	of, items := *sidecar().overlay, []any{}
	of.Template = *of.Template.DeepCopy()
	for _, name := range names {
		of.Template.Spec.ImagePullSecrets = append(of.Template.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
		items = append(items, map[string]any{"name": name})
	}
	of.AddedPullSecrets = names
	parts := meta.InjectedItems{Manager: mine, PullSecrets: names}.String()
	of.Template.Annotations = map[string]string{meta.AnnotationInjectedItems(mine): parts}
	of.Body = map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{meta.AnnotationInjectedItems(mine): parts}},
		"spec":     map[string]any{"initContainers": tree.MapAt(of.Body, "spec")["initContainers"], "imagePullSecrets": items},
	}
	return NewDesired(&of, "logs", "vector", "config-1", Notes{})
}
