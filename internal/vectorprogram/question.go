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
	// Unseen lists the parts that were not checked: phrases that start with "whether", and values that were replaced
	// by placeholders.
	Unseen []string
	// Tested reports whether unit tests were run.
	Tested bool
}

// placeholder replaces values that exist only in the pod.
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
	env         []string
	unseen      []string
}

// Ask validates a configuration with Vector and runs the unit tests of the configuration. Vector gets none of the
// caller's variables, and connects only to this machine. Ask returns an error if Vector could not be started.
func (p *Program) Ask(ctx context.Context, of *desired.Validation) (*Answer, error) {
	pod := &of.Job.Spec.Template.Spec
	image := pod.Containers[0].Image
	if needed, own, differs := vectorconfig.DifferentVersions(image, "vector:"+p.Version); differs {
		return &Answer{Unable: fmt.Sprintf("%s is Vector %s, but image %s is %s; set --vector to a Vector %s binary", p.path, own, image, needed, needed)}, nil
	}
	folder, err := os.MkdirTemp("", "vectorsidecar-*")
	if err != nil {
		return nil, fmt.Errorf("running Vector: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // Nobody needs what is left.
	put, err := pose(of, folder)
	if err != nil {
		return nil, fmt.Errorf("running Vector: %w", err)
	}
	ended, err := p.run(ctx, folder, put.env, slices.Concat(of.Mode.Args, put.args)...)
	if err != nil {
		return nil, err
	}
	answer := &Answer{Unseen: put.unseen}
	switch said := vectorconfig.ReadAnswer(ended.code, ended.printed); {
	case said.Outcome == vectorconfig.Refused:
		answer.Findings = desired.VectorReader.Refusals(of.Configuration, put.names(said.Faults, of.DataDir))
	case said.Outcome == vectorconfig.NotJudged && len(said.Faults) > 0:
		answer.Unable = said.String()
	case said.Outcome == vectorconfig.NotJudged:
		answer.Unable = "vector validate " + ended.text()
	case desired.VectorReader.HasTests(of.Configuration):
		return answer, p.test(ctx, of, put, answer)
	}
	return answer, nil
}

// test runs the unit tests of a valid configuration.
func (p *Program) test(ctx context.Context, of *desired.Validation, put *question, answer *Answer) error {
	ended, err := p.run(ctx, put.folder, put.env, slices.Concat([]string{"test"}, put.args)...)
	if err != nil {
		return err
	}
	answer.Tested = true
	if ended.code == 0 {
		return nil
	}
	if answer.Findings = desired.VectorReader.FailedTests(of.Configuration, ended.printed); len(answer.Findings) > 0 && ended.why == nil {
		return nil
	}
	said := vectorconfig.ReadAnswer(ended.code, ended.printed)
	if said.Outcome == vectorconfig.Refused {
		answer.Findings = desired.VectorReader.Refusals(of.Configuration, put.names(said.Faults, of.DataDir))
		return nil
	}
	answer.Unable = "vector test " + ended.text()
	return nil
}

// pose writes the files of a configuration into a directory. Placeholders replace values that exist only in the pod.
func pose(of *desired.Validation, folder string) (*question, error) {
	put := &question{folder: folder, unseen: []string{of.Mode.Unchecked}}
	data := filepath.Join(folder, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	var all strings.Builder
	hasDataDir := false
	paths, _ := desired.ConfigurationPaths(of.Configuration)
	for i, file := range of.Configuration {
		all.WriteString(file.Text)
		text := secretOf.ReplaceAllLiteralString(file.Text, placeholder)
		if of.Mode.Builds && strings.Contains(text, "data_dir") {
			text, hasDataDir = strings.ReplaceAll(text, of.DataDir, data), true
		}
		if err := put.write(paths[i], text); err != nil {
			return nil, err
		}
	}
	put.args = desired.ConfigurationArguments(of.Configuration, paths, folder)
	if of.Mode.Builds && !hasDataDir {
		if err := put.write("data-dir.yaml", fmt.Sprintf("data_dir: %q\n", data)); err != nil {
			return nil, err
		}
		put.args = append(put.args, filepath.Join(folder, "data-dir.yaml"))
	}
	put.addEnv(&of.Job.Spec.Template.Spec.Containers[0], all.String())
	if secretOf.MatchString(all.String()) {
		put.unseen = append(put.unseen, "SECRET[…], which are placeholders")
	}
	return put, nil
}

func (q *question) write(name, text string) error {
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
	var unknown []string
	for _, variable := range container.Env {
		value := variable.Value
		if variable.ValueFrom != nil {
			value = placeholder
			if strings.Contains(texts, variable.Name) {
				unknown = append(unknown, variable.Name)
			}
		}
		q.env = append(q.env, variable.Name+"="+value)
	}
	if len(unknown) > 0 {
		q.unseen = append(q.unseen, strings.Join(unknown, ", ")+" of the pod, which are placeholders")
	}
	if len(container.EnvFrom) > 0 {
		q.unseen = append(q.unseen, "the variables of envFrom, which are left out")
	}
}

// names replaces paths on this machine in error messages by the paths and file names of the pod.
func (q *question) names(faults []string, dataDir string) []string {
	known := []string{filepath.Join(q.folder, "data"), dataDir}
	for i, file := range q.files {
		known = append(known, file, strings.TrimPrefix(filepath.Base(file), fmt.Sprintf("%d-", i)))
	}
	replacer := strings.NewReplacer(known...)
	var all []string
	for _, fault := range faults {
		all = append(all, replacer.Replace(fault))
	}
	return all
}
