// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// noLimit is at most what cgroup v1 reports for a group without a limit; cgroup v2 reports
// the word max.
const noLimit = math.MaxInt64 / 2

// containerMemory returns the memory limit of the process's cgroup and its parents in bytes,
// 0 if there is none. root is the root file system.
func containerMemory(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0 // Not on Linux.
	}
	least := int64(noLimit)
	for line := range strings.Lines(string(text)) {
		// A line is NUMBER:CONTROLLERS:GROUP; CONTROLLERS is empty in cgroup v2.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[1] == "":
			least = min(least, leastAbove(root, "sys/fs/cgroup", parts[2], "memory.max"))
		case strings.Contains(","+parts[1]+",", ",memory,"):
			least = min(least, leastAbove(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	if least >= noLimit {
		return 0
	}
	return least
}

// leastAbove returns the smallest limit of a group and its parents. A container may see the
// host's group names but only its own group's files: then its limit is at the top.
func leastAbove(root fs.FS, mount, group, file string) int64 {
	least := int64(noLimit)
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		text, err := fs.ReadFile(root, path.Join(mount, at, file))
		if limit, failure := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && failure == nil {
			least = min(least, limit)
		}
		if at == "/" {
			return least
		}
	}
}
