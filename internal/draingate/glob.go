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

// glob returns the paths that match a pattern of Vector: * ? [a-z] [!a-z], and ** for directories.
// With an error, it returns the matches found so far. path.Match supports neither ** nor [!a].
func glob(pattern string) ([]string, error) {
	w := walk{}
	w.below("/", strings.Split(strings.TrimPrefix(path.Clean(pattern), "/"), "/"))
	return w.found, errors.Join(w.errors...)
}

type walk struct {
	found  []string
	errors []error
}

func (w *walk) below(folder string, parts []string) {
	if len(parts) == 0 {
		w.found = append(w.found, folder)
		return
	}
	part, rest := parts[0], parts[1:]
	if !strings.ContainsAny(part, "*?[") {
		if at := path.Join(folder, part); len(rest) > 0 || exists(at) {
			w.below(at, rest)
		}
		return
	}
	if part == anyFolders && len(rest) > 0 {
		w.below(folder, rest)
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.errors = append(w.errors, err)
	}
	for _, entry := range entries {
		at := path.Join(folder, entry.Name())
		switch {
		case part == anyFolders && (entry.IsDir() || leadsOn(entry, at)):
			w.below(at, parts)
		case part == anyFolders && len(rest) == 0:
			w.below(at, rest)
		case part != anyFolders && matches([]rune(part), []rune(entry.Name())) && (len(rest) == 0 || isFolder(at)):
			w.below(at, rest)
		}
	}
}

// leadsOn reports whether an entry is a link to a directory that Vector also searches, because
// Vector follows links. A link to a directory that contains the link is skipped, because it adds no
// files.
func leadsOn(entry fs.DirEntry, at string) bool {
	if entry.Type() != fs.ModeSymlink {
		return false
	}
	target, err := os.Stat(at)
	if err != nil || !target.IsDir() {
		return false
	}
	for folder := path.Dir(at); ; folder = path.Dir(folder) {
		if around, err := os.Stat(folder); err != nil || os.SameFile(around, target) {
			return false
		}
		if folder == "/" {
			return true
		}
	}
}

func exists(at string) bool {
	_, err := os.Stat(at)
	return !errors.Is(err, fs.ErrNotExist)
}

func isFolder(at string) bool {
	info, err := os.Stat(at)
	return err == nil && info.IsDir()
}

// matches reports whether a pattern matches the whole text. A * also matches slashes, as in
// Vector's exclude patterns.
func matches(pattern, text []rune) bool {
	for len(pattern) > 0 {
		switch first := pattern[0]; {
		case strings.HasPrefix(string(pattern), anyFolders+"/"):
			for i := range text {
				if (i == 0 || text[i-1] == '/') && matches(pattern[3:], text[i:]) {
					return true
				}
			}
			return false
		case first == '*':
			for i := range len(text) + 1 {
				if matches(pattern[1:], text[i:]) {
					return true
				}
			}
			return false
		case len(text) == 0:
			return false
		case first == '[':
			length, is := class(pattern, text[0])
			if !is {
				return false
			}
			pattern, text = pattern[length:], text[1:]
		case first != '?' && first != text[0]:
			return false
		default:
			pattern, text = pattern[1:], text[1:]
		}
	}
	return len(text) == 0
}

// class returns the length of the character class at the start of a pattern, and whether a
// character is in it. A class without an end contains no characters.
func class(pattern []rune, r rune) (length int, is bool) {
	at, isNot := 1, false
	if len(pattern) > 1 && pattern[1] == '!' {
		at, isNot = 2, true
	}
	for first := at; at < len(pattern) && (pattern[at] != ']' || at == first); at++ {
		if at+2 < len(pattern) && pattern[at+1] == '-' && pattern[at+2] != ']' {
			is = is || pattern[at] <= r && r <= pattern[at+2]
			at += 2
			continue
		}
		is = is || pattern[at] == r
	}
	return at + 1, at < len(pattern) && is != isNot
}
