// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// standing is a scenario without a base, and given its own files.
const standing = given + `-- want.yaml --
image: vector:1
level: info
replicas: 2
`

const given = `# It stands alone.
-- workload.yaml --
replicas: 2
-- vectorsidecar.yaml --
spec:
  level: info
-- environment --
staging
`

// folder writes files into a new folder and returns it.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return root
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(text)
}

// A scenario names a base. It has the files of the base, except those that it contains itself or changes by a
// difference.
func TestLoad_InheritsFilesOfBase(t *testing.T) {
	root := folder(t, map[string]string{
		"base.txtar": standing,
		// By name it would come first; it is the base of the base.
		"a/../a.txtar": "# Another level, and a\n# kube-version.\nbase: sub/b.txtar\n-- vectorsidecar.diff --\n~  level: warn\n-- kube-version --\nv1.30\n-- want.diff --\n~level: warn\n",
		"sub/b.txtar":  "base: c.txtar\n-- want.diff --\n",
		"sub/c.txtar":  strings.Replace(standing, "replicas: 2", "replicas: 3", 2),
	})

	found, err := Load(root)

	require.NoError(t, err)
	var names []string
	for _, one := range found {
		names = append(names, filepath.ToSlash(strings.TrimPrefix(one.Name, root)))
		require.Equal(t, root, one.loadedFrom)
	}
	require.Equal(t, []string{"/sub/c", "/sub/b", "/a", "/base"}, names, "a base comes first")
	a := found[2]
	require.Equal(t, "Another level, and a kube-version.", a.Story)
	require.Equal(t, map[string][]byte{
		Workload: []byte("replicas: 3\n"), Sidecar: []byte("spec:\n  level: warn\n"),
		Environment: []byte("staging\n"), KubeVersion: []byte("v1.30\n"),
	}, a.Files())
	outcome := "image: vector:1\nlevel: warn\nreplicas: 3\n"
	differences, err := a.Compare(Outcome{Text: outcome})
	require.NoError(t, err)
	require.Empty(t, differences)
	differences, err = a.Compare(Outcome{Text: "level: debug\n"})
	require.NoError(t, err)
	require.Equal(t, []Difference{{
		Name: "want.yaml (" + filepath.Join(root, "sub", "b.txtar") + " with want.diff)", Expected: outcome, Actual: "level: debug\n",
	}}, differences, "what differs is shown as a whole")
}

// A scenario does not inherit the expectations of its base.
func TestLoad_KeepsExpectationsOfBaseSeparate(t *testing.T) {
	root := folder(t, map[string]string{"base.txtar": standing + "-- expect.yaml --\n[]\n", "one.txtar": "base: base.txtar\n"})
	found, err := Load(filepath.Join(root, "one.txtar"))
	require.NoError(t, err)
	require.Len(t, found, 1, "the base is read and not tested")
	for _, name := range []string{WantYAML, Expectations} {
		_, isThere := found[0].File(name)
		require.False(t, isThere, name)
	}
}

