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

// noLimit is what the first version of control groups says of a group without a limit,
// or more; the second one says so in a word.
const noLimit = math.MaxInt64 / 2

// containerMemory is how much memory the process's control group and those above it allow,
// in bytes; 0 if they set no limit. root is the file system of the machine.
func containerMemory(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0 // It is not Linux.
	}
	least := int64(noLimit)
	for line := range strings.Lines(string(text)) {
		// Each is NUMBER:CONTROLLERS:GROUP, without controllers in the second version.
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

// leastAbove is the least limit of a group and those above it. A container that sees the
// groups of its machine by name, and by file only its own, has its limit at the top.
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
