// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/scenario"
)

// testOptions are the flags of test.
type testOptions struct {
	app *app

	templates string
	update    bool
	output    *format
}

// verdict is the result of a scenario.
type verdict struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Story  string `json:"story,omitempty"`
	// Difference is a unified diff of the expected and the actual output.
	Difference string `json:"difference,omitempty"`
}

func newTest(a *app) *cobra.Command {
	options := testOptions{app: a}
	command := &cobra.Command{
		Use:   "test FILE|FOLDER...",
		Short: "Run the declarative tests of templates and values",
		Long: `Run the declarative tests of templates and values. A test is a .txtar file, or a folder,
which holds workload.yaml and vectorsidecar.yaml and may hold configmaps.yaml, values.yaml
(what the installation gave for the environment), environment and kube-version. What
should come of it is the whole outcome, want.yaml or want-error, which --update writes, or
expect.yaml, a list of expectations:

    - object: Deployment/cart
      path: "{.spec.template.spec.initContainers[0].name}"
      equals: vector

An expectation has one of equals, contains, matches and exists.

A .txtar file may name another one of its folder as its base, by a line before its first
file. It has the inputs of the base but for what it says itself, and says how a file FILE.yaml
differs in FILE.diff:

    base: cart.txtar
    -- vectorsidecar.diff --
     spec:
    +  environment: production

Each line begins with a mark: "~" takes the place of the line with the same key, "+" is added,
"-" is taken out (with " …" at its end, what is below it too), and a space stays, to say where
the next ones are. --update writes want.diff, bases first.

A folder that is a sidecar chart is tested with its own templates.

The exit code is 0 if all tests pass, 1 if one fails, and 2 if they cannot be run.`,
		Example: `# all tests of a folder
kubectl vectorsidecar test test/golden
# with other templates, for a pipeline
kubectl vectorsidecar test test/golden --templates . -o junit`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), arguments)
		},
	}
	command.Flags().StringVar(&options.templates, "templates", "", "folder of a sidecar chart in place of the built-in one")
	command.Flags().BoolVar(&options.update, "update", false, "write the actual result as the expected one; review the difference")
	options.output = addFormat(command, "json", "junit")
	return command
}

func (o *testOptions) run(ctx context.Context, arguments []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	scenarios, err := scenario.Load(arguments...)
	if err != nil {
		return err
	}
	charts := map[string]fs.FS{}
	for _, argument := range arguments {
		if charts[argument], err = o.chartFor(argument); err != nil {
			return err
		}
	}
	var verdicts []verdict
	for _, one := range scenarios {
		judged, err := o.try(ctx, charts[one.Under], one)
		if err != nil {
			return err
		}
		verdicts = append(verdicts, judged)
	}
	if len(verdicts) == 0 {
		return fmt.Errorf("there are no tests in %s", strings.Join(arguments, ", "))
	}
	return o.print(verdicts)
}

// chartFor returns the chart that --templates names, or the folder itself if it is one.
func (o *testOptions) chartFor(argument string) (fs.FS, error) {
	if o.templates == "" && isChart(argument) {
		return openFolder(argument)
	}
	return (&inputs{app: o.app, templates: o.templates}).chart()
}

// try renders a scenario and compares the result.
func (o *testOptions) try(ctx context.Context, chart fs.FS, one *scenario.Scenario) (verdict, error) {
	outcome := o.app.renderScenario(ctx, chart, one)
	if err := ctx.Err(); err != nil {
		return verdict{}, err
	}
	judged := verdict{Name: one.Name, Story: one.Story}
	if o.update {
		if err := one.Update(outcome); err != nil {
			return judged, err
		}
	}
	differences, err := one.Compare(outcome)
	if err != nil {
		return judged, err
	}
	for _, difference := range differences {
		text, err := unified("want: "+difference.What, "got: "+difference.What, difference.Want, difference.Got)
		if err != nil {
			return judged, err
		}
		judged.Difference += text
	}
	judged.Passed = len(differences) == 0
	return judged, nil
}

// renderScenario runs the command render on the files of a scenario.
func (a *app) renderScenario(ctx context.Context, chart fs.FS, one *scenario.Scenario) scenario.Outcome {
	var out bytes.Buffer
	inner := &app{
		IOStreams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: io.Discard},
		chart:     chart, builtin: a.builtin, version: a.version, kube: genericclioptions.NewConfigFlags(true), files: one.Files(),
	}
	root := inner.root() //nolint:contextcheck // The command gets its context when it runs.
	root.SetArgs(scenarioArguments(one))
	if err := root.ExecuteContext(ctx); err != nil {
		return scenario.Outcome{Failed: true, Text: err.Error() + "\n"}
	}
	return scenario.Outcome{Text: out.String()}
}

func scenarioArguments(one *scenario.Scenario) []string {
	arguments := []string{"render", "-f", scenario.Workload, "--sidecar", scenario.Sidecar}
	if _, ok := one.File(scenario.ConfigMaps); ok {
		arguments = append(arguments, "-f", scenario.ConfigMaps)
	}
	if _, ok := one.File(scenario.Values); ok {
		arguments = append(arguments, "--values", scenario.Values)
	}
	for _, option := range []string{scenario.Environment, scenario.KubeVersion} {
		if text, ok := one.File(option); ok {
			arguments = append(arguments, "--"+option, strings.TrimSpace(text))
		}
	}
	return arguments
}

func (o *testOptions) print(verdicts []verdict) error {
	failed := 0
	var cases []junitCase
	for _, one := range verdicts {
		single := junitCase{Name: one.Name, Class: "scenario"}
		if !one.Passed {
			failed++
			single.Failure = &junitFailure{Message: one.Story, Text: one.Difference}
		}
		cases = append(cases, single)
	}
	var err error
	switch o.output.name {
	case "json":
		err = o.output.print(o.app.Out, verdicts)
	case "junit":
		err = printJUnit(o.app.Out, "kubectl vectorsidecar test", cases)
	default:
		err = o.printText(verdicts)
		o.app.note("%s, %d failed", count(len(verdicts), "test"), failed)
	}
	if err == nil && failed > 0 {
		return &foundError{}
	}
	return err
}

func (o *testOptions) printText(verdicts []verdict) error {
	paint := painterFor(o.app.Out)
	var errs []error
	for _, one := range verdicts {
		colour, word := green, "ok  "
		if !one.Passed {
			colour, word = red, "FAIL"
		}
		errs = append(errs, paint.paint(colour, word), humanize.Fprintf(o.app.Out, " %s\n", one.Name))
		if !one.Passed && one.Story != "" {
			errs = append(errs, humanize.Fprintf(o.app.Out, "     %s\n", one.Story))
		}
		errs = append(errs, paint.difference(one.Difference))
	}
	return errors.Join(errs...)
}
