// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorprogram_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorprogram"
)

// This test is the stand-in for Vector as well: by the name that it is started with.
func TestMain(m *testing.M) {
	behave, isStandIn := behaviors[filepath.Base(os.Args[0])]
	if !isStandIn {
		os.Exit(m.Run())
	}
	if len(os.Args) == 2 && os.Args[1] == "--version" && filepath.Base(os.Args[0]) != "other" {
		fmt.Println("vector 0.57.0 (stand-in)")
		return
	}
	behave(os.Args[1:])
}

// behaviors of stand-ins when they are asked something.
var behaviors = map[string]func(arguments []string){
	"other":   func([]string) { fmt.Println("other 1.2.3") },
	"accepts": func([]string) {},
	"hangs":   func([]string) { select {} },
	"prints": func([]string) {
		line := []byte(strings.Repeat("x", 1023) + "\n")
		for range 100 << 10 {
			_, _ = os.Stdout.Write(line)
		}
	},
	"is killed": func([]string) {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	},
	"fails": func([]string) {
		fmt.Println("no such thing")
		os.Exit(1)
	},
	"refuses": func([]string) {
		fmt.Print("Failed to load [\"a\"]\n-----\nx unknown field `codex`\n\nin `sinks.out`\n\n")
		os.Exit(78)
	},
	"lists": func(arguments []string) {
		var all []string
		for _, argument := range arguments {
			if info, err := os.Stat(argument); err == nil && info.IsDir() {
				var files []string
				_ = filepath.WalkDir(argument, func(path string, entry fs.DirEntry, err error) error {
					if err == nil && !entry.IsDir() {
						files = append(files, strings.TrimPrefix(path, argument+"/"))
					}
					return err
				})
				argument += "[" + strings.Join(files, ",") + "]"
			}
			all = append(all, argument)
		}
		text := regexp.MustCompile(`\S*/(a\.conf|directory)`).ReplaceAllString(strings.Join(all, " "), "$1")
		fmt.Print("x " + text)
		os.Exit(78)
	},
	"tells": func(arguments []string) {
		text, _ := os.ReadFile(arguments[len(arguments)-1])
		fmt.Printf("x %s | %s | %s", strings.Join(os.Environ(), ","), strings.Join(arguments[:len(arguments)-1], " "), strings.ReplaceAll(string(text), "\n", " "))
		os.Exit(78)
	},
}

// standIn opens a stand-in.
func standIn(t *testing.T, name string) *vectorprogram.Program {
	t.Helper()
	program, err := vectorprogram.Open(t.Context(), link(t, name))
	require.NoError(t, err)
	return program
}

func link(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Symlink(self, path))
	return path
}

// asked is a configuration for an image.
func asked(image, text string, env ...corev1.EnvVar) *desired.Validation {
	return &desired.Validation{
		Mode: vectorconfig.ValidateModeFor(image), DataDir: "/var/lib/vector",
		Configuration: []vectorconfig.File{{Name: "vector.yaml", Source: "here", Text: text}},
		Job: batchv1.Job{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "validate", Image: image, Env: env}},
		}}}},
	}
}

const image = "timberio/vector:0.57.0-alpine"

func TestOpen_RejectsOtherExecutables(t *testing.T) {
	_, err := vectorprogram.Open(t.Context(), link(t, "other"))
	require.ErrorContains(t, err, "other is not Vector, because the command ")
	require.ErrorContains(t, err, `ended with code 0 and printed "other 1.2.3"`)
	_, err = vectorprogram.Open(t.Context(), filepath.Join(t.TempDir(), "none"))
	require.ErrorContains(t, err, "finding Vector: ")
}

// A timeout, a signal, too much output or an unknown exit code of Vector is no result.
func TestValidate_ReturnsNoResultOnTimeoutOrSignal(t *testing.T) {
	for name, why := range map[string]string{
		"hangs":     "vector validate did not finish: timed out",
		"prints":    "vector validate did not finish: printed more than 1 MiB",
		"is killed": "vector validate did not finish: signal: killed",
		"fails":     `vector validate ended with code 1 and printed "no such thing"`,
	} {
		t.Run(name, func(t *testing.T) {
			program := standIn(t, name)
			if name == "hangs" {
				program.Timeout = 10 * time.Millisecond
			}
			answer, err := program.Validate(t.Context(), asked(image, "sinks: {}"))
			require.NoError(t, err)
			require.Equal(t, why, answer.Unable)
			require.Empty(t, answer.Findings)
		})
	}
}

