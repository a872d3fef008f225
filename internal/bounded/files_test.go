// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func none(string, fs.DirEntry) bool { return false }

func few() FileLimits { return FileLimits{Subject: "the chart", Bytes: 100, Files: 4, Path: 20} }

func TestReadFolder_RejectsOversizedDirectories(t *testing.T) {
	file := func(size int) *fstest.MapFile { return &fstest.MapFile{Data: make([]byte, size)} }
	for name, test := range map[string]struct {
		folder fstest.MapFS
		want   string
	}{
		"all is well":    {fstest.MapFS{"a/b": file(50), "c": file(50)}, ""},
		"too many bytes": {fstest.MapFS{"a": file(50), "b": file(51)}, "the chart is larger than 100 bytes: remove files that do not belong to it"},
		"too many files": {fstest.MapFS{"a": file(1), "b": file(1), "c": file(1), "d": file(1), "e": file(1)}, "the chart has more than 4 files"},
		"a long path":    {fstest.MapFS{strings.Repeat("a", 21): file(1)}, "longer than 20 bytes"},
		"no file":        {fstest.MapFS{"a": {Mode: fs.ModeNamedPipe}}, "a is neither a file nor a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := few().ReadFolder(test.folder, none)
			if test.want != "" {
				require.ErrorContains(t, err, test.want)
				return
			}
			require.NoError(t, err)
			require.Len(t, files, 2)
		})
	}
	files, err := few().ReadFolder(fstest.MapFS{"a/b": file(500), "c": file(1), "d": file(500)}, func(path string, _ fs.DirEntry) bool { return path == "a" || path == "d" })
	require.NoError(t, err, "what is left out does not count")
	require.Len(t, files, 1)
}

// A symlink to a file outside of the directory is an error.
func TestReadFolder_RejectsLinksOutOfDirectory(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(inside, "file"), []byte("y"), 0o600))
	require.NoError(t, os.Symlink("file", filepath.Join(inside, "link")))
	root, err := os.OpenRoot(inside)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()

	files, err := few().ReadFolder(root.FS(), none)
	require.NoError(t, err)
	require.Equal(t, "y", string(files["link"]))

	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(inside, "out")))
	_, err = few().ReadFolder(root.FS(), none)
	require.ErrorContains(t, err, "out")
}

func packed(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	writer := tar.NewWriter(zipped)
	for i := range headers {
		require.NoError(t, writer.WriteHeader(&headers[i]))
		_, err := writer.Write(make([]byte, headers[i].Size))
		require.NoError(t, err)
	}
	require.NoError(t, writer.Close())
	require.NoError(t, zipped.Close())
	return archive.Bytes()
}

func TestReadArchive_RejectsOversizedArchives(t *testing.T) {
	file := func(name string, size int64) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: size}
	}
	for name, test := range map[string]struct {
		packed []byte
		want   string
	}{
		"all is well":    {packed(t, file("x/a", 50), file("x/b/c", 50)), ""},
		"too many bytes": {packed(t, file("x/a", 50), file("x/b", 51)), "the chart is larger than 100 bytes"},
		"too many files": {packed(t, file("x/a", 1), file("x/b", 1), file("x/c", 1), file("x/d", 1), file("x/e", 1)), "more than 4 files"},
		"a long path":    {packed(t, file("x/"+strings.Repeat("a", 19), 1)), "longer than 20 bytes"},
		"a way out":      {packed(t, file("x/../../a", 1)), "outside of its directory"},
		"no archive":     {[]byte("x"), "EOF"},
		"nothing":        {packed(t), "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := FileLimits{Subject: "the chart", Bytes: 100, Files: 4, Path: 20}.ReadArchive(test.packed)
			if test.want != "" {
				require.ErrorContains(t, err, test.want)
				return
			}
			require.NoError(t, err)
			require.Len(t, files, 2)
		})
	}
	bomb := packed(t, file("x/a", 60<<20))
	used := allocated(func() {
		_, err := Chart().ReadArchive(bomb)
		require.ErrorContains(t, err, "larger than 4194304 bytes")
	})
	require.LessOrEqual(t, used, uint64(24*mebibyte))
}
