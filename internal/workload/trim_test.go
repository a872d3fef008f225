// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const (
	apply  = metav1.ManagedFieldsOperationApply
	update = metav1.ManagedFieldsOperationUpdate
)

// inPod is managed fields below spec.template.spec.
func inPod(fields string) string { return `{"f:spec":{"f:template":{"f:spec":{` + fields + `}}}}` }

// Each case is a managedFields entry. The cache keeps only entries that concern the sidecar.
func TestTrimEntry_KeepsOnlyOwnedFields(t *testing.T) {
	const (
		ours  = `"f:initContainers":{"k:{\"name\":\"vector\"}":{".":{},"f:image":{},"f:name":{}}}`
		mount = `"f:containers":{"k:{\"name\":\"app\"}":{"f:volumeMounts":{"k:{\"mountPath\":\"/logs\"}":{".":{},"f:mountPath":{},"f:name":{}}}}}`
	)
	for name, test := range map[string]struct {
		manager   string
		operation metav1.ManagedFieldsOperationType
		fields    string
		kept      string
	}{
		"what was applied": {meta.Manager("logs"), apply, inPod(ours), inPod(ours)},
		"with the names that put the owner's in order": {
			meta.Manager("logs"), apply, inPod(`"f:initContainers":{"k:{\"name\":\"migrate\"}":{".":{},"f:name":{}},"k:{\"name\":\"vector\"}":{".":{},"f:image":{},"f:name":{}}}`), inPod(ours),
		},
		"names alone": {meta.Manager("logs"), apply, inPod(`"f:initContainers":{"k:{\"name\":\"migrate\"}":{".":{},"f:name":{}}}`), ""},
		"a patch": {
			meta.Manager("logs"), update, `{"f:metadata":{"f:annotations":{".":{},"f:x":{}}},"f:spec":{"f:template":{"f:metadata":{"f:annotations":{}},"f:spec":{` + ours +
				`,"f:containers":{"k:{\"name\":\"app\"}":{"f:volumeMounts":{".":{},"k:{\"mountPath\":\"/logs\"}":{".":{},"f:mountPath":{},"f:name":{}}}}},"f:volumes":{".":{}}}}}}`, inPod(mount),
		},
		"a patch trimmed before":   {meta.Manager("logs"), update, inPod(mount), inPod(mount)},
		"what is left of a patch":  {meta.Manager("logs"), update, `{"f:spec":{"f:template":{"f:metadata":{"f:annotations":{}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:volumeMounts":{}}},"f:volumes":{}}}}}`, ""},
		"names of somebody else's": {"helm", apply, inPod(`"f:initContainers":{"k:{\"name\":\"migrate\"}":{".":{},"f:name":{}}}`), inPod(`"f:initContainers":{"k:{\"name\":\"migrate\"}":{".":{},"f:name":{}}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			entry := &metav1.ManagedFieldsEntry{Manager: test.manager, Operation: test.operation, FieldsV1: metav1.NewFieldsV1(test.fields)}

			kept, isLess := TrimEntry(entry)

			require.Equal(t, test.kept != test.fields, isLess)
			if test.kept == "" {
				require.Nil(t, kept)
				return
			}
			require.JSONEq(t, test.kept, kept.GetRawString())
			again, isLess := TrimEntry(&metav1.ManagedFieldsEntry{Manager: test.manager, Operation: test.operation, FieldsV1: kept})
			require.False(t, isLess, "once is enough")
			require.Equal(t, kept, again)
		})
	}
}