// A message of Vector gets the position of the text in the configuration of the VectorSidecar.
func TestValidate_FindsPositionsOfMessages(t *testing.T) {
	answer, err := standIn(t, "refuses").Validate(t.Context(), asked(image, "sinks:\n  out: {type: console}\n"))
	require.NoError(t, err)
	require.Empty(t, answer.Unable)
	require.Len(t, answer.Findings, 1)
	require.Equal(t, "here:2:3: sinks.out: Vector says: unknown field `codex` in `sinks.out`; fix the reported fault; Vector reports one kind of fault at a time (VSC701)", answer.Findings[0].String())
}

func TestValidate_SkipsVectorOfOtherVersion(t *testing.T) {
	program := standIn(t, "accepts")
	answer, err := program.Validate(t.Context(), asked("vector:0.45.0", "sinks: {}"))
	require.NoError(t, err)
	require.Contains(t, answer.Unable, " is Vector 0.57, but image vector:0.45.0 has Vector 0.45; set --vector to a Vector 0.45 binary")
	for _, image := range []string{"vector:latest", "vector:0.57.1"} {
		answer, err := program.Validate(t.Context(), asked(image, "sinks: {}"))
		require.NoError(t, err)
		require.Empty(t, answer.Unable)
		require.NotEmpty(t, answer.Unchecked)
	}
}

// Vector gets the environment variables of the pod, and none of the plugin's own environment.
func TestValidate_PassesOnlyPodEnvironment(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "of the caller")
	text := "key: SECRET[backend.key]\nname: ${POD}\n"
	of := asked(image, text, corev1.EnvVar{Name: "REGION", Value: "eu"}, corev1.EnvVar{Name: "POD", ValueFrom: &corev1.EnvVarSource{}})

	answer, err := standIn(t, "tells").Validate(t.Context(), of)

	require.NoError(t, err)
	require.Len(t, answer.Findings, 1)
	said := answer.Findings[0].Message
	require.NotContains(t, said, "of the caller")
	require.Contains(t, said, "REGION=eu,POD=placeholder |")
	require.Contains(t, said, "HTTPS_PROXY=http://127.0.0.1:1,")
	require.Contains(t, said, "| validate --no-environment --skip-healthchecks |")
	require.Contains(t, said, "| key: placeholder name: ${POD}")
	require.Equal(t, []string{of.Mode.Unchecked, "POD, which are known only in the pod, so placeholders replace them", "the values of SECRET[…], which placeholders replace"}, answer.Unchecked)
}

// A configuration directory is passed to Vector as a directory. If a flag names the format, the files get its
// extension.
func TestProgram_ValidatesDirectories(t *testing.T) {
	of := asked(image, "")
	of.Configuration = []vectorconfig.File{
		{Name: "a.conf", Format: "yaml", Text: "data_dir: /x\n"},
		{Name: "b.yaml", Directory: "/conf", RelativePath: "b.yaml", Text: "b: 1\n"},
		{Name: "in.yaml", Directory: "/conf", RelativePath: "sources/in.yaml", Text: "type: stdin\n"},
		{Name: "c.yaml", Directory: "/more", RelativePath: "c.yaml", Text: "c: 1\n"},
	}
	answer, err := standIn(t, "lists").Validate(t.Context(), of)
	require.NoError(t, err)
	require.Len(t, answer.Findings, 1)
	require.Contains(t, answer.Findings[0].Message, "a.conf.yaml --config-dir directory-0[b.yaml,sources/in.yaml] --config-dir directory-1[c.yaml]")
}

// Before 0.57, Vector builds the components, which needs data_dir. The validation passes an empty directory.
func TestValidate_GivesEarlierVectorEmptyDataDir(t *testing.T) {
	for text, last := range map[string]string{"data_dir: /var/lib/vector/\nsinks: {}\n": "data_dir: /var/lib/vector/ sinks: {}", "sinks: {}\n": `data_dir: "/var/lib/vector"`} {
		of := asked("vector:latest", text)
		of.Mode = vectorconfig.ValidateModeFor("vector:0.56.0")
		answer, err := standIn(t, "tells").Validate(t.Context(), of)
		require.NoError(t, err)
		require.Contains(t, answer.Findings[0].Message, last, "it is called by the name that people know")
		require.Contains(t, answer.Findings[0].Message, "| validate --skip-healthchecks")
	}
}