// The flag --update writes the expected outcome of a scenario as a difference to its base, if that is shorter than the
// whole outcome.
func TestUpdate_WritesDifferenceIfShorter(t *testing.T) {
	root := folder(t, map[string]string{
		"base.txtar":  standing,
		"one.txtar":   "base: base.txtar\n-- want.yaml --\nall of it\n",
		"same.txtar":  "base: base.txtar\n",
		"fails.txtar": "base: base.txtar\n-- want.diff --\n~level: warn\n",
		"other.txtar": "base: base.txtar\n-- want.diff --\n-gone\n",
		"parts.txtar": "base: base.txtar\n-- expect.yaml --\n- {path: '{.kind}', exists: true}\n",
		"after.txtar": "base: fails.txtar\n",
	})
	outcomes := map[string]Outcome{
		"base":  {Text: "image: vector:2\nlevel: info\nreplicas: 2\n"},
		"one":   {Text: "image: vector:2\nlevel: debug\nreplicas: 2\n"},
		"same":  {Text: "image: vector:2\nlevel: info\nreplicas: 2\n"},
		"fails": {Failed: true, Text: "no\n"},
		"other": {Text: "another: thing\n"},
		"parts": {Text: "kind: Deployment\n"},
		"after": {Text: "image: vector:2\n"},
	}
	found, err := Load(root)
	require.NoError(t, err, "a difference of the outcome that does not fit can be written anew")
	for _, one := range found {
		require.NoError(t, one.Update(outcomes[filepath.Base(one.Name)]))
	}
	for name, want := range map[string]string{
		"base":  strings.Replace(standing, "vector:1", "vector:2", 1),
		"one":   "base: base.txtar\n-- want.diff --\n~level: debug\n",
		"same":  "base: base.txtar\n-- want.diff --\n",
		"fails": "base: base.txtar\n-- want-error --\nno\n",
		"other": "base: base.txtar\n-- want.yaml --\nanother: thing\n",
		"parts": "base: base.txtar\n-- expect.yaml --\n- {path: '{.kind}', exists: true}\n",
		"after": "base: fails.txtar\n-- want.yaml --\nimage: vector:2\n",
	} {
		require.Equal(t, want, read(t, root, name+".txtar"), name)
	}
	again, err := Load(root)
	require.NoError(t, err)
	for _, one := range again {
		differences, err := one.Compare(outcomes[filepath.Base(one.Name)])
		require.NoError(t, err)
		require.Empty(t, differences, one.Name)
	}
}

func TestLoad_RejectsInvalidBase(t *testing.T) {
	const rest = "\n-- want.diff --\n"
	for name, test := range map[string]struct {
		files map[string]string
		names []string
	}{
		"there is none":              {map[string]string{"one.txtar": "base: gone.txtar" + rest}, []string{"one.txtar: base \"gone.txtar\" does not exist"}},
		"nothing is named":           {map[string]string{"one.txtar": "base:" + rest}, []string{"one.txtar: base \"\" does not have the file extension .txtar"}},
		"two are named":              {map[string]string{"one.txtar": "base: a.txtar\nbase: b.txtar" + rest}, []string{"one.txtar: the scenario has 2 bases"}},
		"a folder":                   {map[string]string{"one.txtar": "base: sub" + rest, "sub/workload.yaml": ""}, []string{"one.txtar: base \"sub\" does not have the file extension .txtar"}},
		"a folder by its name":       {map[string]string{"one.txtar": "base: sub.txtar" + rest, "sub.txtar/x": ""}, []string{"sub.txtar", "directory"}},
		"above its folder":           {map[string]string{"one.txtar": "base: ../other.txtar" + rest}, []string{"one.txtar: base \"../other.txtar\" is outside the directory of the scenario"}},
		"an absolute path":           {map[string]string{"one.txtar": "base: /etc/other.txtar" + rest}, []string{"is outside the directory of the scenario"}},
		"itself":                     {map[string]string{"one.txtar": "base: one.txtar" + rest}, []string{"cycle of bases: ", "one.txtar → ", "remove \"base:\""}},
		"a cycle":                    {map[string]string{"one.txtar": "base: two.txtar" + rest, "two.txtar": "base: sub/../one.txtar" + rest, "sub/x": ""}, []string{"two.txtar: cycle of bases: ", "one.txtar → "}},
		"a base that is broken":      {map[string]string{"one.txtar": "base: two.txtar" + rest, "two.txtar": standing + "-- x --\n"}, []string{"two.txtar: file \"x\" is not one of"}},
		"a difference without one":   {map[string]string{"one.txtar": given + "-- want.diff --\n"}, []string{"one.txtar: file \"want.diff\" is a difference, but the scenario has no base", "base: FILE.txtar"}},
		"a file and its difference":  {map[string]string{"one.txtar": "base: two.txtar\n-- workload.yaml --\n-- workload.diff --\n", "two.txtar": standing}, []string{"one.txtar: files \"workload.yaml\" and \"workload.diff\" both exist"}},
		"an error and a difference":  {map[string]string{"one.txtar": "base: two.txtar\n-- want-error --\n-- want.diff --\n", "two.txtar": standing}, []string{"one.txtar: files want.diff and want-error exist"}},
		"neither has what must be":   {map[string]string{"one.txtar": "base: two.txtar\n", "two.txtar": "-- workload.yaml --\n"}, []string{"two.txtar: file \"vectorsidecar.yaml\" is missing"}},
		"an input that does not fit": {map[string]string{"one.txtar": "# Two\n# lines.\nbase: two.txtar\n-- environment --\nqa\n-- workload.diff --\n+a: 1\n~replica: 3\n", "two.txtar": standing}, []string{"one.txtar:8: difference workload.diff does not fit the base ", "two.txtar, because the base has no line \"replica: 3\"", "or write the whole file workload.yaml"}},
		"an input that is not there": {map[string]string{"one.txtar": "base: two.txtar\n-- values.diff --\n", "two.txtar": standing}, []string{"one.txtar:2: difference values.diff does not fit the base ", "the base has no values.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(filepath.Join(folder(t, test.files), "one.txtar"))
			for _, names := range test.names {
				require.ErrorContains(t, err, names)
			}
			require.NotContains(t, err.Error(), "\n", "it is one error")
		})
	}
}

