// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// generations is the number of rotated files to keep. A slow reader does not lose files.
const generations = 10

// target is where lines go: files of a folder, in turns, each rotated when it is full.
type target struct {
	dir, name, header, rotation string
	files, size, every          int
	mode                        uint
	writers                     []*bufio.Writer
	handles                     []*os.File
	inFile                      []int
}

func (t *target) path(i int) string {
	if t.files == 1 {
		return filepath.Join(t.dir, t.name+".log")
	}
	return filepath.Join(t.dir, fmt.Sprintf("%s-%d.log", t.name, i))
}

// open opens the files, and returns the highest number in those that are there.
func (t *target) open() (count int, err error) {
	all, err := filepath.Glob(filepath.Join(t.dir, t.name+"*.log*"))
	if err != nil {
		return 0, err
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		for line := range bytes.Lines(text) {
			if fields := strings.Fields(string(line)); len(fields) > 1 && fields[0] == t.name {
				number, _ := strconv.Atoi(fields[1]) // Of a line that was cut in two, it is less.
				count = max(count, number)
			}
		}
	}
	t.writers, t.handles, t.inFile = make([]*bufio.Writer, t.files), make([]*os.File, t.files), make([]int, t.files)
	for i := range t.files {
		if err := t.create(i); err != nil {
			return 0, err
		}
	}
	return count, nil
}

func (t *target) create(i int) error {
	file, err := os.OpenFile(t.path(i), os.O_CREATE|os.O_APPEND|os.O_WRONLY, os.FileMode(t.mode)) //nolint:gosec // of nine bits
	if err != nil {
		return err
	}
	t.handles[i], t.writers[i], t.inFile[i] = file, bufio.NewWriterSize(file, 1<<17), 0
	if info, err := file.Stat(); err != nil || info.Size() > 0 || t.header == "" {
		return err
	}
	_, err = fmt.Fprintln(t.writers[i], t.header)
	return err
}

// line writes a numbered line, "" or "\n" at its end.
func (t *target) line(number int, end string) error {
	i := number % t.files
	if t.rotation != "" && t.inFile[i] >= t.every {
		if err := t.rotate(i); err != nil {
			return fmt.Errorf("rotating %s: %w", t.path(i), err)
		}
	}
	t.inFile[i]++
	text := t.name + " " + strconv.Itoa(number)
	if missing := t.size - len(text) - 1; missing > 0 {
		text += " " + strings.Repeat("x", missing)
	}
	if _, err := t.writers[i].WriteString(text + end); err != nil {
		return err
	}
	if end == "" {
		return t.writers[i].Flush()
	}
	return nil
}

func (t *target) flush() error {
	var all []error
	for _, each := range t.writers {
		all = append(all, each.Flush())
	}
	return errors.Join(all...)
}

func (t *target) close() {
	for _, each := range t.handles {
		_ = each.Close()
	}
}

// rotate makes room in a file, as its kind of rotation does.
func (t *target) rotate(i int) error {
	if err := t.writers[i].Flush(); err != nil {
		return err
	}
	path := t.path(i)
	switch t.rotation {
	case "truncate":
		text, err := os.ReadFile(path)
		if err == nil {
			err = t.shift(path)
		}
		if err == nil {
			err = os.WriteFile(path+".1", text, 0o644) //nolint:gosec // another user reads it
		}
		t.inFile[i] = 0
		return errors.Join(err, t.handles[i].Truncate(0))
	case "recreate":
		<-time.After(3 * time.Second) // Who reads has read it by then: it is about the inode.
		if err := errors.Join(t.handles[i].Close(), os.Remove(path)); err != nil {
			return err
		}
	default:
		if err := errors.Join(t.handles[i].Close(), t.shift(path), os.Rename(path, path+".1")); err != nil {
			return err
		}
	}
	return t.create(i)
}

// shift makes path.1 free. Where rotated files are compressed, the one that was it is.
func (t *target) shift(path string) error {
	suffix := ""
	if t.rotation == "compress" {
		suffix = ".gz"
		if err := squeeze(path + ".1"); err != nil {
			return err
		}
	}
	for n := generations; n > 0; n-- {
		err := os.Rename(fmt.Sprintf("%s.%d%s", path, n, suffix), fmt.Sprintf("%s.%d%s", path, n+1, suffix))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(fmt.Sprintf("%s.%d%s", path, generations+1, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// squeeze replaces a file, if there is one, by its compressed form.
func squeeze(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var small bytes.Buffer
	w := gzip.NewWriter(&small)
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path+".gz", small.Bytes(), 0o644), os.Remove(path))
}
