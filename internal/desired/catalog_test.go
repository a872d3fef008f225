// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// system is the operator's namespace as the catalog sees it.
type system struct {
	t            *testing.T
	catalog      *Catalog
	installation *corev1.ConfigMap
	sets         map[string]corev1.ConfigMap
	version      int
}

func newSystem(t *testing.T) *system {
	t.Helper()
	s := &system{t: t, sets: map[string]corev1.ConfigMap{}}
	s.restart()
	s.install(nil)
	return s
}

// restart starts with a new catalog that knows no good version.
func (s *system) restart() {
	files, err := render.ReadFiles(vectorsidecar.FS)
	require.NoError(s.t, err)
	s.catalog, err = NewCatalog(files)
	require.NoError(s.t, err)
}

func (s *system) object(name string) corev1.ConfigMap {
	s.version++
	return corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "vector-system", Name: name, ResourceVersion: strconv.Itoa(s.version)}}
}

func (s *system) install(data map[string]string) {
	object := s.object("environments")
	object.Data = data
	s.installation = &object
}

// give writes the ConfigMap of a set.
func (s *system) give(set string, data map[string]string) { s.giveAs("templates-"+set, set, data, nil) }

func (s *system) giveAs(name, set string, data map[string]string, binary map[string][]byte) {
	object := s.object(name)
	object.Labels, object.Data, object.BinaryData = map[string]string{meta.LabelTemplateSet: set}, data, binary
	s.sets[name] = object
}

func (s *system) update() (*Platform, []PlatformChange) {
	var sets []corev1.ConfigMap
	for _, object := range s.sets {
		sets = append(sets, object)
	}
	return s.catalog.Update(s.installation, sets)
}

func (s *system) set(name string) *TemplateSet {
	s.t.Helper()
	now, _ := s.update()
	set, err := now.Set(name)
	require.NoError(s.t, err)
	return set
}

const (
	labeled = "{{ define \"vector-sidecar.isNative\" }}{{ end }}\n"
	broken  = "line one\n{{ if }}\n"
)

// A custom template set has only the changed files. The others are those of the default set.
func TestTemplateSet_OverridesFilesOfDefaultSet(t *testing.T) {
	s := newSystem(t)
	s.give("gateway", map[string]string{"NOTES.txt": "hello\n", "values__edge.yaml": "sidecar: {threads: 3}\n", "files__a.txt": "A"})

	gateway, builtin := s.set("gateway"), s.set("")

	require.NotEqual(t, builtin.Chart.Digest, gateway.Chart.Digest)
	values, err := gateway.Environments.Values("edge")
	require.NoError(t, err)
	output, err := gateway.Chart.Execute(t.Context(), render.Release{Name: "logs", Namespace: "shop"}, values.Tree, "v1.36.0")
	require.NoError(t, err)
	require.Equal(t, "hello\n", output.Files["vector-sidecar/templates/NOTES.txt"])
	require.Contains(t, output.Files["vector-sidecar/templates/podtemplate.yaml"], "VECTOR_THREADS", "the default one's file, and the set's own environment")
	require.NotContains(t, builtin.Environments.Names(), "edge")
}

