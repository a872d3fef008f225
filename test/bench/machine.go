// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// machine describes the machine of a run, and its load before.
func machine() string {
	return fmt.Sprintf("%s, %d cores of %s, %s of memory, Linux %s, %s; load averages before: %s",
		time.Now().Format(time.DateOnly), runtime.NumCPU(),
		cmp.Or(line("/proc/cpuinfo", "model name"), runtime.GOARCH), line("/proc/meminfo", "MemTotal"),
		strings.TrimSpace(text("/proc/sys/kernel/osrelease")), runtime.Version(), load())
}

// load returns the load averages of the last 1, 5 and 15 minutes.
func load() string {
	fields := strings.Fields(text("/proc/loadavg"))
	return strings.Join(fields[:min(3, len(fields))], ", ")
}

// line returns the value of the first line of a file that starts with a key.
func line(file, key string) string {
	for l := range strings.Lines(text(file)) {
		if name, value, found := strings.Cut(l, ":"); found && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// text returns the content of a file; "" if it does not exist.
func text(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return string(content)
}
