// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// entry is a released program: a line of downloads.tsv, its fields separated by tabs.
type entry struct {
	name, version, platform, url string
	// digest is sha256:HEX or sha512:HEX.
	digest string
}

func (e entry) String() string {
	return strings.Join([]string{e.name, e.version, e.platform, e.url, e.digest}, "\t")
}

// readEntries reads the entries of a file. Empty lines and comments are ignored.
func readEntries(file string) ([]entry, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 5 {
			return nil, fmt.Errorf("reading %s: %q has %d fields; expected name, version, platform, URL and digest, separated by tabs", file, line, len(fields))
		}
		entries = append(entries, entry{fields[0], fields[1], fields[2], fields[3], fields[4]})
	}
	return entries, nil
}

// install downloads the entry, checks its digest, and writes the program. If the URL is that of an archive, member is
// the name of the program in it. An error leaves nothing behind.
func (e entry) install(ctx context.Context, member, program string) error {
	content, err := fetch(ctx, e.url)
	if err != nil {
		return err
	}
	algorithm, _, _ := strings.Cut(e.digest, ":")
	digest, err := digestOf(algorithm, content)
	if err != nil {
		return fmt.Errorf("checking %s: %w", e.url, err)
	}
	if digest != e.digest {
		return fmt.Errorf("checking %s: digest is %s; expected %s; not installed", e.url, digest, e.digest)
	}
	if strings.HasSuffix(e.url, ".tar.gz") {
		if content, err = unpack(content, member); err != nil {
			return fmt.Errorf("unpacking %s: %w", e.url, err)
		}
	}
	// A rename replaces the program at once, even while it is running.
	part := filepath.Join(filepath.Dir(program), "."+filepath.Base(program)+".part")
	if err := os.WriteFile(part, content, 0o755); err != nil {
		return errors.Join(err, os.RemoveAll(part))
	}
	if err := os.Rename(part, program); err != nil {
		return errors.Join(err, os.RemoveAll(part))
	}
	fmt.Printf("downloaded %s %s: %s matches\n", e.name, e.version, algorithm)
	return nil
}

// digestOf returns the digest of a content with the name of its algorithm.
func digestOf(algorithm string, content []byte) (string, error) {
	switch algorithm {
	case "sha256":
		sum := sha256.Sum256(content)
		return "sha256:" + hex.EncodeToString(sum[:]), nil
	case "sha512":
		sum := sha512.Sum512(content)
		return "sha512:" + hex.EncodeToString(sum[:]), nil
	}
	return "", fmt.Errorf("digest algorithm %q is neither sha256 nor sha512", algorithm)
}

// fetch returns the content of a URL.
func fetch(ctx context.Context, url string) (_ []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept-Encoding", "identity") // The digest is that of the file as it is published.
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("downloading: %w", err) // The error names the URL.
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("downloading %s: %s", url, response.Status)
	}
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("downloading %s: %w", url, err)
	}
	return content, nil
}

// unpack returns the content of a program in an archive. It rejects an archive with a path outside of its folder.
func unpack(archive []byte, member string) ([]byte, error) {
	uncompressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	var content []byte
	for files := tar.NewReader(uncompressed); ; {
		header, err := files.Next()
		switch {
		case errors.Is(err, io.EOF) && content != nil:
			return content, nil
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("the archive has no program %q", member)
		case err != nil:
			return nil, err
		case !filepath.IsLocal(header.Name):
			return nil, fmt.Errorf("path %q is outside of the archive", header.Name)
		case header.Typeflag == tar.TypeReg && path.Base(header.Name) == member:
			if content, err = io.ReadAll(files); err != nil {
				return nil, err
			}
		}
	}
}