// A custom template set may contain a whole chart instead of only the changed files.
func TestTemplateSet_AcceptsWholeChart(t *testing.T) {
	whole := map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: own\nversion: 1.0.0\n", "values.yaml": "own: 1\n",
		"values.schema.json": `{"type": "object", "additionalProperties": false, "properties": {"own": {"type": "integer"}, "environment": {}}}`,
		"pod.yaml":           "kind: PodTemplate\n",
	}
	for name, give := range map[string]func(*system){
		"key by key":    func(s *system) { s.give("own", whole) },
		"as an archive": func(s *system) { s.giveAs("own", "own", nil, map[string][]byte{"own-1.0.0.tgz": archive(t, whole)}) },
		"an archive with a file replaced": func(s *system) {
			damaged := maps.Clone(whole)
			damaged["pod.yaml"] = broken
			s.giveAs("own", "own", map[string]string{"pod.yaml": whole["pod.yaml"]}, map[string][]byte{"own-1.0.0.tgz": archive(t, damaged)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSystem(t)
			s.install(map[string]string{"staging.yaml": "templateSet: own\nown: 2\n"})
			give(s)
			own := s.set("own")
			require.NoError(t, own.Err)

			values, err := own.Environments.Values("staging")
			require.NoError(t, err, "the name of the set is no value of it, and the environment is known")
			require.Equal(t, map[string]any{"own": 2.0, "environment": "staging"}, values.Tree)
			output, err := own.Chart.Execute(t.Context(), render.Release{}, values.Tree, "v1.36.0")
			require.NoError(t, err)
			require.Equal(t, map[string]string{"own/templates/pod.yaml": "kind: PodTemplate\n"}, output.Files)
		})
	}
}

// If a template set cannot be loaded, the error names it, and its last known good version stays in use.
func TestCatalog_KeepsLastKnownGoodTemplateSet(t *testing.T) {
	for name, test := range map[string]struct {
		data   map[string]string
		binary map[string][]byte
		names  []string
	}{
		"a parse error":                   {data: map[string]string{"podtemplate.yaml": broken}, names: []string{"vector-sidecar/templates/podtemplate.yaml:2", "missing value for if"}},
		"a function that is none":         {data: map[string]string{"_x.tpl": "{{ toYml . }}"}, names: []string{"_x.tpl:1:4", `unknown function "toYml"`, `"toYaml"`}},
		"a function that is not hermetic": {data: map[string]string{"_x.tpl": "\n{{ now }}"}, names: []string{"_x.tpl:2:4", `"now" is not available`}},
		"a name defined twice":            {data: map[string]string{"_x.tpl": labeled}, names: []string{`template "vector-sidecar.isNative" is already defined at`}},
		"a value of a wrong type":         {data: map[string]string{"values.yaml": "sidecar: {name: 3}"}, names: []string{"values.yaml:1: sidecar.name", "want string"}},
		"values that are no YAML":         {data: map[string]string{"values__qa.yaml": "sidecar: ["}, names: []string{"values/qa.yaml"}},
		"a schema that is no JSON":        {data: map[string]string{"values.schema.json": "{"}, names: []string{"values.schema.json"}},
		"no schema":                       {data: map[string]string{"Chart.yaml": "apiVersion: v2\nname: own\nversion: 1.0.0\n"}, names: []string{"file values.schema.json is missing"}},
		"a chart that is none":            {data: map[string]string{"Chart.yaml": "name: x"}, names: []string{"loading the sidecar chart"}},
		"a dependency":                    {data: map[string]string{"Chart.yaml": "apiVersion: v2\nname: own\nversion: 1.0.0\ndependencies: [{name: a, version: 1.0.0, repository: 'https://charts.example'}]\n"}, names: []string{"dependencies"}},
		"a path out of the chart":         {data: map[string]string{"..__x": "x"}, names: []string{`"../x" is not a valid file path`}},
		"no keys":                         {names: []string{"no files; add the files"}},
		"an archive that is none":         {binary: map[string][]byte{"a.tgz": []byte("x")}, names: []string{"a.tgz: unpacking"}},
		"an archive that is a bomb":       {binary: map[string][]byte{"a.tgz": archive(t, map[string]string{"values.yaml": strings.Repeat("x", 5<<20)})}, names: []string{"larger than"}},
		"an archive with a way out":       {binary: map[string][]byte{"a.tgz": archive(t, map[string]string{"..__..__x": "x"})}, names: []string{"outside of its directory"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSystem(t)
			s.give("gateway", map[string]string{"NOTES.txt": "good"})
			good := s.set("gateway")
			require.NoError(t, good.Err)

			s.giveAs("templates-gateway", "gateway", test.data, test.binary)
			now, changes := s.update()

			after, err := now.Set("gateway")
			require.NoError(t, err)
			require.Same(t, good.Chart, after.Chart)
			for _, part := range append(test.names, `template set "gateway", ConfigMap vector-system/templates-gateway: `) {
				require.ErrorContains(t, after.Err, part)
			}
			require.Len(t, changes, 1)
			require.Equal(t, after.Err, changes[0].Err)

			s.restart()
			require.Nil(t, s.set("gateway").Chart, "it was never good")
			require.NotNil(t, s.set("").Chart)

			s.give("gateway", map[string]string{"NOTES.txt": "repaired"})
			now, changes = s.update()
			require.Len(t, changes, 1)
			require.NoError(t, changes[0].Err)
			repaired, err := now.Set("gateway")
			require.NoError(t, err)
			require.NotNil(t, repaired.Chart)
			require.NoError(t, repaired.Err)
		})
	}
}

