// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/fieldmanager"
)

// marked is the sidecar with the mark of its writer.
func marked(manager string) string {
	return strings.Replace(fieldmanager.Sidecar, "annotations:\n", "annotations:\n    "+meta.AnnotationWrittenBy(manager)+": vector-system/vso\n", 1)
}

// Each case is a workload with fields or annotations of a VectorSidecar, and the field managers that are found.
func TestReadOwnership_ReportsRecordedManagers(t *testing.T) {
	logs := meta.Manager("logs")
	written := func(t *testing.T, text string, change func(*appsv1.Deployment)) *appsv1.Deployment {
		c := fieldmanager.New(t)
		c.Apply(logs, text)
		deployment := c.Live()
		change(deployment)
		return deployment
	}
	nothing := func(*appsv1.Deployment) {}
	patch := metav1.ManagedFieldsEntry{Manager: logs, Operation: metav1.ManagedFieldsOperationUpdate}
	for name, test := range map[string]struct {
		of   *appsv1.Deployment
		want []Trace
	}{
		"nothing":            {fieldmanager.New(t).Live(), nil},
		"an apply":           {written(t, fieldmanager.Sidecar, nothing), []Trace{{Manager: logs, Applied: true}}},
		"an apply with mark": {written(t, marked(logs), nothing), []Trace{{Manager: logs, Applied: true, WrittenBy: "vector-system/vso"}}},
		"a mark that is not the manager's": {written(t, fieldmanager.Sidecar, func(d *appsv1.Deployment) {
			d.Annotations[meta.AnnotationWrittenBy(logs)] = "vector-system/vso"
		}), []Trace{{Manager: logs, Applied: true, Marked: true}}},
		"left by Orphan": {written(t, fieldmanager.Sidecar, func(d *appsv1.Deployment) {
			d.Annotations[meta.AnnotationOrphaned(logs)] = "true"
		}), []Trace{{Manager: logs, Applied: true, Orphan: "true"}}},
		"another one left": {written(t, fieldmanager.Sidecar, func(d *appsv1.Deployment) {
			d.Annotations[meta.AnnotationOrphaned(meta.Manager("audit"))] = "true"
		}), []Trace{{Manager: meta.Manager("audit"), Marked: true}, {Manager: logs, Applied: true}}},
		"a revision that came back": {
			fieldmanager.Undone(t, "kubectl", map[string]string{meta.AnnotationInjectedItems(logs): fieldmanager.List}), []Trace{{Manager: logs, Listed: true}},
		},
		"the record of a patch": {&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{patch}}}, []Trace{{Manager: logs, Patched: true}}},
		"a patch and an apply": {written(t, fieldmanager.Sidecar, func(d *appsv1.Deployment) {
			d.ManagedFields = append(d.ManagedFields, patch)
		}), []Trace{{Manager: logs, Applied: true, Patched: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, ReadOwnership(test.of).Traces)
		})
	}
}

// The hash of a sidecar is the same with and without the annotation written-by.
func TestHash_IgnoresWriterAnnotation(t *testing.T) {
	logs := meta.Manager("logs")
	plain, c := fieldmanager.New(t), fieldmanager.New(t)

	applied := c.Apply(logs, marked(logs))

	require.Equal(t, Hash(plain.Apply(logs, fieldmanager.Sidecar)), Hash(applied))
	require.Equal(t, Hash(applied), NewView(c.Live()).Owned[logs].Hash)
	require.Contains(t, c.Live().Annotations, meta.AnnotationWrittenBy(logs))
}

// The name of a VectorSidecar may be too long for a field manager or an annotation key. Its annotations are still
// found.
func TestReadOwnership_FindsAnnotationsOfLongNames(t *testing.T) {
	for _, length := range []int{60, 120, 253} {
		manager := meta.Manager(strings.Repeat("a", length))
		c := fieldmanager.New(t)
		c.Apply(manager, marked(manager))
		require.Equal(t, []Trace{{Manager: manager, Applied: true, WrittenBy: "vector-system/vso"}}, ReadOwnership(c.Live()).Traces)
	}
}
