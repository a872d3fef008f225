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

// ticks is the number of clock ticks of the kernel per second (USER_HZ).
const ticks = 100

// CPU returns the CPU time that a process has used so far, as the kernel reports it.
func CPU(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the account of process %d: %w", pid, err)
	}
	// The name of the program, in parentheses, may contain spaces.
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

// Memory returns a line of a process's memory status, in bytes: VmRSS, the resident memory, or VmHWM, its maximum
// since the start or since ForgetMost.
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

// ForgetMost resets the maximum memory of a process.
func ForgetMost(pid int) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return fmt.Errorf("forgetting the most memory of process %d: %w", pid, err)
	}
	return nil
}