func TestCatalog_ReusesUnchangedTemplateSets(t *testing.T) {
	s := newSystem(t)
	s.give("gateway", map[string]string{"NOTES.txt": "good"})
	first, changes := s.update()
	require.Empty(t, changes, "a start is no change")

	again, changes := s.update()
	require.Same(t, first, again)
	require.Empty(t, changes)

	s.give("other", map[string]string{"NOTES.txt": "good"})
	third, changes := s.update()
	require.Len(t, changes, 1)
	require.Equal(t, `template set "other"`, changes[0].Description)
	before, _ := first.Set("gateway")
	after, _ := third.Set("gateway")
	require.Same(t, before.Chart, after.Chart)
}

// If two ConfigMaps define the same template set, neither is used, and the last known good version stays.
func TestCatalog_RejectsDuplicateTemplateSet(t *testing.T) {
	s := newSystem(t)
	s.give("gateway", map[string]string{"NOTES.txt": "good"})
	good := s.set("gateway")
	s.giveAs("another", "gateway", map[string]string{"NOTES.txt": "other"}, nil)

	twice := s.set("gateway")
	require.Same(t, good.Chart, twice.Chart)
	require.ErrorContains(t, twice.Err, "ConfigMap vector-system/another: ConfigMap vector-system/templates-gateway also defines the template set")

	delete(s.sets, "another")
	require.NoError(t, s.set("gateway").Err)
}

func TestCatalog_DropsDeletedTemplateSet(t *testing.T) {
	s := newSystem(t)
	s.give("gateway", map[string]string{"NOTES.txt": "good"})
	require.NotNil(t, s.set("gateway"))
	delete(s.sets, "templates-gateway")
	now, _ := s.update()

	_, err := now.Set("gatewey")

	var unknown *UnknownSetError
	require.ErrorAs(t, err, &unknown)
	require.ErrorContains(t, err, `"gatewey" does not exist; existing template sets: default`)
}

// A ConfigMap with the template set named default replaces the built-in one.
func TestCatalog_ReplacesDefaultTemplateSet(t *testing.T) {
	s := newSystem(t)
	builtin := s.set("")
	s.give(DefaultTemplateSet, map[string]string{"NOTES.txt": "ours"})
	require.NotEqual(t, builtin.Chart.Digest, s.set("").Chart.Digest)

	delete(s.sets, "templates-default")
	require.Same(t, builtin.Chart, s.set("").Chart)

	// The platform team did not choose the built-in set.
	s.give(DefaultTemplateSet, map[string]string{"_x.tpl": broken})
	s.restart()
	require.Nil(t, s.set("").Chart)
}

