// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
)

// forbidding is an API server that answers only the request for its version.
func forbidding(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if request.URL.Path == "/version" {
			_, _ = fmt.Fprint(w, `{"major":"1","minor":"36","gitVersion":"v1.36.0"}`)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"you may not"}`)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestNewCheck_ReportsMissingPermissions(t *testing.T) {
	server := forbidding(t)
	var out, notes bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &notes}

	code := Run(t.Context(), []string{"check", "--server", server.URL, "--kubeconfig", "/dev/null"}, streams, Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")

	require.Equal(t, 2, code, "%s%s", &out, &notes)
	require.Contains(t, out.String(), "unknown operator: ")
	require.Contains(t, notes.String(), "could not run")
}

// groups returns the commands that have subcommands, each as it is written after the program's name.
func groups(command *cobra.Command, path ...string) (all [][]string) {
	if !command.HasSubCommands() {
		return nil
	}
	all = append(all, slices.Clone(path))
	for _, one := range command.Commands() {
		all = append(all, groups(one, append(slices.Clip(path), one.Name())...)...)
	}
	return all
}

// Each command exits with code 2 if it cannot do its task, for example because the API server denies requests or the
// arguments are invalid.
func TestExitError_ReturnsCodeTwoForFailedCommands(t *testing.T) {
	server := forbidding(t)
	for _, arguments := range [][]string{
		{"check"}, {"diff"}, {"eject"}, {"explain", "cart"}, {"get"}, {"inject", "-f", "none.yaml", "--sidecar", "none.yaml"}, {"plan"},
		{"reconcile", "--all"}, {"render", "cart"}, {"tree"},
	} {
		t.Run(arguments[0], func(t *testing.T) {
			var out, notes bytes.Buffer
			streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &notes}
			code := Run(t.Context(), append(arguments, "--server", server.URL, "--kubeconfig", "/dev/null"), streams, Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")
			require.Equal(t, 2, code, "%s%s", &out, &notes)
		})
	}
	wrong := groups(New(genericiooptions.NewTestIOStreamsDiscard(), Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test"))
	for i := range wrong {
		wrong[i] = append(wrong[i], "nothing")
	}
	require.Contains(t, wrong, []string{"rollout", "nothing"})
	for _, arguments := range append(wrong, [][]string{
		{"render", "--nothing"}, {"explain"}, {"docs", "Nothing"}, {"schema", "--templates", "none"}, {"completion", "none"},
		{"version", "nothing"}, {"lint", "none"}, {"test", "none"},
	}...) {
		t.Run(arguments[0]+" with a wrong argument", func(t *testing.T) {
			var out bytes.Buffer
			code := Run(t.Context(), arguments, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out}, Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")
			require.Equal(t, 2, code, "%s", &out)
		})
	}
}
