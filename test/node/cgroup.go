// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// hierarchies are the folders where cgroups are mounted: one for each controller of
// version 1, and the one of version 2, which may exist in addition.
func hierarchies() ([]string, error) {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, fmt.Errorf("looking for cgroups: %w", err)
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) > 2 && strings.HasPrefix(fields[1], "/sys/fs/cgroup") && (fields[2] == "cgroup" || fields[2] == "cgroup2") {
			found = append(found, fields[1])
		}
	}
	return found, nil
}

// makeCgroups makes a run's cgroup in each hierarchy.
func makeCgroups(name string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, hierarchy := range all {
		dir := filepath.Join(hierarchy, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("making a cgroup: %w", err)
		}
		if err := inherit(hierarchy, dir); err != nil {
			return err
		}
	}
	return nil
}

// inherit gives a cgroup what one has to have before it takes processes: in version 1
// processors and memory, in version 2 controllers for those below.
func inherit(parent, dir string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(parent, file))
		if err != nil {
			continue // It is not the hierarchy of cpuset.
		}
		if err := os.WriteFile(filepath.Join(dir, file), value, 0o600); err != nil { //nolint:gosec // below a folder that the kernel has told
			return fmt.Errorf("giving a cgroup its %s: %w", file, err)
		}
	}
	controllers, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return nil //nolint:nilerr // version 1 has no such file
	}
	for _, controller := range strings.Fields(string(controllers)) {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0o600); err != nil { //nolint:gosec // as above
			return fmt.Errorf("giving a cgroup controller %q: %w", controller, err)
		}
	}
	return nil
}

// removeCgroups removes a run's cgroups, and waits until their last processes are gone,
// which the kernel ends in its own time.
func removeCgroups(name string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	until := time.Now().Add(removalTimeout)
	for _, hierarchy := range all {
		for {
			err := removeTree(filepath.Join(hierarchy, name))
			if err == nil {
				break
			}
			if !errors.Is(err, syscall.EBUSY) || time.Now().After(until) {
				return err
			}
			<-time.After(20 * time.Millisecond)
		}
	}
	return nil
}

// removeTree removes cgroups from below: a folder of one is removed with the files in it.
func removeTree(dir string) error {
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
