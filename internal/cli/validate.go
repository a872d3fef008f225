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
	inputs *inputs

	vector   string
	together bool
	findings findingsOutput
}

// newValidate returns the command validate.
func newValidate(a *app) *cobra.Command {
	options := validateOptions{}
	command := &cobra.Command{
		Use:   "validate [WORKLOAD...] [-f FILE] [--sidecar FILE] | --together FILE|DIRECTORY...",
		Short: "Validate configurations of workloads with a Vector of this machine",
		Long: `Validate the configurations of workloads with a Vector of this machine, which compiles VRL, and run
their unit tests. lint works without Vector, and finds the errors that only a sidecar has.

Vector gets only the variables of the rendered container. Values known only in the pod (Secrets, its
own fields) and SECRET[…] are placeholders, and Vector does not connect to secret backends or sinks.
The command prints the parts that it did not check. Vector has 30 seconds for each run. Use the minor
version of the image's tag, if it has one.

With --together, the arguments are the files of one Vector configuration, and directories like those of
--config-dir.

The exit code is 1 if Vector rejects a configuration or a unit test fails. Otherwise it is 2 if a
result is undecided, or if no configuration was found.`,
		Example: `# a VectorSidecar and a workload from files; no cluster is needed
kubectl vectorsidecar validate -f docs/samples/app/deployment.yaml --sidecar docs/samples/04-inline-config.yaml --label logs=inline --vector vector
# for code scanning
kubectl vectorsidecar validate -f docs/samples/app/deployment.yaml --sidecar docs/samples/14-sinks.yaml --label logs=sinks -o sarif
# one Vector configuration in several files
kubectl vectorsidecar validate --together pipeline/ --vector vector
# a workload of the cluster
kubectl vectorsidecar validate deployment/cart -n shop`,
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), arguments)
		},
	}
	options.inputs = newInputs(a, command)
	options.findings = newFindingsOutput(a, command, "configuration")
	command.ValidArgsFunction = options.inputs.completeWorkloads
	command.Flags().BoolVar(&options.together, "together", false, "validate the files of one Vector configuration, which are the arguments, instead of workloads")
	command.MarkFlagsMutuallyExclusive("together", "filename")
	command.MarkFlagsMutuallyExclusive("together", "sidecar")
	command.Flags().StringVar(&options.vector, "vector", "vector", "Vector binary, a path or a name in PATH")
	return command
}

// run validates the configurations in the arguments with Vector, and prints the findings.
func (o *validateOptions) run(ctx context.Context, arguments []string) error {
	if err := o.findings.output.check(); err != nil {
		return err
	}
	program, err := vectorprogram.Open(ctx, o.vector)
	if err != nil {
		return err
	}
	result, err := o.validate(ctx, program, arguments)
	if err != nil {
		return err
	}
	for _, text := range result.unchecked {
		o.inputs.app.printNote("not checked: %s", text)
	}
	if result.Linted == 0 && len(result.Findings) == 0 {
		return errors.New("no configuration to validate: no VectorSidecar injects a configuration that can be read")
	}
	if err := o.findings.print(&result.Result); err != nil {
		return err
	}
	switch {
	case len(result.Findings) > 0:
		return &foundError{}
	case len(result.unable) > 0:
		return notValidatedError(result.unable)
	}
	return nil
}

// validate validates the files that the arguments name, or the configurations of workloads, with Vector.
func (o *validateOptions) validate(ctx context.Context, program *vectorprogram.Program, arguments []string) (*vectorResult, error) {
	if o.together {
		return o.validateTogether(ctx, program, arguments)
	}
	session, err := o.inputs.openSession(ctx, arguments...)
	if err != nil {
		return nil, err
	}
	if _, err := session.pickWorkloads(); err != nil {
		return nil, err
	}
	return session.validate(ctx, program)
}

