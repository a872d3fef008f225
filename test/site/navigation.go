// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// navigation returns the generator's setting of this name. Each heading of the index is a section with the pages that
// the index links to below it. A page is in the first section that links to it.
func navigation(index string) []byte {
	var setting bytes.Buffer
	setting.WriteString("nav = [\n  \"README.md\",\n")
	seen := map[string]bool{"README.md": true}
	for _, section := range strings.Split(index, "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		var pages []string
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target, _, _ := strings.Cut(match[1], "#")
			page, isOnSite := sitePath(path.Join("docs", target))
			if isOnSite && path.Ext(page) == ".md" && !seen[page] {
				seen[page] = true
				pages = append(pages, fmt.Sprintf("%q", page))
			}
		}
		fmt.Fprintf(&setting, "  {%q = [%s]},\n", title, strings.Join(pages, ", "))
	}
	setting.WriteString("]\n")
	return setting.Bytes()
}
