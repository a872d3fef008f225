// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// diffOptions are the flags of diff.
type diffOptions struct{ *inputs }

// newDiff returns the command diff.
func newDiff(a *app) *cobra.Command {
	options := diffOptions{}
	command := &cobra.Command{
		Use:   "diff [WORKLOAD...] [-f FILE] [--sidecar FILE]",
		Short: "Show the changes that live or given workloads would get, and whether pods would restart",
		Long: `Show the changes that live or given workloads would get, and whether pods would restart.

Lines that start with # precede each difference: the action, the number of replaced pods, and the
reason; patch ignores them. All changes are shown, also those that wait for a rollout slot, except
those of the annotations change-cause and rendered-from.

The exit code is 1 if something would change.`,
		Example: `# the effect of a VectorSidecar, before it is applied
kubectl vectorsidecar diff -f docs/samples/app/deployment.yaml --sidecar docs/samples/02-logs.yaml --label logs=vector
# the effect of a changed VectorSidecar on the workloads of the cluster
kubectl vectorsidecar diff --sidecar docs/samples/02-logs.yaml -n shop
# the effect of a label on a workload
kubectl vectorsidecar diff cart -n shop --label logs=vector`,
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), arguments)
		},
	}
	options.inputs = newInputs(a, command)
	options.addWorkloadFlags(command)
	command.ValidArgsFunction = options.completeWorkloads
	return command
}

// run prints the differences. It returns a *foundError if there are any and all VectorSidecars are valid.
func (o *diffOptions) run(ctx context.Context, arguments []string) error {
	scene, err := o.openSession(ctx, arguments...)
	if err != nil {
		return err
	}
	workloads, err := scene.pickWorkloads()
	if err != nil {
		return err
	}
	merged, err := scene.mergeSidecars(ctx)
	if err != nil {
		return err
	}
	hasDifferences, err := o.printDifferences(ctx, scene, merged, workloads)
	switch {
	case err != nil:
		return err
	case len(merged.faultErrors()) > 0:
		return errors.Join(merged.faultErrors()...)
	case hasDifferences:
		return &foundError{}
	}
	return nil
}

// printDifferences prints all differences and reports whether there are any.
func (o *diffOptions) printDifferences(ctx context.Context, scene *session, merged *mergedResult, workloads []workload.Object) (bool, error) {
	hasDifferences := false
	for _, ruled := range merged.rulings {
		if ruled.decision.Invalid != nil {
			continue
		}
		isDifferent, err := o.printCompanions(ctx, scene, ruled, workloads)
		if err != nil {
			return false, err
		}
		hasDifferences = hasDifferences || isDifferent
	}
	for _, deployment := range workloads {
		change := merged.changeFor(deployment)
		o.noteUnchanged(change)
		if change.after == nil {
			continue
		}
		setKind(deployment)
		kind := deployment.GetObjectKind().GroupVersionKind()
		isDifferent, err := o.printDifference(kind.Group+"."+kind.Version+"."+kind.Kind, withoutRenderAnnotations(deployment), withoutRenderAnnotations(change.after), change.heading())
		if err != nil {
			return false, err
		}
		hasDifferences = hasDifferences || isDifferent
	}
	return hasDifferences, nil
}

// withoutRenderAnnotations returns a workload without the annotations change-cause and rendered-from, because the
// heading of its difference contains them.
func withoutRenderAnnotations(object client.Object) client.Object {
	shown, _ := object.DeepCopyObject().(client.Object)
	annotations := maps.Clone(shown.GetAnnotations())
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return meta.IsAnnotationKey(key, meta.AnnotationChangeCause) || meta.IsAnnotationKey(key, meta.AnnotationRenderedFrom)
	})
	shown.SetAnnotations(annotations)
	return shown
}