func TestLoad_RejectsBaseOutsideDirectory(t *testing.T) {
	elsewhere := folder(t, map[string]string{"two.txtar": standing})
	root := folder(t, map[string]string{"one.txtar": "base: two.txtar\n", "three.txtar": "base: sub/two.txtar\n"})
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "two.txtar"), filepath.Join(root, "two.txtar")))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(root, "sub")))
	for _, name := range []string{"one.txtar", "three.txtar"} {
		_, err := Load(filepath.Join(root, name))
		require.ErrorContains(t, err, "is outside the directory of the scenario")
	}
}

// A scenario is a symlink. Its base is searched in the directory of the link, not in that of the target.
func TestLoad_FindsBaseNextToLink(t *testing.T) {
	elsewhere := folder(t, map[string]string{"one.txtar": "base: two.txtar\n"})
	root := folder(t, map[string]string{"two.txtar": standing})
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "one.txtar"), filepath.Join(root, "one.txtar")))
	found, err := Load(root)
	require.NoError(t, err)
	require.Len(t, found, 2)
	_, err = Load(elsewhere)
	require.ErrorContains(t, err, "base \"two.txtar\" does not exist")
}

// A directory contains a symlink to itself, so that one file has endlessly many paths. Loading ends with an error.
func TestLoad_RejectsCyclesThroughLinks(t *testing.T) {
	root := folder(t, map[string]string{"one.txtar": "base: again/one.txtar\n"})
	require.NoError(t, os.Symlink(".", filepath.Join(root, "again")))
	_, err := Load(root)
	require.ErrorContains(t, err, "cycle of bases")
}

// The expected outcome is a difference to the base of the scenario, but its lines do not fit the base. The error has
// the position and the fix.
func TestCompare_ReportsDifferenceThatDoesNotFitBase(t *testing.T) {
	for name, test := range map[string]struct{ base, names string }{
		"the base has another line": {standing, ":4: difference want.diff does not fit the base "},
		"the base fails":            {given + "-- want-error --\nno\n", ":2: difference want.diff does not fit the base "},
	} {
		t.Run(name, func(t *testing.T) {
			root := folder(t, map[string]string{"two.txtar": test.base, "one.txtar": "base: two.txtar\n-- want.diff --\n~level: warn\n-replicas: 3\n"})
			found, err := Load(filepath.Join(root, "one.txtar"))
			require.NoError(t, err)
			_, err = found[0].Compare(Outcome{Text: "x\n"})
			require.ErrorContains(t, err, filepath.Join(root, "one.txtar")+test.names)
			require.ErrorContains(t, err, "--update rewrites the difference")
		})
	}
}

func TestLoad_ReadsEachScenarioOnce(t *testing.T) {
	root := folder(t, map[string]string{"base.txtar": standing, "one.txtar": "base: base.txtar\n"})
	one, base := filepath.Join(root, "one.txtar"), filepath.Join(root, "base.txtar")

	found, err := Load(one, base, root)

	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, []string{base, one}, []string{found[0].loadedFrom, found[1].loadedFrom})
	require.Same(t, found[0], found[1].base, "what is written of the base is there for the other")
}