// If the policy cannot be parsed, the error is reported and the last known good policy stays in use.
func TestCatalog_KeepsLastKnownGoodPolicy(t *testing.T) {
	s := newSystem(t)
	s.install(map[string]string{PolicyKey: "images: {requireTag: true}"})
	good, changes := s.update()
	require.Empty(t, changes)
	require.True(t, good.Policy.Images.RequireTag)

	s.install(map[string]string{PolicyKey: "imags: {}"})
	now, changes := s.update()
	require.Same(t, good.Policy, now.Policy)
	require.ErrorContains(t, now.PolicyErr, "ConfigMap vector-system/environments policy:1: imags: unknown key; did you mean images?")
	require.Len(t, changes, 1)

	s.restart()
	now, changes = s.update()
	require.Nil(t, now.Policy, "nobody knows what it would forbid")
	require.Len(t, changes, 1)

	s.install(nil)
	now, changes = s.update()
	require.NoError(t, now.PolicyErr)
	require.Len(t, changes, 1)
	require.Equal(t, "restricted", now.Policy.PodSecurity)
}

// If the rollout rules cannot be parsed, the error is reported and the last known good ones stay in use.
func TestCatalog_KeepsLastKnownGoodRolloutRules(t *testing.T) {
	s := newSystem(t)
	s.install(map[string]string{RolloutKey: "maxConcurrent: 3"})
	good, changes := s.update()
	require.Empty(t, changes)
	require.Equal(t, 3, good.Rollout.Limit(100))

	s.install(map[string]string{RolloutKey: "maxConcurent: 3"})
	now, changes := s.update()
	require.Same(t, good.Rollout, now.Rollout)
	require.ErrorContains(t, now.RolloutErr, "ConfigMap vector-system/environments rollout:1: maxConcurent: unknown key; did you mean maxConcurrent?")
	require.Len(t, changes, 1)
	require.Equal(t, RolloutKey, changes[0].Key)

	s.restart()
	now, changes = s.update()
	require.Nil(t, now.Rollout, "nobody knows what it would limit")
	require.Len(t, changes, 1)
}

func TestCatalog_AppliesValuesToEachTemplateSet(t *testing.T) {
	s := newSystem(t)
	s.give("gateway", map[string]string{"NOTES.txt": "x"})
	for _, threads := range []string{"5", "6"} {
		s.install(map[string]string{"qa.yaml": "sidecar: {threads: " + threads + "}"})
		for _, name := range []string{"default", "gateway"} {
			values, err := s.set(name).Environments.Values("qa")
			require.NoError(t, err)
			require.Equal(t, "ConfigMap vector-system/environments qa.yaml:1", values.Origin("sidecar", "threads"))
			require.Equal(t, threads, strconv.Itoa(int(values.Tree["sidecar"].(map[string]any)["threads"].(float64))))
		}
	}
}

