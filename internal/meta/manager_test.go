// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// names are valid object names of problematic lengths.
var names = map[string]string{
	"short":                      "logs",
	"with dots":                  "logs.of.the.shop",
	"of 63 characters":           strings.Repeat("a", 63),
	"of 64 characters":           strings.Repeat("a", 64),
	"of 128 characters":          strings.Repeat("b", 128),
	"of 253 characters":          strings.Repeat("c", 253),
	"of 253, cut at a dot":       strings.Repeat("logs.", 50) + "end",
	"of 253, cut behind a dash":  strings.Repeat("d-", 126) + "d",
	"of 253, ending differently": strings.Repeat("c", 252) + "d",
}

// For any name of a VectorSidecar, the name of the field manager is valid. Different names have different managers.
func TestManager_ReturnsUniqueValidNames(t *testing.T) {
	taken := map[string]string{}
	for name, sidecar := range names {
		manager := Manager(sidecar)
		require.Empty(t, metav1validation.ValidateFieldManager(manager, field.NewPath("fieldManager")), name)
		require.True(t, IsManager(manager), name)
		require.NotContains(t, taken, manager, "%s and %s would undo each other's work", name, taken[manager])
		taken[manager] = name
	}
}

// For any name of a VectorSidecar, the label value is valid. Different names have different values.
func TestLabelValue_ReturnsUniqueValidValues(t *testing.T) {
	taken := map[string]string{}
	for name, sidecar := range names {
		value := LabelValue(sidecar)
		require.Empty(t, validation.IsValidLabelValue(value), name)
		require.NotContains(t, taken, value, "%s and %s would collect each other's objects", name, taken[value])
		taken[value] = name
	}
}

// The names of field managers are the same in each release. With another name, fields that an earlier release applied
// would stay.
func TestManager_KeepsNamesAcrossReleases(t *testing.T) {
	require.Equal(t, "vectorsidecar/logs", Manager("logs"))
	require.Equal(t, "vectorsidecar/"+strings.Repeat("c", 97)+"-4b4e34eb907bea94", Manager(strings.Repeat("c", 253)))
	require.Equal(t, "logs", LabelValue("logs"))
	require.Equal(t, strings.Repeat("c", 46)+"-4b4e34eb907bea94", LabelValue(strings.Repeat("c", 253)))
}

func TestIsManager_RejectsNamesOfOtherManagers(t *testing.T) {
	for _, manager := range []string{"", "kubectl", "helm", "vectorsidecar", "vector-sidecar-operator", Operator} {
		require.False(t, IsManager(manager), manager)
	}
}

// The keys of the second VectorSidecar's annotations contain its name, which may be shortened.
func TestIsBookkeeping_AcceptsKeysWithSidecarName(t *testing.T) {
	for name, sidecar := range names {
		for _, plain := range bookkeeping {
			require.True(t, IsBookkeeping(plain))
			require.True(t, IsBookkeeping(AnnotationKeyFor(plain, sidecar)), name)
			require.Empty(t, validation.IsQualifiedName(AnnotationKeyFor(plain, sidecar)), name)
		}
		for _, other := range []string{AnnotationInjected, AnnotationInjectedHash, AnnotationContainerName, AnnotationConfigMapVersion, AnnotationInputHash + "es"} {
			require.False(t, IsBookkeeping(other))
			require.False(t, IsBookkeeping(AnnotationKeyFor(other, sidecar)), name)
		}
	}
}
