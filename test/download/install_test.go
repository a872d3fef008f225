// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// serve serves files by name on loopback. A file whose name starts with "cut-" ends after its first byte.
func serve(t *testing.T, files map[string][]byte) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		content, ok := files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		if strings.HasPrefix(name, "cut-") {
			content = content[:1]
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// archive returns a tar.gz archive with a file of each path.
func archive(t *testing.T, content string, paths ...string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	compressed := gzip.NewWriter(&buffer)
	files := tar.NewWriter(compressed)
	for _, path := range paths {
		require.NoError(t, files.WriteHeader(&tar.Header{Name: path, Mode: 0o755, Size: int64(len(content))}))
		_, err := io.WriteString(files, content)
		require.NoError(t, err)
	}
	require.NoError(t, files.Close())
	require.NoError(t, compressed.Close())
	return buffer.Bytes()
}

func digest(t *testing.T, algorithm string, content []byte) string {
	t.Helper()
	made, err := digestOf(algorithm, content)
	require.NoError(t, err)
	return made
}

// An entry is installed only if its download is complete and has the digest of the entry. An error leaves nothing behind,
// and the program that was there before.
func TestInstall_RequiresDigest(t *testing.T) {
	program := []byte("program")
	files := map[string][]byte{
		"tool": program, "cut-tool": program,
		"tool.tar.gz":   archive(t, "program", "linux/README", "linux/tool"),
		"escape.tar.gz": archive(t, "program", "tool", "../tool"),
		"other.tar.gz":  archive(t, "program", "linux/other"),
		"bad.tar.gz":    program,
	}
	url := serve(t, files)
	for name, test := range map[string]struct {
		file, digest string
		fails        string
	}{
		"SHA-256":                   {file: "tool", digest: digest(t, "sha256", program)},
		"SHA-512":                   {file: "tool", digest: digest(t, "sha512", program)},
		"archive":                   {file: "tool.tar.gz", digest: digest(t, "sha256", files["tool.tar.gz"])},
		"wrong SHA-256":             {"tool", digest(t, "sha256", nil), "digest is " + digest(t, "sha256", program) + "; expected " + digest(t, "sha256", nil)},
		"wrong SHA-512":             {"tool", digest(t, "sha512", nil), "digest is " + digest(t, "sha512", program) + "; expected " + digest(t, "sha512", nil)},
		"wrong digest of archive":   {"tool.tar.gz", digest(t, "sha256", program), "digest is "},
		"other algorithm":           {"tool", "md5:00", `"md5" is neither sha256 nor sha512`},
		"interrupted":               {"cut-tool", digest(t, "sha256", program), "unexpected EOF"},
		"not found":                 {"none", digest(t, "sha256", program), "404 Not Found"},
		"path outside of archive":   {"escape.tar.gz", digest(t, "sha256", files["escape.tar.gz"]), `path "../tool" is outside of the archive`},
		"archive without program":   {"other.tar.gz", digest(t, "sha256", files["other.tar.gz"]), `no program "tool"`},
		"archive in another format": {"bad.tar.gz", digest(t, "sha256", program), "unpacking "},
	} {
		t.Run(name, func(t *testing.T) {
			bin := filepath.Join(t.TempDir(), "bin")
			require.NoError(t, os.Mkdir(bin, 0o755))
			to := filepath.Join(bin, "tool")
			require.NoError(t, os.WriteFile(to, []byte("before"), 0o755))

			err := entry{name: "tool", version: "v1", url: url + test.file, digest: test.digest}.install(t.Context(), "tool", to)

			installed, readErr := os.ReadFile(to)
			require.NoError(t, readErr)
			left, readErr := os.ReadDir(filepath.Dir(bin))
			require.NoError(t, readErr)
			require.Len(t, left, 1)
			left, readErr = os.ReadDir(bin)
			require.NoError(t, readErr)
			require.Len(t, left, 1)
			if test.fails != "" {
				require.ErrorContains(t, err, test.fails)
				require.ErrorContains(t, err, url+test.file)
				require.Equal(t, "before", string(installed))
				return
			}
			require.NoError(t, err)
			require.Equal(t, program, installed)
			info, err := os.Stat(to)
			require.NoError(t, err)
			require.NotZero(t, info.Mode()&0o111)
		})
	}
}

func TestReadEntries_RejectsOtherLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "downloads.tsv")
	require.NoError(t, os.WriteFile(file, []byte("# comment\n\nhelm\tv3\tlinux/amd64\tu\td\n"), 0o600))
	entries, err := readEntries(file)
	require.NoError(t, err)
	require.Equal(t, []entry{{"helm", "v3", "linux/amd64", "u", "d"}}, entries)

	require.NoError(t, os.WriteFile(file, []byte("helm v3 linux/amd64\n"), 0o600))
	_, err = readEntries(file)
	require.ErrorContains(t, err, `"helm v3 linux/amd64" has 1 fields`)
}
