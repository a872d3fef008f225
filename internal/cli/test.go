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
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/scenario"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorprogram"
)

// testOptions are the flags of test.
type testOptions struct {
	app *app

	templates string
	update    bool
	vector    string
	output    *format

	// program is the Vector that --vector names, nil if it names none.
	program *vectorprogram.Program
}

// verdict is the result of a scenario.
type verdict struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Story  string `json:"story,omitempty"`
	// Difference is a unified diff of the expected and the actual output.
	Difference string `json:"difference,omitempty"`
	// Vector holds what Vector found wrong, Unable why it could not judge, and Unseen what it did
	// not look at.
	Vector []string `json:"vector,omitempty"`
	Unable []string `json:"unable,omitempty"`
	Unseen []string `json:"unseen,omitempty"`
}

func newTest(a *app) *cobra.Command {
	options := testOptions{app: a}
	command := &cobra.Command{
		Use:   "test FILE|FOLDER...",
		Short: "Run the declarative tests of templates and values",
		Long: `Run the declarative tests of templates and values. A test is a .txtar file, or a folder,
which holds workload.yaml and vectorsidecar.yaml and may hold configmaps.yaml, values.yaml
(what the installation gave for the environment), environment, kube-version,
kubelet-version, ip-family and platform. What should come of it is the whole outcome, want.yaml or want-error, which --update writes, or
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

A test in the folder of a sidecar chart, or below it, is of the templates of that chart, the
nearest one, unless --templates names others.

With --vector, a test also fails if that Vector refuses the configuration that was rendered, or
if one of the configuration's own unit tests fails: see validate.

The exit code is 0 if all tests pass, 1 if one fails, and 2 if they cannot be run, or if
Vector could not judge one of them.`,
		Example: `# all tests of a folder
kubectl vectorsidecar test test/golden
# with other templates, for a pipeline
kubectl vectorsidecar test test/golden --templates . -o junit
# and with Vector's own word
kubectl vectorsidecar test test/golden --vector vector`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), arguments)
		},
	}
	command.Flags().StringVar(&options.templates, "templates", "", "folder of a sidecar chart in place of the built-in one")
	command.Flags().BoolVar(&options.update, "update", false, "write the actual result as the expected one; review the difference")
	command.Flags().StringVar(&options.vector, "vector", "", "program of Vector, a path or a name in PATH, that judges what is rendered")
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
	if o.vector != "" {
		if o.program, err = vectorprogram.Open(ctx, o.vector); err != nil {
			return err
		}
	}
	charts := map[string]fs.FS{}
	var verdicts []verdict
	for _, one := range scenarios {
		folder, err := filepath.Abs(one.Folder())
		if err != nil {
			return fmt.Errorf("looking for the chart of %s: %w", one.Name, err)
		}
		chart, err := o.chartAbove(folder, charts)
		if err != nil {
			return err
		}
		judged, err := o.try(ctx, chart, one)
		if err != nil {
			return err
		}
		verdicts = append(verdicts, judged)
	}
	return o.print(verdicts)
}

// chartAbove returns the chart that a folder is, or that is nearest above it; or else the one for tests
// that are in none. known are those of the folders so far. One that cannot be loaded is an error, and no
// outcome of its tests.
func (o *testOptions) chartAbove(folder string, known map[string]fs.FS) (chart fs.FS, err error) {
	if chart, isKnown := known[folder]; isKnown {
		return chart, nil
	}
	above, name := filepath.Dir(folder), ""
	switch {
	case o.templates == "" && isChart(folder):
		name = folder
		chart, err = openFolder(folder)
	case o.templates == "" && above != folder:
		chart, err = o.chartAbove(above, known)
	default:
		name = o.templates
		chart, err = (&inputs{app: o.app, templates: o.templates}).chart()
	}
	if err != nil {
		return nil, err
	}
	shared := loadOnce(chart)
	if _, err := shared.load(); err != nil {
		return nil, fmt.Errorf("loading the sidecar chart %s: %w", name, err)
	}
	known[folder] = shared
	return shared, nil
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
	if o.program != nil && !outcome.Failed {
		if err := o.ask(ctx, chart, one, &judged); err != nil {
			return judged, err
		}
	}
	judged.Passed = len(differences) == 0 && len(judged.Vector) == 0
	return judged, nil
}

