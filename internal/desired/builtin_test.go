// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"bytes"
	"context"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// upgrade starts with the catalog of a release whose own templates differ.
func (s *system) upgrade(from, to string) {
	s.t.Helper()
	files, err := render.ReadFiles(vectorsidecar.FS)
	require.NoError(s.t, err)
	files = maps.Clone(files)
	isChanged := false
	for name, text := range files {
		files[name] = bytes.ReplaceAll(text, []byte(from), []byte(to))
		isChanged = isChanged || !bytes.Equal(files[name], text)
	}
	require.True(s.t, isChanged)
	s.catalog, err = NewCatalog(files)
	require.NoError(s.t, err)
}

// stored is what is stored of the present revision.
func (s *system) stored() *fleet.Content {
	s.t.Helper()
	now, _ := s.update()
	content, err := now.StoredContent(s.t.Context())
	require.NoError(s.t, err)
	return content
}

// renderedBy is a digest of what a set renders.
func renderedBy(t *testing.T, platform *Platform, set string) string {
	t.Helper()
	of, err := platform.Set(set)
	require.NoError(t, err)
	require.NotNil(t, of.Chart, of.Err)
	values, err := of.Environments.Values("development")
	require.NoError(t, err)
	result, err := render.Render(t.Context(), render.Request{
		Chart: of.Chart, Values: values, KubeVersion: sampleVersion, Sidecar: types.NamespacedName{Namespace: "shop", Name: "logs"},
	})
	require.NoError(t, err)
	return result.Overlay.Hash
}

// A stored revision is rendered with the built-in templates of the release that published it.
func TestPlatformAt_UsesTemplatesOfPublishingRelease(t *testing.T) {
	s := newSystem(t)
	s.give("gateway", map[string]string{"notes.yaml": "# nothing"})
	s.install(map[string]string{"development.yaml": "sidecar: {logLevel: warn}"})
	before, _ := s.update()
	stored := s.stored()
	require.Len(t, stored.Samples, 2)
	require.NotEmpty(t, stored.Samples["default"])
	want := map[string]string{"": renderedBy(t, before, ""), "gateway": renderedBy(t, before, "gateway")}

	s.upgrade("imagePullPolicy: {{", "terminationMessagePolicy: FallbackToLogsOnError\n  imagePullPolicy: {{")
	now, _ := s.update()
	require.Equal(t, before.Revision, now.Revision, "an upgrade alone is no revision")
	then, err := s.catalog.PlatformAt(t.Context(), stored)
	require.NoError(t, err)
	for set, hash := range want {
		require.Equal(t, hash, renderedBy(t, then, set), set)
		require.NotEqual(t, hash, renderedBy(t, now, set), set)
	}
	require.NotEqual(t, stored.Samples, s.stored().Samples)

	t.Run("they render something else", func(t *testing.T) {
		other := *stored
		other.BuiltIn = s.stored().BuiltIn
		_, err := s.catalog.PlatformAt(t.Context(), &other)
		var record *fleet.RecordError
		require.ErrorAs(t, err, &record)
		require.EqualError(t, err, "stored revision "+before.Revision+": template set default, gateway renders differently in this release than when the revision was published; promote the VectorSidecar to the current revision, or roll back the operator")
	})
	t.Run("they cannot be loaded", func(t *testing.T) {
		broken := *stored
		broken.BuiltIn = fleet.Files{Data: map[string]string{"Chart.yaml": "name: ["}}
		_, err := s.catalog.PlatformAt(t.Context(), &broken)
		var record *fleet.RecordError
		require.ErrorAs(t, err, &record)
		require.ErrorContains(t, err, "loading the built-in templates of the release that published the revision: loading the sidecar chart: cannot load Chart.yaml")
	})
	t.Run("the caller is stopped", func(t *testing.T) {
		stopped, stop := context.WithCancel(t.Context())
		stop()
		_, err := s.catalog.PlatformAt(stopped, stored)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// Sample renderings show whether another release or other values change the result.
func TestSamples_DifferIfRenderingDiffers(t *testing.T) {
	s := newSystem(t)
	before := s.stored().Samples
	require.Equal(t, before, s.stored().Samples)
	for name, change := range map[string][2]string{
		"a template":                   {`dict "data_dir"`, `dict "timezone" "UTC" "data_dir"`},
		"a default of one environment": {"logLevel: debug", "logLevel: trace"},
	} {
		s.upgrade(change[0], change[1])
		require.NotEqual(t, before, s.stored().Samples, name)
	}
	s.restart()
	s.install(map[string]string{"qa.yaml": "sidecar: {logLevel: warn}"})
	require.NotEqual(t, before, s.stored().Samples, "an environment of the installation's")
	s.give("broken", map[string]string{"_container.tpl": "{{"})
	require.NotContains(t, s.stored().Samples, "broken")
	s.give("failing", map[string]string{"podtemplate.yaml": `{{ fail "no" }}`})
	require.Contains(t, s.stored().Samples, "failing", "that it renders nothing is something to compare")
	s.give("slow", map[string]string{"podtemplate.yaml": `{{ $x := repeat 60000 "ab" }}{{ range until 10000 }}{{ $y := regexFindAll "(a|b)*c" $x -1 }}{{ end }}`})
	require.NotContains(t, s.stored().Samples, "slow", "another time it may be done")
}
