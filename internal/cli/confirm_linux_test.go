// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal returns both ends of a pseudo-terminal: the user's and the program's.
func terminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, program.Close())
		require.NoError(t, user.Close())
	})
	return user, program
}

// On a terminal, rollout undo asks for confirmation. It annotates the values only after the answer y or yes.
func TestApp_ConfirmsUndoOnTerminal(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		want   int
	}{
		"yes": {"yes\n", 0}, "y": {"Y\n", 0}, "no": {"n\n", 2}, "only enter": {"\n", 2}, "end of the input": {"", 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newUndoFleet(t, nil, halted())
			app, out, _ := f.start(t)
			user, program := terminal(t)
			app.ErrOut, app.In = program, bytes.NewBufferString(test.answer)
			require.Equal(t, test.want, app.run(t.Context(), []string{"rollout", "undo"}))
			shown := make([]byte, 4096)
			n, err := user.Read(shown)
			require.NoError(t, err)
			require.Contains(t, string(shown[:n]), "revision "+f.c+" is undone (3 VectorSidecars would change)? [y/N] ")
			require.Equal(t, test.want == 0, bytes.Contains(out.Bytes(), []byte("configmap/values annotated: ")))
		})
	}
}
