// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// FileLimits are the limits for all files of a folder or an archive together.
type FileLimits struct {
	// Subject is the name of the files in messages, such as "the chart".
	Subject string
	// Bytes is the maximum size of all files together, unpacked.
	Bytes int
	// Files is the maximum number of files, including folders and other entries of an archive.
	Files int
	// Path is the maximum length of a path in bytes.
	Path int
}

// largestStream is the maximum size in bytes of a file with many documents.
const largestStream = 64 << 20

// ReadStream reads a file with many documents, such as the manifests of an application. Each document has its own limits.
func ReadStream(reader io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(reader, largestStream+1))
	if err == nil && len(text) > largestStream {
		err = fmt.Errorf("the file has more than %d bytes: split it", largestStream)
	}
	return text, err
}

// Unzip unpacks a text that was packed by gzip. It returns an *Error if the unpacked text is larger than
// Limits.Bytes.
func (l Limits) Unzip(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(reader, int64(l.Bytes)+1))
	if err == nil && len(text) > l.Bytes {
		err = newError(Bytes, "make it smaller", "%s has more than %d bytes unpacked", l.Subject, l.Bytes)
	}
	return text, err
}

// Chart returns the limits of a sidecar chart.
func Chart() FileLimits {
	return FileLimits{Subject: "the chart", Bytes: 4 << 20, Files: 1000, Path: 1 << 10}
}

// ReadFolder reads the files of a folder by their relative path, except the excluded ones. It rejects all entries that are
// not files or folders. Symlinks are followed if the file system follows them.
func (l FileLimits) ReadFolder(fsys fs.FS, skip func(path string, entry fs.DirEntry) bool) (map[string][]byte, error) {
	collector := l.newCollector()
	err := fs.WalkDir(fsys, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || path == ".":
			return err
		case skip(path, entry) && entry.IsDir():
			return fs.SkipDir
		case skip(path, entry):
			return nil
		}
		if err := collector.countFile(path); err != nil || entry.IsDir() {
			return err
		}
		return collector.addFile(fsys, path)
	})
	if err != nil {
		return nil, err
	}
	return collector.files, nil
}

// ReadArchive reads the files of a .tgz that contains one folder, by their path in that folder.
func (l FileLimits) ReadArchive(packed []byte) (map[string][]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	collector := l.newCollector()
	reader := tar.NewReader(io.LimitReader(unzipped, int64(2*l.Bytes+l.Files*perFile)))
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) && collector.listed > 0 {
			return collector.files, nil
		}
		if err != nil {
			return nil, err
		}
		if err := collector.countFile(header.Name); err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue // Folders and links.
		}
		_, path, inFolder := strings.Cut(header.Name, "/")
		if !inFolder || !fs.ValidPath(path) {
			return nil, fmt.Errorf("%s has a file %q outside of its directory", l.Subject, header.Name)
		}
		if err := collector.addContent(path, reader); err != nil {
			return nil, err
		}
	}
}

// perFile is the number of bytes that the archive adds for each file, for example for its header.
const perFile = 2 << 10

// ReadFile reads one file of a folder.
func (l FileLimits) ReadFile(fsys fs.FS, path string) ([]byte, error) {
	collector := l.newCollector()
	err := collector.addFile(fsys, path)
	return collector.files[path], err
}

// fileCollector reads files up to the limits.
type fileCollector struct {
	FileLimits

	files     map[string][]byte
	listed    int
	remaining int
}

func (l FileLimits) newCollector() *fileCollector {
	return &fileCollector{FileLimits: l, files: map[string][]byte{}, remaining: l.Bytes}
}

// countFile counts an entry of a folder or an archive. It returns an error if there are too many, or if the path is
// too long.
func (t *fileCollector) countFile(path string) error {
	t.listed++
	switch {
	case t.listed > t.Files:
		return fmt.Errorf("%s has more than %d files: remove files that do not belong to it", t.Subject, t.Files)
	case len(path) > t.Path:
		return fmt.Errorf("%s has a file whose path is longer than %d bytes, %.40q…: shorten it", t.Subject, t.Path, path)
	}
	return nil
}

// addFile reads a file of a file system, following symlinks.
func (t *fileCollector) addFile(fsys fs.FS, path string) error {
	info, err := fs.Stat(fsys, path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("path %s is neither a file nor a directory: remove it", path)
	}
	file, err := fsys.Open(path)
	if err != nil {
		return err
	}
	err = t.addContent(path, file)
	return errors.Join(err, file.Close())
}

// addContent reads the content of a file, and returns an error if all files together are too large.
func (t *fileCollector) addContent(path string, reader io.Reader) error {
	content, err := io.ReadAll(io.LimitReader(reader, int64(t.remaining)+1))
	if err != nil {
		return fmt.Errorf("reading %q: %w", path, err)
	}
	if t.remaining -= len(content); t.remaining < 0 {
		return fmt.Errorf("%s is larger than %d bytes: remove files that do not belong to it", t.Subject, t.Bytes)
	}
	t.files[path] = content
	return nil
}
