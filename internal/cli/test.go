// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"kontroloop.ai/vector-sidecar-operator/internal/scenario"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorprogram"
)

// testOptions are the flags of test.
type testOptions struct {
	inputs *inputs

	update bool
	vector string
	output *format

	// program is the Vector binary that --vector names, or nil without the flag.
	program *vectorprogram.Program
	// valueFiles are the files of --values and --set-file that were read, by name.
	valueFiles map[string][]byte
}

// testResult is the result of a scenario.
type testResult struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Story  string `json:"story,omitempty"`
	// Error explains why the test could not be run.
	Error string `json:"error,omitempty"`
	// Difference is a unified diff of the expected and the actual output.
	Difference string `json:"difference,omitempty"`
	// Vector lists the errors that Vector has reported. Unable lists the reasons why Vector could not check the
	// configuration, and Unchecked the parts that it did not check.
	Vector    []string `json:"vector,omitempty"`
	Unable    []string `json:"unable,omitempty"`
	Unchecked []string `json:"unchecked,omitempty"`
}

// newTest returns the command test.
func newTest(a *app) *cobra.Command {
	options := testOptions{inputs: &inputs{app: a}, valueFiles: map[string][]byte{}}
	command := &cobra.Command{
		Use:   "test FILE|DIRECTORY...",
		Short: "Run the declarative tests of templates and values",
		Long: `Run the declarative tests of templates and values. A test is a .txtar file, or a directory, with
workload.yaml and vectorsidecar.yaml, and optionally configmaps.yaml, values.yaml (the installation's
values for the environment), environment, kube-version, kubelet-version, ip-family and platform. The
expected result is want.yaml or want-error, which --update writes, or a list in expect.yaml:

    - object: Deployment/cart
      path: "{.spec.template.spec.initContainers[0].name}"
      equals: vector

An expectation has one of equals, contains, lacks (an absent text), matches and exists. Without a
path, exists is about the object:

    - object: ConfigMap/cart
      exists: false

A .txtar file may name another one of its directory as its base, before its first file. It has the
inputs of the base, except those that it replaces. FILE.diff has the differences of FILE.yaml:

    base: cart.txtar
    -- vectorsidecar.diff --
     spec:
    +  environment: production

Each line starts with a mark: "~" replaces the line with the same key, "+" is added, "-" is removed
(with " …" at its end, also the lines below it), and a space marks the place for the next lines.
--update also writes want.diff.

A test in or below the directory of a sidecar chart uses the templates of the nearest chart, unless
--templates names others. Flags apply to every test: values override those of values.yaml, and other
flags the file of the same name.

With --vector, a test also fails if that Vector rejects the rendered configuration, or if one of its
own unit tests fails: see validate.

The exit code is 1 if a test fails. Otherwise it is 2 if a test cannot run or Vector's result is
undecided.`,
		Example: `# all tests of a directory
kubectl vectorsidecar test test/golden
# with other templates, for a pipeline
kubectl vectorsidecar test test/golden --templates . -o junit
# also with Vector
kubectl vectorsidecar test test/golden --vector vector`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), arguments)
		},
	}
	options.inputs.addRenderFlags(command.Flags(), fileDefaults)
	command.Flags().BoolVar(&options.update, "update", false, "write the actual result as the expected one; review the difference")
	command.Flags().StringVar(&options.vector, "vector", "", "Vector binary, a path or a name in PATH, that validates the rendered configuration")
	options.output = addFormat(command, "json", "junit")
	return command
}

// run runs the scenarios and prints their results.
func (o *testOptions) run(ctx context.Context, arguments []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if err := o.checkValues(); err != nil {
		return err
	}
	scenarios, err := scenario.Load(arguments...)
	var invalid *scenario.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		return err
	}
	var verdicts []testResult
	if invalid != nil {
		for _, invalidScenario := range invalid.Scenarios {
			verdicts = append(verdicts, testResult{Name: invalidScenario.Name, Error: invalidScenario.Err.Error()})
		}
	}
	if o.vector != "" {
		if o.program, err = vectorprogram.Open(ctx, o.vector); err != nil {
			return err
		}
	}
	charts := map[string]fs.FS{}
	for _, test := range scenarios {
		result, err := o.runScenario(ctx, charts, test)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // The other tests can still be run.
			result.Passed, result.Error = false, err.Error()
		}
		verdicts = append(verdicts, result)
	}
	return o.print(verdicts)
}

// findChart returns the chart in a directory or in the nearest directory above it. Without one, it returns the chart
// for tests outside of charts. charts caches the charts by directory. It returns an error if the chart cannot be
// loaded, because that is not the failure of one test.
func (o *testOptions) findChart(folder string, charts map[string]fs.FS) (chart fs.FS, err error) {
	if chart, isKnown := charts[folder]; isKnown {
		return chart, nil
	}
	parent, name := filepath.Dir(folder), ""
	switch {
	case o.inputs.templates == "" && isChart(folder):
		name = folder
		chart, err = openFolder(folder)
	case o.inputs.templates == "" && parent != folder:
		chart, err = o.findChart(parent, charts)
	default:
		name = o.inputs.templates
		chart, err = o.inputs.openChart()
	}
	if err != nil {
		return nil, err
	}
	shared := newLoadedOnce(chart)
	if _, err := shared.load(); err != nil {
		return nil, fmt.Errorf("loading the sidecar chart %s: %w", name, err)
	}
	charts[folder] = shared
	return shared, nil
}

