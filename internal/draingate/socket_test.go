// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package draingate

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func keeper(t *testing.T) (*Socket, *bytes.Buffer) {
	t.Helper()
	said := &bytes.Buffer{}
	return &Socket{Path: filepath.Join(t.TempDir(), "s"), Log: slog.New(slog.NewTextHandler(said, nil))}, said
}

// listen is a Vector that is killed when what it returns is called: its file stays.
func listen(t *testing.T, path string) (kill func()) {
	t.Helper()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	listener.SetUnlinkOnClose(false)
	t.Cleanup(func() { _ = listener.Close() })
	return func() { require.NoError(t, listener.Close()) }
}

// Vector was killed and left its Unix socket, so that the next Vector cannot listen. The drain gate removes the socket,
// but no socket with a listener.
func TestSocket_RemovesLeftoverOfKilledVector(t *testing.T) {
	t.Parallel()
	socket, said := keeper(t)
	kill := listen(t, socket.Path)
	socket.removeIfLeft()
	socket.removeIfLeft()
	require.FileExists(t, socket.Path, "somebody listens")

	kill()
	_, err := net.Listen("unix", socket.Path)
	require.ErrorContains(t, err, "address already in use", "why it has to go")
	socket.removeIfLeft()
	require.FileExists(t, socket.Path, "it may have been created just now")
	socket.removeIfLeft()
	require.NoFileExists(t, socket.Path)
	require.Contains(t, said.String(), "removed the socket of a killed Vector")

	listen(t, socket.Path)
	socket.removeIfLeft()
	socket.removeIfLeft()
	require.FileExists(t, socket.Path, "of the next one")
}

// Between two checks, a new socket replaces the old one at the same path. The drain gate keeps it.
func TestSocket_KeepsNewSocket(t *testing.T) {
	t.Parallel()
	socket, _ := keeper(t)
	listen(t, socket.Path)()
	socket.removeIfLeft()
	require.NoError(t, os.Rename(socket.Path, socket.Path+".old"))
	kill := listen(t, socket.Path)
	socket.removeIfLeft()
	require.FileExists(t, socket.Path)
	kill()
	socket.removeIfLeft()
	require.FileExists(t, socket.Path, "it was looked at once since")
}

// A regular file at the path of the socket is not removed.
func TestSocket_KeepsRegularFile(t *testing.T) {
	t.Parallel()
	socket, said := keeper(t)
	socket.removeIfLeft()
	require.NoError(t, os.WriteFile(socket.Path, nil, 0o600))
	socket.removeIfLeft()
	socket.removeIfLeft()
	require.FileExists(t, socket.Path)

	require.NoError(t, os.Remove(socket.Path))
	elsewhere := socket.Path + ".elsewhere"
	listen(t, elsewhere)()
	require.NoError(t, os.Symlink(elsewhere, socket.Path))
	socket.removeIfLeft()
	socket.removeIfLeft()
	require.FileExists(t, elsewhere)
	require.Empty(t, said.String())
}

// The drain gate checks repeatedly for a leftover socket, until its context is canceled.
func TestRemoveLeftovers_ChecksUntilCanceled(t *testing.T) {
	t.Parallel()
	socket, _ := keeper(t)
	listen(t, socket.Path)()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		socket.RemoveLeftovers(ctx)
	}()
	require.Eventually(t, func() bool {
		_, err := os.Lstat(socket.Path)
		return os.IsNotExist(err)
	}, 30*time.Second, 50*time.Millisecond)
	stop()
	<-ended
}

// The listeners of Unix sockets are read from the kernel.
func TestSocket_ReadsListenersOfKernel(t *testing.T) {
	t.Parallel()
	socket, _ := keeper(t)
	kill := listen(t, socket.Path)
	if _, err := os.Stat(socketTable); err == nil {
		require.True(t, isListedAsListening(socket.Path), "or Vector would write a line each time")
	}
	require.False(t, isListedAsListening(filepath.Dir(socket.Path)))
	kill()
	require.False(t, isListedAsListening(socket.Path))
	require.True(t, socket.isLeftover())
}
