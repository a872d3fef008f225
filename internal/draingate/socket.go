// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package draingate

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Socket removes a socket that Vector listens on after its Vector was killed. Vector creates the
// socket, and exits if the file exists already. Vector removes it when it is terminated, but not
// when it is killed.
type Socket struct {
	Path string
	Log  *slog.Logger

	// leftover is the file that had no listener at the last check, nil if there was a listener or no
	// file.
	leftover fs.FileInfo
}

const (
	// lookInterval is the time between two checks of a socket. It is short because the kubelet
	// waits for ten seconds before it restarts a container that ended twice.
	lookInterval = 2 * time.Second
	// dialTimeout limits the attempt to connect to a listener.
	dialTimeout = time.Second
	// socketTable lists the sockets of the pod's network namespace.
	socketTable = "/proc/net/unix"
	// acceptsConnections is the flag of a listening socket in socketTable.
	acceptsConnections = 0x10000
)

// RemoveLeftovers checks the socket until the context is done, and removes it after two consecutive checks
// without a listener. One check is not enough, because a new socket has no listener for a moment.
func (s *Socket) RemoveLeftovers(ctx context.Context) {
	ticks := time.NewTicker(lookInterval)
	defer ticks.Stop()
	for {
		s.removeIfLeft()
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// removeIfLeft removes the socket if it had no listener at the last check and still has none. No process
// can have started to listen since then, because a socket cannot be bound where a file exists.
func (s *Socket) removeIfLeft() {
	previous := s.leftover
	s.leftover = nil
	info, err := os.Lstat(s.Path)
	if err != nil || info.Mode().Type() != fs.ModeSocket || !s.isLeftover() {
		return
	}
	if previous == nil || !os.SameFile(previous, info) || !previous.ModTime().Equal(info.ModTime()) {
		s.leftover = info
		return
	}
	if err := os.Remove(s.Path); err != nil {
		s.Log.Error("cannot remove the socket of a killed Vector", "path", s.Path, "error", err.Error())
		return
	}
	s.Log.Warn("removed the socket of a killed Vector", "path", s.Path)
}

// isLeftover reports whether the socket has no listener. It connects only if the kernel does not list a
// listener, because Vector logs each connection.
func (s *Socket) isLeftover() bool {
	if isListedAsListening(s.Path) {
		return false
	}
	connection, err := net.DialTimeout("unix", s.Path, dialTimeout)
	if err == nil {
		_ = connection.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// isListedAsListening reports whether the kernel lists a listener that is bound to the path. Some
// kernels do not list listeners.
func isListedAsListening(path string) bool {
	table, err := os.Open(socketTable)
	if err != nil {
		return false
	}
	defer func() { _ = table.Close() }()
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		// Number, references, protocol, flags, type, state, inode, path.
		fields := strings.Fields(lines.Text())
		if len(fields) != 8 || fields[7] != path {
			continue
		}
		flags, err := strconv.ParseUint(fields[3], 16, 64)
		if err == nil && flags&acceptsConnections != 0 {
			return true
		}
	}
	return false
}
