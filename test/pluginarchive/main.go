// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command pluginarchive writes directories as archives DIRECTORY.tar.gz. Equal files and times give equal archives: names
// are sorted, owners and the names of files in the headers of gzip are left out.
//
//	go run ./test/pluginarchive -time UNIX DIRECTORY...
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

func main() {
	unix := flag.Int64("time", 0, "the time of all files, in seconds since 1970")
	flag.Parse()
	for _, directory := range flag.Args() {
		if err := write(directory, time.Unix(*unix, 0).UTC()); err != nil {
			fmt.Fprintf(os.Stderr, "writing an archive of %s: %v\n", directory, err)
			os.Exit(1)
		}
	}
}

// write writes the archive of a directory.
func write(directory string, modified time.Time) error {
	var archive bytes.Buffer
	compressed, _ := gzip.NewWriterLevel(&archive, gzip.BestCompression) // The level is valid.
	files := tar.NewWriter(compressed)
	// WalkDir sorts by name.
	err := filepath.WalkDir(directory, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return add(files, directory, file, modified)
	})
	if err := errors.Join(err, files.Close(), compressed.Close()); err != nil {
		return err
	}
	return os.WriteFile(directory+".tar.gz", archive.Bytes(), 0o644)
}

// add adds a file of a directory. The name in the archive starts with the name of the directory.
func add(archive *tar.Writer, directory, file string, modified time.Time) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(directory, file)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	header := &tar.Header{Name: path.Join(filepath.Base(directory), filepath.ToSlash(relative)), Size: int64(len(text)), Mode: 0o644, ModTime: modified}
	if info.Mode()&0o111 != 0 {
		header.Mode = 0o755
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = archive.Write(text)
	return err
}