// printCompanions prints the differences of the workloads' companions. It returns true if there are any.
func (o *diffOptions) printCompanions(ctx context.Context, scene *session, ruled *result, workloads []workload.Object) (bool, error) {
	hasDifferences := false
	for i := range ruled.decision.Missing {
		if !ruled.referencesConfigMap(&ruled.decision.Missing[i], workloads...) {
			continue
		}
		expected := withTypeMeta(&ruled.decision.Missing[i])
		live := &corev1.ConfigMap{}
		err := scene.objects.Get(ctx, client.ObjectKeyFromObject(expected), live)
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
		var before client.Object
		if err == nil {
			before = withTypeMeta(live)
			expected.OwnerReferences = live.OwnerReferences
		}
		isDifferent, err := o.printDifference("v1.ConfigMap", before, expected, "")
		if err != nil {
			return false, err
		}
		hasDifferences = hasDifferences || isDifferent
	}
	return hasDifferences, nil
}

// noteUnchanged prints the reason why a workload does not change, to standard error.
func (o *diffOptions) noteUnchanged(c *change) {
	for i := range c.plans {
		if p := &c.plans[i]; p.Reason() != "" && !p.StartsPods() {
			o.app.printNote("# %s %s/%s: %s: %s", p.Target.Kind, p.Target.Namespace, p.Target.Name, p.Reason(), p.Message())
		}
	}
}

// heading returns the lines above a difference: the actions on the workload and their causes.
func (c *change) heading() string {
	var actions, causes []string
	for i := range c.plans {
		if p := &c.plans[i]; p.StartsPods() {
			actions = append(actions, strings.ToLower(p.Action())+changeVerb(p))
			causes = append(causes, p.Write.Cause)
		}
	}
	restarts := "no pod would restart"
	if n := restartCount(c.before); c.isRestart && n > 0 {
		restarts = countNoun(n, "pod") + " would restart"
	}
	heading := humanize.EscapeLine(fmt.Sprintf("# %s %s/%s: %s; %s", workload.NewRef(c.before).Kind, c.before.GetNamespace(), c.before.GetName(), strings.Join(actions, ", "), restarts)) + "\n"
	return heading + humanize.EscapeLine("# cause: "+strings.Join(causes, "; ")) + "\n"
}

// changeVerb returns the words that follow an action in a heading if the workload waits for its batch, or "".
func changeVerb(p *plan.Plan) string {
	if p.IsWaiting() {
		return fmt.Sprintf(" in its batch (%s)", p.Reason())
	}
	return ""
}

// printDifference prints a unified diff as kubectl diff does. before is nil for a new object.
func (o *diffOptions) printDifference(kind string, before, after client.Object, heading string) (bool, error) {
	oldText := ""
	if before != nil {
		text, err := objectText(before)
		if err != nil {
			return false, err
		}
		oldText = text
	}
	newText, err := objectText(after)
	if err != nil {
		return false, err
	}
	name := humanize.EscapeLine(fmt.Sprintf("%s.%s.%s", kind, after.GetNamespace(), after.GetName()))
	text, err := unifiedDiff("live/"+name, "merged/"+name, oldText, newText)
	if err != nil || text == "" {
		return false, err
	}
	_, err = io.WriteString(o.app.Out, heading)
	return true, errors.Join(err, painterFor(o.app.Out).printDifference(text))
}

// unifiedDiff returns a unified diff, empty if both texts are equal.
func unifiedDiff(oldName, newName, oldText, newText string) (string, error) {
	if oldText == newText {
		return "", nil
	}
	lines := func(text string) []string { return slices.Collect(strings.Lines(text)) }
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: lines(oldText), B: lines(newText), FromFile: oldName, ToFile: newName, Context: 3,
	})
	if err != nil {
		return "", fmt.Errorf("comparing the objects: %w", err)
	}
	return text, nil
}

// printDifference writes a unified diff.
func (p painter) printDifference(text string) error {
	colors := map[byte]string{'+': green, '-': red, '@': cyan}
	var errs []error
	for line := range strings.Lines(text) {
		errs = append(errs, p.paint(colors[line[0]], strings.TrimSuffix(line, "\n")))
		_, err := io.WriteString(p.writer, "\n")
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
