// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarchart

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// A golden file beside the templates would else change what it is compared with.
func TestTheTestsOfAChartAreNoPartOfIt(t *testing.T) {
	source := fstest.MapFS{"templates/tests/a.yaml": {Data: []byte("a")}}
	alone, err := Read(source)
	require.NoError(t, err)
	require.Len(t, alone, 1)
	source["tests/cart.golden"] = &fstest.MapFile{Data: []byte("b")}
	beside, err := Read(source)
	require.NoError(t, err)
	require.Equal(t, alone.digest(), beside.digest())
}
