// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package draingate

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// anyFolders is the part of a pattern that matches any number of directories.
const anyFolders = "**"

// expandGlob returns the paths that match a pattern of Vector: * ? [a-z] [!a-z], and ** for directories. If a folder
// cannot be read, it returns an error together with the other matches. The function path.Match supports neither **
// nor [!a].
func expandGlob(pattern string) ([]string, error) {
	w := walk{}
	w.visitFolder("/", strings.Split(strings.TrimPrefix(path.Clean(pattern), "/"), "/"))
	return w.paths, errors.Join(w.errors...)
}

// walk collects the matching paths, and the errors of folders that could not be read.
type walk struct {
	paths  []string
	errors []error
}

// visitFolder adds the paths below a folder that match the remaining segments of a pattern.
func (w *walk) visitFolder(folder string, segments []string) {
	if len(segments) == 0 {
		w.paths = append(w.paths, folder)
		return
	}
	segment, remaining := segments[0], segments[1:]
	if !strings.ContainsAny(segment, "*?[") {
		if target := path.Join(folder, segment); len(remaining) > 0 || exists(target) {
			w.visitFolder(target, remaining)
		}
		return
	}
	if segment == anyFolders && len(remaining) > 0 {
		w.visitFolder(folder, remaining)
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.errors = append(w.errors, err)
	}
	for _, entry := range entries {
		target := path.Join(folder, entry.Name())
		switch {
		case segment == anyFolders && (entry.IsDir() || isFolderEntry(entry, target)):
			w.visitFolder(target, segments)
		case segment == anyFolders && len(remaining) == 0:
			w.visitFolder(target, remaining)
		case segment != anyFolders && matches([]rune(segment), []rune(entry.Name())) && (len(remaining) == 0 || isFolder(target)):
			w.visitFolder(target, remaining)
		}
	}
}

// isFolderEntry reports whether an entry is a link to a directory that Vector also searches, because
// Vector follows links. A link to a directory that contains the link is skipped, because it adds no
// files.
func isFolderEntry(entry fs.DirEntry, link string) bool {
	if entry.Type() != fs.ModeSymlink {
		return false
	}
	target, err := os.Stat(link)
	if err != nil || !target.IsDir() {
		return false
	}
	for folder := path.Dir(link); ; folder = path.Dir(folder) {
		if around, err := os.Stat(folder); err != nil || os.SameFile(around, target) {
			return false
		}
		if folder == "/" {
			return true
		}
	}
}

// exists reports whether a file exists. It also returns true if that is unknown because of an error.
func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// isFolder reports whether a name is a folder. It follows links, and returns false for an error.
func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// matches reports whether a pattern matches the whole text. A * also matches slashes, as in Vector's exclude
// patterns.
func matches(pattern, text []rune) bool {
	for len(pattern) > 0 {
		switch head := pattern[0]; {
		case strings.HasPrefix(string(pattern), anyFolders+"/"):
			for i := range text {
				if (i == 0 || text[i-1] == '/') && matches(pattern[3:], text[i:]) {
					return true
				}
			}
			return false
		case head == '*':
			for i := range len(text) + 1 {
				if matches(pattern[1:], text[i:]) {
					return true
				}
			}
			return false
		case len(text) == 0:
			return false
		case head == '[':
			length, ok := matchClass(pattern, text[0])
			if !ok {
				return false
			}
			pattern, text = pattern[length:], text[1:]
		case head != '?' && head != text[0]:
			return false
		default:
			pattern, text = pattern[1:], text[1:]
		}
	}
	return len(text) == 0
}

// matchClass returns the length of the character class at the start of a pattern, and whether a
// character is in it. A class without an end contains no characters.
func matchClass(pattern []rune, r rune) (length int, isMember bool) {
	i, isNot := 1, false
	if len(pattern) > 1 && pattern[1] == '!' {
		i, isNot = 2, true
	}
	for start := i; i < len(pattern) && (pattern[i] != ']' || i == start); i++ {
		if i+2 < len(pattern) && pattern[i+1] == '-' && pattern[i+2] != ']' {
			isMember = isMember || pattern[i] <= r && r <= pattern[i+2]
			i += 2
			continue
		}
		isMember = isMember || pattern[i] == r
	}
	return i + 1, i < len(pattern) && isMember != isNot
}
