// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// sources is the address of the repository's files, for links to files that the site does not have.
const sources = "https://github.com/kontroloop-ai/vector-sidecar-operator/"

// moved lists the pages outside docs, and their paths on the site.
var moved = map[string]string{
	"README.md":    "introduction.md",
	"CHANGELOG.md": "changelog.md",
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// sitePath returns the path on the site of a file of the repository.
func sitePath(name string) (string, bool) {
	if to, ok := moved[name]; ok {
		return to, true
	}
	return strings.CutPrefix(name, "docs/")
}

// rewriteLinks returns a page whose relative links lead to pages of the site, or to files of the repository. It
// returns an error if a link leads to no file.
func rewriteLinks(repository fs.FS, name string, text []byte) ([]byte, error) {
	var page bytes.Buffer
	var errFirst error
	isFenced := false
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("```")) {
			isFenced = !isFenced
		}
		if !isFenced {
			line = link.ReplaceAllFunc(line, func(match []byte) []byte {
				target, err := siteLink(repository, name, string(match[2:len(match)-1]))
				if err != nil && errFirst == nil {
					errFirst = err
				}
				return []byte("](" + target + ")")
			})
		}
		page.Write(line)
	}
	return page.Bytes(), errFirst
}

// siteLink returns the target on the site of a link on a page of the repository.
func siteLink(repository fs.FS, page, target string) (string, error) {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "#") {
		return target, nil
	}
	file, anchor, hasAnchor := strings.Cut(target, "#")
	if hasAnchor {
		anchor = "#" + anchor
	}
	name := path.Join(path.Dir(page), file)
	info, err := fs.Stat(repository, name)
	if err != nil {
		return "", fmt.Errorf("checking link %q of %s: %w", target, page, err)
	}
	to, isOnSite := sitePath(name)
	if info.IsDir() {
		return sources + "tree/main/" + name + anchor, nil
	}
	if !isOnSite {
		return sources + "blob/main/" + name + anchor, nil
	}
	from, _ := sitePath(page)
	relative, err := filepath.Rel(path.Dir(from), to)
	return filepath.ToSlash(relative) + anchor, err
}