// ask adds what Vector says of what a scenario renders.
func (o *testOptions) ask(ctx context.Context, chart fs.FS, one *scenario.Scenario, judged *verdict) error {
	session, err := o.app.inside(chart, one, io.Discard).scenarioInputs(one).open(ctx)
	if err != nil {
		return err
	}
	asked, err := session.ask(ctx, o.program)
	if err != nil {
		return err
	}
	for i := range asked.Findings {
		finding := &asked.Findings[i]
		judged.Vector = append(judged.Vector, finding.Place()+": "+finding.Text())
	}
	judged.Unable, judged.Unseen = asked.unable, asked.unseen
	return nil
}

// renderScenario runs the command render on the files of a scenario.
func (a *app) renderScenario(ctx context.Context, chart fs.FS, one *scenario.Scenario) scenario.Outcome {
	var out bytes.Buffer
	root := a.inside(chart, one, &out).root() //nolint:contextcheck // The command gets its context when it runs.
	root.SetArgs(scenarioArguments(one))
	if err := root.ExecuteContext(ctx); err != nil {
		return scenario.Outcome{Failed: true, Text: err.Error() + "\n"}
	}
	return scenario.Outcome{Text: out.String()}
}

// inside returns the program as it is inside a scenario: it has the scenario's files alone.
func (a *app) inside(chart fs.FS, one *scenario.Scenario, out io.Writer) *app {
	return &app{
		IOStreams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: out, ErrOut: io.Discard},
		chart:     chart, builtin: a.builtin, version: a.version, kube: genericclioptions.NewConfigFlags(true), files: one.Files(),
	}
}

// scenarioInputs are those that scenarioArguments name.
func (a *app) scenarioInputs(one *scenario.Scenario) *inputs {
	command := &cobra.Command{}
	s := newInputs(a, command)
	_ = command.ParseFlags(scenarioArguments(one)[1:]) // They are known.
	return s
}

func scenarioArguments(one *scenario.Scenario) []string {
	arguments := []string{"render", "-f", scenario.Workload, "--sidecar", scenario.Sidecar}
	if _, ok := one.File(scenario.ConfigMaps); ok {
		arguments = append(arguments, "-f", scenario.ConfigMaps)
	}
	if _, ok := one.File(scenario.Values); ok {
		arguments = append(arguments, "--values", scenario.Values)
	}
	for _, option := range []string{scenario.Environment, scenario.KubeVersion, scenario.Kubelet, scenario.IPFamily, scenario.Platform} {
		if text, ok := one.File(option); ok {
			arguments = append(arguments, "--"+option, strings.TrimSpace(text))
		}
	}
	return arguments
}

func (o *testOptions) print(verdicts []verdict) error {
	failed := 0
	var cases []junitCase
	var unable []string
	for _, one := range verdicts {
		for _, why := range one.Unable {
			unable = append(unable, one.Name+": "+why)
		}
		single := junitCase{Name: one.Name, Class: "scenario"}
		if !one.Passed {
			failed++
			single.Failure = &junitFailure{Message: one.Story, Text: one.Difference + strings.Join(one.Vector, "\n")}
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
		o.noteUnseen(verdicts)
		o.app.note("%s, %d failed", count(len(verdicts), "test"), failed)
	}
	switch {
	case err != nil:
		return err
	case failed > 0:
		return &foundError{}
	case len(unable) > 0:
		return unableError(unable)
	}
	return nil
}

// noteUnseen says what Vector did not look at, and in how many tests.
func (o *testOptions) noteUnseen(verdicts []verdict) {
	tests := map[string]int{}
	for _, one := range verdicts {
		for _, what := range one.Unseen {
			tests[what]++
		}
	}
	for _, what := range slices.Sorted(maps.Keys(tests)) {
		o.app.note("not judged in %s: %s", count(tests[what], "test"), what)
	}
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
		for _, text := range one.Vector {
			errs = append(errs, humanize.Fprintf(o.app.Out, "     %s\n", text))
		}
	}
	return errors.Join(errs...)
}
