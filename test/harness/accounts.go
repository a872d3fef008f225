// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks is how many units of the kernel's accounts make a second (USER_HZ).
const ticks = 100

// CPU is the processor time that a process has used so far, by the kernel's
// account of it.
func CPU(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the account of process %d: %w", pid, err)
	}
	// The name of the program, in brackets, may hold spaces.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("reading the account of process %d: %q", pid, text)
	}
	var used time.Duration
	for _, field := range fields[11:13] { // utime and stime
		count, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the account of process %d: %w", pid, err)
		}
		used += time.Duration(count) * time.Second / ticks
	}
	return used, nil
}

// Memory is a line of a process's account of memory, in bytes: VmRSS, what is
// resident, or VmHWM, the most that ever was, or was since ForgetMost.
func Memory(pid int, line string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	for l := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(l, line+":"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("reading the memory of process %d: no line %s", pid, line)
}

// ForgetMost has the account of a process begin anew with the most memory that ever was.
func ForgetMost(pid int) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return fmt.Errorf("forgetting the most memory of process %d: %w", pid, err)
	}
	return nil
}