// archive packs files, by the keys of a ConfigMap, as `helm package` does.
func archive(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	w := tar.NewWriter(zipped)
	for key, text := range files {
		path := "templates/" + key
		switch {
		case strings.Contains(key, "__"):
			path = strings.ReplaceAll(key, "__", "/")
		case strings.HasPrefix(key, "Chart.") || strings.HasPrefix(key, "values."):
			path = key
		}
		require.NoError(t, w.WriteHeader(&tar.Header{Name: "own/" + path, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, zipped.Close())
	return packed.Bytes()
}

// For any archive, the result is a template set, or an error that names the archive.
func FuzzArchive(f *testing.F) {
	f.Add(archive(f, map[string]string{"Chart.yaml": "apiVersion: v2\nname: own\nversion: 1.0.0\n", "pod.yaml": "x"}))
	f.Add(archive(f, map[string]string{"..__x": "x"}))
	f.Add([]byte{0x1f, 0x8b})
	files, err := render.ReadFiles(vectorsidecar.FS)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, packed []byte) {
		all, err := files.WithConfigMap(nil, map[string][]byte{"a.tgz": packed})
		if err != nil {
			require.ErrorContains(t, err, "a.tgz: ")
			return
		}
		_, _ = all.Load() // It must return.
	})
}

// The digest of a template set covers only the files of the installation, because the built-in files may change with
// the next release.
func TestTemplateSet_DigestsFilesOfInstallation(t *testing.T) {
	s := newSystem(t)
	require.Empty(t, s.set("").ProvidedDigest)
	s.give("gateway", map[string]string{"NOTES.txt": "hello\n"})
	first := s.set("gateway").ProvidedDigest
	require.NotEmpty(t, first)

	s.give("gateway", map[string]string{"NOTES.txt": "hello!\n"})
	second := s.set("gateway").ProvidedDigest
	require.NotEqual(t, first, second)
	s.give("gateway", map[string]string{"podtemplate.yaml": broken})
	require.Equal(t, second, s.set("gateway").ProvidedDigest, "the last good one is in use")
	s.give("default", map[string]string{"NOTES.txt": "hello\n"})
	require.NotEmpty(t, s.set("").ProvidedDigest)

	now, _ := s.update()
	tried, err := now.AsProvided().Set("")
	require.NoError(t, err)
	require.Equal(t, s.set("").Chart.Digest, tried.ProvidedDigest, "what somebody tries out was asked for")
}

func TestPlatformAt_RestoresPolicyOfRevision(t *testing.T) {
	s := newSystem(t)
	of := func(policy string) *Platform {
		s.install(map[string]string{PolicyKey: policy})
		now, _ := s.update()
		return now
	}
	none, tagged := of(""), of("images: {requireTag: true}")
	require.NotEqual(t, none.Revision, tagged.Revision)
	require.Equal(t, none.Revision, of("podSecurity: restricted # the default").Revision, "an upgrade that spells out defaults is no revision")
	require.Equal(t, tagged.Revision, of("images: {requireTag: true, requireDigest: false}\n# why").Revision)
	require.Equal(t, tagged.Revision, of("imags: {}").Revision, "the last good one")

	then, err := s.catalog.PlatformAt(t.Context(), tagged.Content)
	require.NoError(t, err)
	require.True(t, then.Policy.Images.RequireTag)

	s.restart()
	now := of("imags: {}")
	require.Nil(t, now.Policy)
	require.True(t, s.catalog.Restore(tagged.Content, ""), "the last good one is stored")
	now, changes := s.update()
	require.Empty(t, changes)
	require.Equal(t, tagged.Policy.Digest, now.Policy.Digest)
	require.Equal(t, tagged.Revision, now.Revision)
	require.Error(t, now.PolicyErr)
	require.False(t, s.catalog.Restore(none.Content, ""), "it is had already")

	tagged.Content.Values.Data[PolicyKey] = `{"imags": {}}`
	_, err = s.catalog.PlatformAt(t.Context(), tagged.Content)
	var gone *fleet.RecordError
	require.ErrorAs(t, err, &gone)
	require.ErrorContains(t, err, "imags: unknown key")
}

// The largest accepted policy can be stored and restored, although its stored form is larger than the limit of values.
func TestPlatformAt_RestoresLargestPolicy(t *testing.T) {
	s := newSystem(t)
	var hosts strings.Builder
	hosts.WriteString("vector: {hosts: {allow: [")
	for i := range 25_000 {
		fmt.Fprintf(&hosts, "h%05d-%s.x,", i, strings.Repeat("a", 10))
	}
	hosts.WriteString("a]}}")
	s.install(map[string]string{PolicyKey: hosts.String()})
	now, _ := s.update()
	require.NoError(t, now.PolicyErr)
	require.Greater(t, len(now.Content.Values.Data[PolicyKey]), bounded.Values().Bytes)

	parts, whole, err := now.Content.Records("vector-system", "environments", 1)
	require.NoError(t, err)
	stored := map[string]*appsv1.ControllerRevision{whole.Name: whole}
	for i := range parts {
		stored[parts[i].Name] = &parts[i]
	}
	read, err := fleet.ReadContent("environments", now.Revision, func(name string) (*appsv1.ControllerRevision, error) { return stored[name], nil })
	require.NoError(t, err)
	then, err := s.catalog.PlatformAt(t.Context(), read)
	require.NoError(t, err)
	require.Equal(t, now.Policy.Digest, then.Policy.Digest)
}