// runScenario renders a scenario and compares the result with the expected one. It returns an error if the scenario
// cannot be rendered. charts caches the charts by directory.
func (o *testOptions) runScenario(ctx context.Context, charts map[string]fs.FS, test *scenario.Scenario) (testResult, error) {
	result := testResult{Name: test.Name, Story: test.Story}
	folder, err := filepath.Abs(test.Folder())
	if err != nil {
		return result, fmt.Errorf("finding the sidecar chart of test %s: %w", test.Name, err)
	}
	chart, err := o.findChart(folder, charts)
	if err != nil {
		return result, err
	}
	outcome := o.renderScenario(ctx, chart, test)
	if err := ctx.Err(); err != nil {
		return result, err
	}
	if o.update {
		if err := test.Update(outcome); err != nil {
			return result, err
		}
	}
	differences, err := test.Compare(outcome)
	if err != nil {
		return result, err
	}
	for _, difference := range differences {
		text, err := unifiedDiff("want: "+difference.Name, "got: "+difference.Name, difference.Expected, difference.Actual)
		if err != nil {
			return result, err
		}
		result.Difference += text
	}
	if o.program != nil && !outcome.Failed {
		if err := o.addVectorResult(ctx, chart, test, &result); err != nil {
			return result, err
		}
	}
	result.Passed = len(differences) == 0 && len(result.Vector) == 0
	return result, nil
}

// addVectorResult adds the result of Vector's check of the rendered configuration.
func (o *testOptions) addVectorResult(ctx context.Context, chart fs.FS, test *scenario.Scenario, result *testResult) error {
	session, err := o.scenarioInputs(chart, test).openSession(ctx)
	if err != nil {
		return err
	}
	answer, err := session.validate(ctx, o.program)
	if err != nil {
		return err
	}
	for i := range answer.Findings {
		finding := &answer.Findings[i]
		result.Vector = append(result.Vector, finding.Position()+": "+finding.Text())
	}
	result.Unable, result.Unchecked = answer.unable, answer.unchecked
	return nil
}

// renderScenario runs the command render on the files of a scenario.
func (o *testOptions) renderScenario(ctx context.Context, chart fs.FS, test *scenario.Scenario) scenario.Outcome {
	var buffer bytes.Buffer
	root := o.scenarioApp(chart, test, &buffer).rootCommand() //nolint:contextcheck // The command gets its context when it runs.
	root.SetArgs(o.scenarioArguments(test))
	if err := root.ExecuteContext(ctx); err != nil {
		return scenario.Outcome{Failed: true, Text: err.Error() + "\n"}
	}
	return scenario.Outcome{Text: buffer.String()}
}

// scenarioApp returns the app for a scenario. It has only the scenario's files, and the values of the command line.
func (o *testOptions) scenarioApp(chart fs.FS, test *scenario.Scenario, w io.Writer) *app {
	return &app{
		IOStreams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: w, ErrOut: io.Discard},
		chart:     chart, builtin: o.inputs.app.builtin, version: o.inputs.app.version, kube: genericclioptions.NewConfigFlags(true), files: test.Files(),
		clock: o.inputs.app.clock, moreValues: &valueSource{&o.inputs.values, o.readValues},
	}
}

// checkValues returns an error if the values of the command line cannot be read. Without it, every test would fail for
// that reason.
func (o *testOptions) checkValues() error {
	if err := requireOneStdin(o.inputs.values.files); err != nil {
		return err
	}
	for _, file := range o.inputs.values.files {
		if _, err := o.readValues(file); err != nil {
			return fmt.Errorf("reading values: %w", err)
		}
	}
	for _, setting := range (valueSource{&o.inputs.values, o.readValues}).settings() {
		if _, err := setting.ApplyTo(nil); err != nil {
			return err
		}
	}
	return nil
}

// readValues reads a file of the command line once for all scenarios.
func (o *testOptions) readValues(name string) ([]byte, error) {
	if text, ok := o.valueFiles[name]; ok {
		return text, nil
	}
	text, err := o.inputs.app.readInput(name)
	if err == nil {
		o.valueFiles[name] = text
	}
	return text, err
}

// scenarioInputs returns the inputs that correspond to the command line of scenarioArguments.
func (o *testOptions) scenarioInputs(chart fs.FS, test *scenario.Scenario) *inputs {
	command := &cobra.Command{}
	s := newInputs(o.scenarioApp(chart, test, io.Discard), command)
	_ = command.ParseFlags(o.scenarioArguments(test)[1:]) // All arguments are valid.
	return s
}

// scenarioArguments returns the command line that renders a scenario. Flags of the command line take precedence over the
// scenario's files.
func (o *testOptions) scenarioArguments(test *scenario.Scenario) []string {
	arguments := []string{"render", "-f", scenario.Workload, "--sidecar", scenario.Sidecar}
	if _, ok := test.File(scenario.ConfigMaps); ok {
		arguments = append(arguments, "-f", scenario.ConfigMaps)
	}
	if _, ok := test.File(scenario.Values); ok {
		arguments = append(arguments, "--values", scenario.Values)
	}
	for _, option := range []struct{ name, value string }{
		{scenario.Environment, o.inputs.environment},
		{scenario.KubeVersion, o.inputs.kubeVersion},
		{scenario.Kubelet, o.inputs.kubeletVersion},
		{scenario.IPFamily, o.inputs.ofCluster.ipFamily.value},
		{scenario.Platform, o.inputs.ofCluster.platform.value},
	} {
		text, _ := test.File(option.name)
		if value := cmp.Or(option.value, strings.TrimSpace(text)); value != "" {
			arguments = append(arguments, "--"+option.name, value)
		}
	}
	return arguments
}
