// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearest_SuggestsSimilarName(t *testing.T) {
	keys := []string{"image", "imagePullPolicy", "name", "native"}
	for name, want := range map[string]string{
		"imagee":          "image",
		"iamge":           "image",
		"anme":            "name",
		"imagePullPolice": "imagePullPolicy",
		"volumes":         "",
		"x":               "",
		"":                "",
	} {
		require.Equal(t, want, Nearest(name, keys), "nearest to %q", name)
	}
}

// The suggested name does not depend on the order of the candidates.
func TestNearest_IgnoresOrderOfCandidates(t *testing.T) {
	require.Equal(t, Nearest("cat", []string{"bat", "car"}), Nearest("cat", []string{"car", "bat"}))
}
