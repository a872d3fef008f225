// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/lint"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorprogram"
)

// validateOptions are the flags of validate.
type validateOptions struct {
	*inputs

	vector   string
	together bool
	findings findingsOutput
}

func newValidate(a *app) *cobra.Command {
	options := validateOptions{}
	command := &cobra.Command{
		Use:   "validate [WORKLOAD...] [-f FILE] [--sidecar FILE] | --together FILE|FOLDER...",
		Short: "Have a Vector of this machine judge the configurations that workloads would get",
		Long: `Have a Vector of this machine judge the configurations that workloads would get: it validates
each, which compiles VRL, and runs its unit tests if it has any. lint needs no Vector, and
finds what only a sidecar has; this command finds what only Vector does.

Vector gets the variables of the rendered container and none of yours. What only the pod
knows (Secrets, its own fields) has placeholders, SECRET[…] is asked of no backend, and no
sink is contacted. What was not judged is printed. Vector has 30 seconds for each answer. It
has to be of the version that the image tells; where that tells none, any will do.

With --together, the arguments are the files and folders of one Vector configuration. Vector reads
folders as those of --config-dir.

The exit code is 0 if Vector takes all, 1 if it refuses one or a unit test fails, and 2 if it
could not judge.`,
		Example: `# a VectorSidecar and a workload from files; no cluster is asked
kubectl vectorsidecar validate -f docs/samples/app/deployment.yaml --sidecar docs/samples/04-inline-config.yaml --label logs=inline --vector vector
# for code scanning
kubectl vectorsidecar validate -f docs/samples/app/deployment.yaml --sidecar docs/samples/14-sinks.yaml --label logs=sinks -o sarif
# one Vector configuration in several files
kubectl vectorsidecar validate --together pipeline/ --vector vector
# what a workload of the cluster would get
kubectl vectorsidecar validate deployment/cart -n shop`,
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), arguments)
		},
	}
	options.inputs = newInputs(a, command)
	options.findings = findingsOutputOf(a, command, "configuration")
	command.ValidArgsFunction = options.completeWorkloads
	command.Flags().BoolVar(&options.together, "together", false, "validate the files of one Vector configuration, which are the arguments, instead of workloads")
	command.MarkFlagsMutuallyExclusive("together", "filename")
	command.MarkFlagsMutuallyExclusive("together", "sidecar")
	command.Flags().StringVar(&options.vector, "vector", "vector", "program of Vector, a path or a name in PATH")
	return command
}

func (o *validateOptions) run(ctx context.Context, arguments []string) error {
	if err := o.findings.output.check(); err != nil {
		return err
	}
	program, err := vectorprogram.Open(ctx, o.vector)
	if err != nil {
		return err
	}
	asked, err := o.ask(ctx, program, arguments)
	if err != nil {
		return err
	}
	for _, what := range asked.unseen {
		o.app.note("not judged: %s", what)
	}
	if asked.Linted == 0 && len(asked.Findings) == 0 {
		return errors.New("there is nothing to ask Vector about: no VectorSidecar injects a configuration that can be seen")
	}
	if err := o.findings.print(&asked.Result); err != nil {
		return err
	}
	switch {
	case len(asked.Findings) > 0:
		return &foundError{}
	case len(asked.unable) > 0:
		return unableError(asked.unable)
	}
	return nil
}

// ask validates the files that the arguments name, or the configurations of workloads, with Vector.
func (o *validateOptions) ask(ctx context.Context, program *vectorprogram.Program, arguments []string) (*asked, error) {
	if o.together {
		return o.askTogether(ctx, program, arguments)
	}
	session, err := o.open(ctx, arguments...)
	if err != nil {
		return nil, err
	}
	if _, err := session.pick(); err != nil {
		return nil, err
	}
	return session.ask(ctx, program)
}

