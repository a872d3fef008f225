// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command zones prints the names of the time zones that Go has, which are those of Vector:
// make time-zones. The zones themselves, 400 KiB, are not needed to check a name.
package main

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// head is the comment of the table.
const head = `# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0
`

func main() {
	text, err := table()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
}

// table has a line for each zone, in the order of the alphabet.
func table() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("asking go for its folder: %w", err)
	}
	zones, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return "", fmt.Errorf("reading Go's time zones: %w", err)
	}
	defer zones.Close()
	var names []string
	for _, one := range zones.File {
		if !one.FileInfo().IsDir() {
			names = append(names, one.Name)
		}
	}
	slices.Sort(names)
	return head + strings.Join(names, "\n") + "\n", nil
}
