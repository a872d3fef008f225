// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorprogram

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// Answer is the result of Vector's check of a configuration.
type Answer struct {
	// Findings are the reasons why Vector rejects the configuration, and its failed unit tests.
	Findings []vectorconfig.Finding
	// Unable is the reason why Vector could not check the configuration; "" if it could.
	Unable string
	// Unchecked lists the parts that were not checked: phrases that start with "whether", and values that were replaced
	// by placeholders.
	Unchecked []string
	// Tested reports whether unit tests were run.
	Tested bool
}

// placeholder replaces values that are known only in the pod.
const placeholder = "placeholder"

// secretOf matches a reference to a secret. References are replaced because Vector would read the secret from its
// backend, and a backend may be a program.
var secretOf = regexp.MustCompile(`SECRET\[[^\]]*\]`)

// question is a configuration on disk, with the arguments and variables for Vector.
type question struct {
	folder string
	// files are the paths of the written files. args are the paths that Vector gets as arguments; some are
	// directories.
	files, args []string
	// env are the environment variables, as NAME=VALUE. unchecked is the start of Answer.Unchecked.
	env       []string
	unchecked []string
}

// Validate validates a configuration with Vector and runs its unit tests. Vector gets none of the caller's variables,
// and connects only to this machine. The error is not nil only if Vector could not be started, its files could not be
// written, or the context ended.
func (p *Program) Validate(ctx context.Context, validation *desired.Validation) (*Answer, error) {
	pod := &validation.Job.Spec.Template.Spec
	image := pod.Containers[0].Image
	if needed, programVersion, differs := vectorconfig.DifferentVersions(image, "vector:"+p.Version); differs {
		return &Answer{Unable: fmt.Sprintf("program %s is Vector %s, but image %s has Vector %s; set --vector to a Vector %s binary", p.path, programVersion, image, needed, needed)}, nil
	}
	folder, err := os.MkdirTemp("", "vectorsidecar-*")
	if err != nil {
		return nil, fmt.Errorf("running Vector: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // Nobody needs what is left.
	prepared, err := prepareQuestion(validation, folder)
	if err != nil {
		return nil, fmt.Errorf("running Vector: %w", err)
	}
	result, err := p.runVector(ctx, folder, prepared.env, slices.Concat(validation.Mode.Args, prepared.args)...)
	if err != nil {
		return nil, err
	}
	answer := &Answer{Unchecked: prepared.unchecked}
	switch reply := vectorconfig.ReadAnswer(result.code, result.printed); {
	case reply.Outcome == vectorconfig.Rejected:
		answer.Findings = desired.VectorReader.Rejections(validation.Configuration, prepared.originalNames(reply.Faults, validation.DataDir))
	case reply.Outcome == vectorconfig.NotJudged && len(reply.Faults) > 0:
		answer.Unable = reply.String()
	case reply.Outcome == vectorconfig.NotJudged:
		answer.Unable = "vector validate " + result.outputText()
	case desired.VectorReader.HasTests(validation.Configuration):
		return answer, p.runTests(ctx, validation, prepared, answer)
	}
	return answer, nil
}

// runTests runs the unit tests of a valid configuration, and adds the results to the answer.
func (p *Program) runTests(ctx context.Context, validation *desired.Validation, prepared *question, answer *Answer) error {
	result, err := p.runVector(ctx, prepared.folder, prepared.env, slices.Concat([]string{"test"}, prepared.args)...)
	if err != nil {
		return err
	}
	answer.Tested = true
	if result.code == 0 {
		return nil
	}
	if answer.Findings = desired.VectorReader.FailedTests(validation.Configuration, result.printed); len(answer.Findings) > 0 && result.cause == nil {
		return nil
	}
	reply := vectorconfig.ReadAnswer(result.code, result.printed)
	if reply.Outcome == vectorconfig.Rejected {
		answer.Findings = desired.VectorReader.Rejections(validation.Configuration, prepared.originalNames(reply.Faults, validation.DataDir))
		return nil
	}
	answer.Unable = "vector test " + result.outputText()
	return nil
}

// prepareQuestion writes the files of a configuration into a directory. Placeholders replace values that exist only in the pod.
func prepareQuestion(validation *desired.Validation, folder string) (*question, error) {
	prepared := &question{folder: folder, unchecked: []string{validation.Mode.Unchecked}}
	data := filepath.Join(folder, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	var texts strings.Builder
	hasDataDir := false
	paths, _ := desired.ConfigurationPaths(validation.Configuration)
	for i, file := range validation.Configuration {
		texts.WriteString(file.Text)
		text := secretOf.ReplaceAllLiteralString(file.Text, placeholder)
		if validation.Mode.Builds && strings.Contains(text, "data_dir") {
			text, hasDataDir = strings.ReplaceAll(text, validation.DataDir, data), true
		}
		if err := prepared.writeFile(paths[i], text); err != nil {
			return nil, err
		}
	}
	prepared.args = desired.ConfigurationArguments(validation.Configuration, paths, folder)
	if validation.Mode.Builds && !hasDataDir {
		if err := prepared.writeFile("data-dir.yaml", fmt.Sprintf("data_dir: %q\n", data)); err != nil {
			return nil, err
		}
		prepared.args = append(prepared.args, filepath.Join(folder, "data-dir.yaml"))
	}
	prepared.addEnv(&validation.Job.Spec.Template.Spec.Containers[0], texts.String())
	if secretOf.MatchString(texts.String()) {
		prepared.unchecked = append(prepared.unchecked, "the values of SECRET[…], which placeholders replace")
	}
	return prepared, nil
}

// writeFile writes a file into the directory of the question, and creates its folder.
func (q *question) writeFile(name, text string) error {
	file := filepath.Join(q.folder, name)
	q.files = append(q.files, file)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

// addEnv adds the variables of a container. The proxy variables point to a closed port of this machine, so HTTP
// requests of Vector fail.
func (q *question) addEnv(container *corev1.Container, texts string) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		q.env = append(q.env, name+"=http://127.0.0.1:1")
	}
	var placeholders []string
	for _, variable := range container.Env {
		value := variable.Value
		if variable.ValueFrom != nil {
			value = placeholder
			if strings.Contains(texts, variable.Name) {
				placeholders = append(placeholders, variable.Name)
			}
		}
		q.env = append(q.env, variable.Name+"="+value)
	}
	if len(placeholders) > 0 {
		q.unchecked = append(q.unchecked, strings.Join(placeholders, ", ")+", which are known only in the pod, so placeholders replace them")
	}
	if len(container.EnvFrom) > 0 {
		q.unchecked = append(q.unchecked, "the variables of envFrom, which are not set")
	}
}

// originalNames replaces the paths of this machine in error messages by the paths and file names in the pod.
func (q *question) originalNames(faults []string, dataDir string) []string {
	pairs := []string{filepath.Join(q.folder, "data"), dataDir}
	for i, file := range q.files {
		pairs = append(pairs, file, strings.TrimPrefix(filepath.Base(file), fmt.Sprintf("%d-", i)))
	}
	replacer := strings.NewReplacer(pairs...)
	var messages []string
	for _, fault := range faults {
		messages = append(messages, replacer.Replace(fault))
	}
	return messages
}
