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

// Socket is the file that Vector listens at. Vector creates it, ends where there is one already,
// and removes it when it is told to end, but not when it is killed.
type Socket struct {
	Path string
	Log  *slog.Logger

	// left is the file that nobody listened at when it was last looked at, nil for none.
	left fs.FileInfo
}

const (
	// lookInterval is how often a socket is looked at. The kubelet waits for ten seconds before
	// it starts a container again that ended twice.
	lookInterval = 2 * time.Second
	// dialTimeout bounds how long a listener is asked for.
	dialTimeout = time.Second
	// socketTable lists the sockets of the pod's network namespace.
	socketTable = "/proc/net/unix"
	// acceptsConnections is the flag of a socket that is listened at, in socketTable.
	acceptsConnections = 0x10000
)

// Keep looks at the socket until the context is over, and removes it when nobody has listened
// at it twice in a row: between its creation and the moment it is listened at nobody does.
func (s *Socket) Keep(ctx context.Context) {
	ticks := time.NewTicker(lookInterval)
	defer ticks.Stop()
	for {
		s.look()
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// look removes the socket if it is the one that was found to be left last time, and still is.
// Nobody can have begun to listen there since: a socket is not bound where a file is.
func (s *Socket) look() {
	before := s.left
	s.left = nil
	found, err := os.Lstat(s.Path)
	if err != nil || found.Mode().Type() != fs.ModeSocket || !s.isLeft() {
		return
	}
	if before == nil || !os.SameFile(before, found) || !before.ModTime().Equal(found.ModTime()) {
		s.left = found
		return
	}
	if err := os.Remove(s.Path); err != nil {
		s.Log.Error("Vector cannot start: the socket of one that was killed cannot be removed", "path", s.Path, "error", err.Error())
		return
	}
	s.Log.Warn("Removed the socket that a Vector left when it was killed", "path", s.Path)
}

// isLeft tells whether nobody listens at the socket. It is only asked for a connection, of which
// Vector writes a line, where the kernel does not list it.
func (s *Socket) isLeft() bool {
	if isListedAsListening(s.Path) {
		return false
	}
	connection, err := net.DialTimeout("unix", s.Path, dialTimeout)
	if err == nil {
		_ = connection.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// isListedAsListening tells whether the kernel has a listener that was bound to the path. Not
// every kernel tells.
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
