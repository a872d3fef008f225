// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/fieldmanager"
)

// copiedMarks are all annotations of the operator for the VectorSidecar logs, with the text of each.
func copiedMarks() (annotations, ofPods map[string]string) {
	logs := meta.Manager("logs")
	annotations = map[string]string{
		meta.AnnotationSidecarName: "logs", meta.AnnotationOrphaned(logs): "true", meta.AnnotationFailedBefore(logs): "true",
		meta.AnnotationWrittenBy(logs): "vector-system/vso", meta.AnnotationWaiting(logs): "2026-01-02T03:04:05Z/00000001/0000000000000001",
	}
	for _, plain := range []string{
		meta.AnnotationInjected, meta.AnnotationInjectedHash, meta.AnnotationContainerName, meta.AnnotationConfigMapVersion,
		meta.AnnotationInputHash, meta.AnnotationAppliedHash, meta.AnnotationChangeCause, meta.AnnotationRenderedFrom,
	} {
		annotations[plain], annotations[meta.AnnotationKeyFor(plain, "logs")] = "copied", "copied"
	}
	return annotations, map[string]string{
		meta.AnnotationInjectedItems(logs): fieldmanager.List, meta.AnnotationInjectedEnv(logs): "cart LOG=1",
	}
}

// manifest is what a deployer applies that has copied annotations.
func manifest(annotations, ofPods map[string]string) string {
	text := strings.Builder{}
	text.WriteString("metadata:\n  annotations:\n    team: payments\n")
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		fmt.Fprintf(&text, "    %s: %q\n", key, annotations[key])
	}
	text.WriteString("spec:\n  template:\n    metadata:\n      annotations:\n        team: shop\n")
	for _, key := range slices.Sorted(maps.Keys(ofPods)) {
		fmt.Fprintf(&text, "        %s: %q\n", key, ofPods[key])
	}
	return text.String()
}

// The annotations of a sidecar are found, whichever field manager owns them.
func TestMarks_AreFoundWithAnyFieldManager(t *testing.T) {
	logs := meta.Manager("logs")
	annotations, ofPods := copiedMarks()
	keys, podKeys := slices.Sorted(maps.Keys(annotations)), slices.Sorted(maps.Keys(ofPods))

	alone := fieldmanager.New(t)
	alone.Apply("argocd", manifest(annotations, ofPods))
	require.True(t, IsCarrier(alone.Live()))
	require.Equal(t, []string{logs}, Managers(alone.Live()))
	require.Equal(t, []Trace{{Manager: logs, Listed: true, Marked: true}}, ReadOwnership(alone.Live()).Traces)
	view := NewView(alone.Live())
	require.Empty(t, view.Owned)
	require.Equal(t, map[string]Marks{logs: {Annotations: keys, PodAnnotations: podKeys}}, view.Marks)

	after := fieldmanager.New(t)
	after.Apply("argocd", manifest(annotations, ofPods))
	injectedHash := "vectorsidecar.observability.kontroloop.ai/injected-hash: abc\n"
	after.Apply(logs, strings.NewReplacer("injected-env.logs: d", "injected-env.logs: cart LOG=1", "injected: \"true\"", "injected: copied", injectedHash, strings.ReplaceAll(injectedHash, "abc", "copied")).Replace(fieldmanager.Sidecar))
	view = NewView(after.Live())
	require.Equal(t, keys, view.Marks[logs].Annotations, "one that both own stays, too")
	require.Empty(t, view.Marks[logs].SharedItems)
	owned := view.Owned[logs]
	require.Empty(t, owned.Orphan)
	require.Empty(t, owned.WrittenBy)
	require.False(t, owned.FailedBefore)
	require.False(t, owned.Waits)
	require.Empty(t, owned.AppliedHash)
}

// A deployment tool applies items that the annotation of injected items lists. They are named in the result.
func TestMarks_NameItemsOfDeploymentTool(t *testing.T) {
	logs := meta.Manager("logs")
	c := fieldmanager.New(t)
	c.Apply(logs, fieldmanager.Sidecar)
	require.Empty(t, NewView(c.Live()).Marks, "the manager owns all of it")

	c.Apply("argocd", fieldmanager.Sidecar)

	require.Contains(t, NewView(c.Live()).Marks[logs].SharedItems, "vector")
}