// askTogether validates the files of one configuration with Vector.
func (o *validateOptions) askTogether(ctx context.Context, program *vectorprogram.Program, paths []string) (*asked, error) {
	var files []lint.File
	for _, path := range paths {
		found, err := o.app.collect(path)
		if err != nil {
			return nil, err
		}
		files = append(files, found.files...)
	}
	configuration, parts, others := lint.Configuration(files)
	if len(parts) == 0 {
		return nil, errors.New("no files of Vector configuration: name them, or a folder that has some")
	}
	report, err := desired.VectorReader.Check(ctx, configuration, vectorconfig.Options{})
	if err != nil {
		return nil, err
	}
	image := "vector:" + program.Version
	question := &desired.Validation{Configuration: configuration, DataDir: report.DataDir, Mode: vectorconfig.ValidateModeFor(image)}
	question.Job.Spec.Template.Spec.Containers = []corev1.Container{{Image: image}}
	answer, err := program.Validate(ctx, question)
	if err != nil {
		return nil, err
	}
	all := &asked{Result: lint.Result{Findings: lint.VectorFileFindings(answer.Findings), Linted: 1}, unseen: answer.Unchecked}
	for _, other := range others {
		all.Skipped = append(all.Skipped, lint.Skipped{File: other.Name, Reason: lint.NotRecognized})
	}
	if answer.Unable != "" {
		all.unable = []string{strings.Join(paths, ", ") + ": " + answer.Unable}
	}
	return all, nil
}

func unableError(why []string) error {
	return fmt.Errorf("checking with Vector: not checked: %s", strings.Join(why, "; "))
}

// asked is the result of Vector's checks in a session. Linted counts configurations.
type asked struct {
	lint.Result

	// unable lists the configurations that could not be checked, with the reason. unseen lists the parts that were
	// not checked.
	unable, unseen []string
}

// ask validates all configurations that are rendered for the workloads of the command, each configuration once.
func (s *session) ask(ctx context.Context, program *vectorprogram.Program) (*asked, error) {
	s.asksVector = true
	all := &asked{Result: lint.Result{Findings: []lint.Finding{}}}
	known := map[string]bool{}
	for _, sidecar := range s.Sidecars() {
		ruled, err := s.rule(ctx, lastgood.AsGiven(sidecar))
		if err != nil {
			return nil, err
		}
		isAsked, err := s.askAbout(ctx, program, ruled, known, all)
		if err != nil {
			return nil, err
		}
		if ruled.Invalid != nil && !isAsked {
			all.Findings = append(all.Findings, lint.NewFinding(ruled.Invalid.Reason, ruled.Invalid.Message, s.documentOf(sidecar)))
		}
	}
	return all, nil
}

// askAbout validates the configurations that are rendered for one VectorSidecar. It reports whether there were any.
func (s *session) askAbout(ctx context.Context, program *vectorprogram.Program, ruled *result, known map[string]bool, all *asked) (isAsked bool, err error) {
	if ruled.Previous == nil {
		return false, nil
	}
	document := s.documentOf(ruled.sidecar)
	for _, one := range ruled.Previous.Injected {
		object := s.Workload(one.Plan.Target)
		if object == nil || !s.about.includes(object) || one.Rendered == nil || one.Rendered.Validation == nil {
			continue
		}
		isAsked = true
		of := one.Rendered.Validation
		if known[of.Key] {
			continue
		}
		known[of.Key] = true
		answer, err := program.Validate(ctx, of)
		if err != nil {
			return true, err
		}
		all.Linted++
		all.Findings = append(all.Findings, lint.VectorFindings(answer.Findings, document, s.sources)...)
		name := "VectorSidecar " + ruled.sidecar.Namespace + "/" + ruled.sidecar.Name
		if answer.Unable != "" {
			all.unable = append(all.unable, name+": "+answer.Unable)
		}
		for _, what := range answer.Unchecked {
			if !slices.Contains(all.unseen, what) {
				all.unseen = append(all.unseen, what)
			}
		}
	}
	return isAsked, nil
}

// documentOf returns the document of a VectorSidecar. For a VectorSidecar of the cluster, the source is its name.
func (s *session) documentOf(sidecar *v1alpha1.VectorSidecar) source.Document {
	for _, document := range s.sources {
		if one, is := document.Object.(*v1alpha1.VectorSidecar); is && one.Namespace == sidecar.Namespace && one.Name == sidecar.Name {
			return document
		}
	}
	return source.Document{Source: "VectorSidecar " + sidecar.Namespace + "/" + sidecar.Name}
}