// validateTogether validates the files of one configuration with Vector.
func (o *validateOptions) validateTogether(ctx context.Context, program *vectorprogram.Program, paths []string) (*vectorResult, error) {
	var files []lint.File
	for _, path := range paths {
		collected, err := o.inputs.app.collectFiles(path)
		if err != nil {
			return nil, err
		}
		files = append(files, collected.files...)
	}
	configuration, vectorFiles, otherFiles := lint.SplitFiles(files)
	if len(vectorFiles) == 0 {
		return nil, errors.New("no files of Vector configuration: name them, or a directory that contains some")
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
	result := &vectorResult{Result: lint.Result{Findings: lint.VectorFileFindings(answer.Findings), Linted: 1}, unchecked: answer.Unchecked}
	for _, file := range otherFiles {
		result.Skipped = append(result.Skipped, lint.SkippedFile{File: file.Name, Reason: lint.NotRecognized})
	}
	if answer.Unable != "" {
		result.unable = []string{strings.Join(paths, ", ") + ": " + answer.Unable}
	}
	return result, nil
}

// notValidatedError returns the error for configurations that Vector could not validate, with the reasons.
func notValidatedError(reasons []string) error {
	return fmt.Errorf("validating with Vector: no result: %s", strings.Join(reasons, "; "))
}

// vectorResult is the result of validating configurations with Vector. Its findings have the form of lint.
type vectorResult struct {
	lint.Result

	// unable lists the configurations that could not be checked, each with the reason. unchecked lists the parts of
	// configurations that Vector did not check.
	unable, unchecked []string
}

// validate validates the configurations of the workloads to which the command applies, each configuration once.
func (s *session) validate(ctx context.Context, program *vectorprogram.Program) (*vectorResult, error) {
	s.asksVector = true
	result := &vectorResult{Result: lint.Result{Findings: []lint.Finding{}}}
	checked := map[string]bool{}
	for _, sidecar := range s.objects.Sidecars() {
		ruled, err := s.evaluateSidecar(ctx, lastgood.IgnoreRevert(sidecar))
		if err != nil {
			return nil, err
		}
		isAsked, err := s.validateSidecar(ctx, program, ruled, checked, result)
		if err != nil {
			return nil, err
		}
		if ruled.decision.Invalid != nil && !isAsked {
			result.Findings = append(result.Findings, lint.NewFinding(ruled.decision.Invalid.Reason, ruled.decision.Invalid.Message, s.documentFor(sidecar)))
		}
	}
	return result, nil
}

// validateSidecar validates the configurations that are rendered for one VectorSidecar. isAsked reports whether there
// were any.
func (s *session) validateSidecar(ctx context.Context, program *vectorprogram.Program, ruled *result, checked map[string]bool, result *vectorResult) (isAsked bool, err error) {
	if ruled.decision.Previous == nil {
		return false, nil
	}
	document := s.documentFor(ruled.sidecar)
	for _, evaluated := range ruled.decision.Previous.Injected {
		object := s.objects.Workload(evaluated.Plan.Target)
		if object == nil || !s.filter.matches(object) || evaluated.Rendered == nil || evaluated.Rendered.Validation == nil {
			continue
		}
		isAsked = true
		validation := evaluated.Rendered.Validation
		if checked[validation.Key] {
			continue
		}
		checked[validation.Key] = true
		answer, err := program.Validate(ctx, validation)
		if err != nil {
			return true, err
		}
		result.Linted++
		result.Findings = append(result.Findings, lint.VectorFindings(answer.Findings, document, s.sources)...)
		name := "VectorSidecar " + ruled.sidecar.Namespace + "/" + ruled.sidecar.Name
		if answer.Unable != "" {
			result.unable = append(result.unable, name+": "+answer.Unable)
		}
		for _, text := range answer.Unchecked {
			if !slices.Contains(result.unchecked, text) {
				result.unchecked = append(result.unchecked, text)
			}
		}
	}
	return isAsked, nil
}

// documentFor returns the document of a VectorSidecar. For a VectorSidecar of the cluster, the source is its name.
func (s *session) documentFor(sidecar *v1alpha1.VectorSidecar) source.Document {
	for _, document := range s.sources {
		if existing, ok := document.Object.(*v1alpha1.VectorSidecar); ok && existing.Namespace == sidecar.Namespace && existing.Name == sidecar.Name {
			return document
		}
	}
	return source.Document{Source: "VectorSidecar " + sidecar.Namespace + "/" + sidecar.Name}
}