// The orphan annotation is valid if the operator or a user has set it, also if a deployment tool applies it, too. It is
// ignored if only a deployment tool owns it.
func TestMarks_IgnoreOrphanMarkOfDeploymentTool(t *testing.T) {
	logs := meta.Manager("logs")
	orphaned := manifest(map[string]string{meta.AnnotationOrphaned(logs): "true"}, nil)
	for name, test := range map[string]struct {
		writers []string
		want    string
	}{
		"nobody on record":         {nil, "true"},
		"a deployer":               {[]string{"argocd"}, ""},
		"the operator":             {[]string{meta.Operator}, "true"},
		"a person":                 {[]string{"kubectl-annotate"}, "true"},
		"a deployer, too":          {[]string{meta.Operator, "argocd"}, "true"},
		"a deployer and a restore": {[]string{"velero", "argocd"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := fieldmanager.New(t)
			c.Apply(logs, fieldmanager.Sidecar)
			for _, writer := range test.writers {
				c.Apply(writer, orphaned)
			}
			deployment := c.Live()
			deployment.Annotations[meta.AnnotationOrphaned(logs)] = "true"
			require.Equal(t, test.want, NewView(deployment).Owned[logs].Orphan)
		})
	}
}

// An annotation marks a workload that failed before the last write of its pod template. Without the sidecar, the
// annotation is ignored.
func TestMarks_IgnoreFailureMarkWithoutSidecar(t *testing.T) {
	logs := meta.Manager("logs")
	failed := manifest(map[string]string{meta.AnnotationFailedBefore(logs): "true"}, nil)
	c := fieldmanager.New(t)
	c.Apply(logs, failed)
	require.False(t, NewView(c.Live()).Owned[logs].FailedBefore)

	c.Apply(logs, strings.Replace(fieldmanager.Sidecar, "annotations:\n", "annotations:\n    "+meta.AnnotationFailedBefore(logs)+": \"true\"\n", 1))
	require.True(t, NewView(c.Live()).Owned[logs].FailedBefore)
}

// Annotations for users, such as the opt-out, are no marks of a sidecar.
func TestMarks_ExcludeOtherAnnotations(t *testing.T) {
	for _, key := range []string{meta.AnnotationInject, meta.AnnotationValuesPrefix + "sidecar.image", meta.Group + "/team", "injected"} {
		d := &appsv1.Deployment{}
		d.Annotations = map[string]string{key: "false"}
		require.False(t, IsCarrier(d), key)
		require.Empty(t, NewView(d).Marks, key)
	}
}

// In a Rollout, an annotation lists the items of the sidecar. If a deployment tool's manifest contains this annotation,
// it is a copy and is ignored.
func TestMarks_IgnoreCopiesInArgoRollouts(t *testing.T) {
	logs, audit := meta.Manager("logs"), meta.Manager("audit")
	rollout := recordedRollout(corev1.Container{Name: "vector", Image: "v:1"})
	for _, manager := range []string{logs, audit} {
		rollout.Annotations[meta.AnnotationFailedBefore(manager)], rollout.Annotations[meta.AnnotationWrittenBy(manager)] = "true", "vector-system/vso"
	}
	require.True(t, NewView(rollout.object()).Owned[logs].FailedBefore)
	require.Equal(t, "vector-system/vso", NewView(rollout.object()).Owned[logs].WrittenBy)
	require.False(t, NewView(rollout.object()).Owned[audit].FailedBefore, "its container is not there")
	require.Empty(t, NewView(rollout.object()).Owned[audit].WrittenBy)
	require.Empty(t, NewView(rollout.object()).Marks)

	rollout.Annotations[meta.AnnotationKeyFor(meta.AnnotationInjectedHash, "gone")] = "3"
	rollout.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "argocd", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fmt.Sprintf(
			`{"f:metadata":{"f:annotations":{"f:%s":{},"f:%s":{}}}}`, meta.AnnotationFailedBefore(logs), meta.AnnotationWrittenBy(logs))),
	}}
	view := NewView(rollout.object())
	require.False(t, view.Owned[logs].FailedBefore)
	require.Empty(t, view.Owned[logs].WrittenBy)
	require.Equal(t, "1", view.Owned[logs].InjectedHash)
	require.Equal(t, map[string]Marks{
		logs:                 {Annotations: []string{meta.AnnotationFailedBefore(logs), meta.AnnotationWrittenBy(logs)}},
		meta.Manager("gone"): {Annotations: []string{meta.AnnotationKeyFor(meta.AnnotationInjectedHash, "gone")}},
	}, view.Marks)
}
