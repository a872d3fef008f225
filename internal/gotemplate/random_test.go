// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
	"kontroloop.ai/vector-sidecar-operator/test/random"
)

// targets differ from each other in one or more fields.
func targets() []map[string]any {
	all := []map[string]any{cart(), cart()}
	for _, change := range []func(map[string]any){
		func(target map[string]any) { target["name"] = "card" },
		func(target map[string]any) { target["name"] = "" },
		func(target map[string]any) { delete(target, "name") },
		func(target map[string]any) { target["name"] = map[string]any{"a": "b"} },
		func(target map[string]any) { target["kind"] = "StatefulSet" },
		func(target map[string]any) { target["labels"] = map[string]any{} },
		func(target map[string]any) { target["labels"] = map[string]any{"team": "shop"} },
		func(target map[string]any) { target["labels"] = map[string]any{"team": "shops", "tier": "web"} },
		func(target map[string]any) { target["labels"] = map[string]any{"team": "shop", "other": "web"} },
		func(target map[string]any) { target["annotations"] = map[string]any{"team": "shop"} },
		func(target map[string]any) { target["containers"] = []any{} },
		func(target map[string]any) { target["containers"] = []any{map[string]any{"name": "other"}} },
		func(target map[string]any) { target["containers"] = append(cart()["containers"].([]any), "b") },
		func(target map[string]any) { target["none"] = []any{1} },
		func(target map[string]any) { target["other"] = "x" },
		func(target map[string]any) { delete(target, "null") },
	} {
		one := cart()
		change(one)
		all = append(all, one)
	}
	return all
}

// For random templates, two workloads with equal reported reads have the same rendering.
func TestExecuteWatched_ReportsReadsOfRandomTemplates(t *testing.T) {
	sets := 1000
	if testing.Short() || raceDetector {
		sets = 100
	}
	compiled, shared := 0, 0
	for seed := range sets {
		g := random.New(rand.New(rand.NewPCG(1, uint64(seed))))
		text, helpers := g.Template(), g.Helpers()
		set, err := gotemplate.Compile(map[string]string{"c/templates/a.yaml": text, "c/templates/_h.tpl": helpers}, gotemplate.Options{Watch: watched})
		require.NoError(t, err, "%s\n%s", text, helpers)
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Logf("%s\n%s", text, helpers)
			n := requireReadsTell(t, set, targets())
			if shared += n; n > 1 { // Two of them are the same.
				compiled++
			}
		}) {
			return
		}
	}
	t.Logf("%d of %d sets, with %d pairs of targets", compiled, sets, shared)
	require.Greater(t, compiled, sets/2, "else little is compared")
}
