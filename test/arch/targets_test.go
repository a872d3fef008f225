// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	selectedTests = regexp.MustCompile(`-(?:test\.)?(?:run|skip) '?([^'\s]+)'?`)
	testedFolder  = regexp.MustCompile(`(?:\./|cd )(test/[\w/]*\w)`)
)

// Each test pattern of a Makefile target matches a test. Otherwise, go test runs nothing and passes.
func TestArch_SelectsExistingTestsInTargets(t *testing.T) {
	declared := map[string][]string{} // by folder
	files(t, func(name string, text []byte) {
		if strings.HasSuffix(name, "_test.go") {
			for _, match := range declaredTest.FindAllSubmatch(text, -1) {
				declared[path.Dir(name)] = append(declared[path.Dir(name)], string(match[1]))
			}
		}
	})
	targets := strings.Fields(`go-test-envtest go-test-envtest-alone1 go-test-envtest-alone2 go-test-cli go-test-cli-operator go-test-docs
		go-test-docs-commands go-test-chart go-test-chart-webhook corpus test-vector test-node`)
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), "make", "--no-print-directory", "--dry-run", target)
			command.Dir = root
			recipe, err := command.Output()
			require.NoError(t, err)
			patterns := 0
			for line := range strings.Lines(string(recipe)) {
				for _, match := range selectedTests.FindAllStringSubmatch(line, -1) {
					folders := testedFolder.FindAllStringSubmatch(line, -1)
					require.NotEmpty(t, folders, line)
					patterns++
					top, _, _ := strings.Cut(match[1], "/") // Subtests are not declared.
					for pattern := range strings.SplitSeq(strings.NewReplacer("^(", "", ")$", "").Replace(top), "|") {
						require.True(t, matchesAny(pattern, declared[folders[len(folders)-1][1]]), "%s selects tests by %q, which matches none of %s", target, pattern, folders)
					}
				}
			}
			require.NotZero(t, patterns)
		})
	}
}

// matchesAny reports whether a pattern matches one of the names.
func matchesAny(pattern string, names []string) bool {
	for _, name := range names {
		if matched, err := regexp.MatchString(pattern, name); err == nil && matched {
			return true
		}
	}
	return false
}
