// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// newRolloutHistory returns the command rollout history.
func newRolloutHistory(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "history",
		Short: "List the stored revisions of the installation's templates and values",
		Long: `List the stored revisions of the installation's templates and values, the last published one first:
those that VectorSidecars have or would return to, and the last ten. The operator stores them as
ControllerRevisions in its namespace.`,
		Example: `kubectl vectorsidecar rollout history`,
		Args:    cobra.NoArgs,
	}
	options := newRolloutOptions(a, command)
	command.RunE = func(command *cobra.Command, _ []string) error { return options.printHistory(command.Context()) }
	options.output = addFormat(command, "json", "yaml")
	return command
}

// newRolloutDiff returns the command rollout diff.
func newRolloutDiff(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "diff REVISION [REVISION]",
		Short: "Show the differences between two revisions, or between one and the published revision",
		Long: `Show the differences between two revisions, or between one and the published revision: values,
template sets, and the operator's own templates that render each, as far as they are stored.

The exit code is 1 if something differs.`,
		Example: `# changes since the previous revision
kubectl vectorsidecar rollout diff 0123456789`,
		Args: cobra.RangeArgs(1, 2),
	}
	options := newRolloutOptions(a, command)
	command.RunE = func(command *cobra.Command, revisions []string) error {
		return options.printRevisionDiff(command.Context(), revisions)
	}
	return command
}

// storedRevision is a stored revision, for rollout history.
type storedRevision struct {
	Revision string      `json:"revision"`
	Stored   metav1.Time `json:"stored"`
	// VectorSidecars is the number of VectorSidecars with the revision, and FailedWorkloads the number of workloads
	// that failed with it.
	VectorSidecars  int   `json:"vectorSidecars"`
	FailedWorkloads int32 `json:"failedWorkloads"`
	// IsPresent is true for the published revision.
	IsPresent bool `json:"isPresent"`
	// Failures are the failures of the revision that VectorSidecars have recorded.
	Failures []rolloutFailure `json:"failures,omitempty"`
	// Failure is the record of a failed revision. VectorSidecars do not return to a failed revision automatically.
	Failure *fleet.RevisionFailure `json:"failure,omitempty"`
}

// stateText returns the state of a stored revision, such as published or failed, or "" for no special state.
func (r *storedRevision) stateText() string {
	var states []string
	if r.IsPresent {
		states = append(states, "present")
	}
	if r.Failure != nil {
		states = append(states, failureText(r.Failure))
	}
	return strings.Join(states, ", ")
}

// failureText describes the record of a failed revision.
func failureText(failure *fleet.RevisionFailure) string {
	if failure.Since.IsZero() {
		return fmt.Sprintf("failed (%s)", failure.Reason)
	}
	return fmt.Sprintf("failed (%s since %s)", failure.Reason, failure.Since.UTC().Format(time.RFC3339))
}

// printHistory prints the stored revisions.
func (o *rolloutOptions) printHistory(ctx context.Context) error {
	if err := o.output.check(); err != nil {
		return err
	}
	cluster, read, err := o.openRollout(ctx)
	if err != nil {
		return err
	}
	stored, err := source.Revisions(ctx, livelist.New(cluster), read.values)
	if err != nil {
		return err
	}
	if err := read.requireRevision(); err != nil {
		o.app.printNote("%v", err)
	}
	waveMembers, _, err := o.readWaveMembers(ctx, cluster)
	if err != nil {
		return err
	}
	revisions, marks := make([]storedRevision, 0, len(stored)), fleet.StoredRevisions(stored)
	for i := range stored {
		name := stored[i].Labels[meta.LabelRevision]
		revision := storedRevision{Revision: name, Stored: stored[i].CreationTimestamp, IsPresent: name == read.Revision, Failure: marks[i].Failure}
		for n := range waveMembers {
			status := waveMembers[n].status
			if status == nil {
				continue
			}
			if status.Revision == name {
				revision.VectorSidecars++
			}
			failures := waveMembers[n].matchingFailures(name)
			revision.Failures = append(revision.Failures, failures...)
			if status.FailedRevision == name {
				revision.FailedWorkloads += status.FailedWorkloads
			} else { // The number belongs to a later revision.
				revision.FailedWorkloads += int32(len(failures)) //nolint:gosec // At most five.
			}
		}
		revisions = append(revisions, revision)
	}
	if o.output.isTree() {
		return o.output.print(o.app.Out, revisions)
	}
	var rows [][]string
	for _, revision := range revisions {
		rows = append(rows, []string{
			revision.Revision, revision.Stored.UTC().Format(time.RFC3339), strconv.Itoa(revision.VectorSidecars), strconv.Itoa(int(revision.FailedWorkloads)), revision.stateText(),
		})
	}
	if err := printTable(o.app.Out, []string{"REVISION", "STORED", "VECTORSIDECARS", "FAILED WORKLOADS", ""}, rows); err != nil {
		return err
	}
	for i := range revisions {
		for _, line := range failureTexts(revisions[i].Failures) {
			if err := humanize.Fprintf(o.app.Out, "%s\n", line); err != nil {
				return err
			}
		}
	}
	return nil
}

// printRevisionDiff prints the differences between two revisions, or between one and the published revision. It returns
// a *foundError if there are differences.
func (o *rolloutOptions) printRevisionDiff(ctx context.Context, revisions []string) error {
	cluster, read, err := o.openRollout(ctx)
	if err != nil {
		return err
	}
	if len(revisions) == 1 {
		if err := read.requireRevision(); err != nil {
			return err
		}
		revisions = append(revisions, read.Revision)
	}
	var contents [2]*fleet.Content
	for i, revision := range revisions {
		if contents[i], err = read.readContent(ctx, cluster, revision); err != nil {
			return err
		}
	}
	hasBuiltIn := !contents[0].BuiltIn.IsEmpty() && !contents[1].BuiltIn.IsEmpty()
	files := [2]map[string]string{contentFiles(contents[0], hasBuiltIn), contentFiles(contents[1], hasBuiltIn)}
	names := maps.Clone(files[0])
	maps.Copy(names, files[1])
	hasFound := false
	for _, name := range slices.Sorted(maps.Keys(names)) {
		escaped := humanize.EscapeLine(name)
		text, err := unifiedDiff(revisions[0]+"/"+escaped, revisions[1]+"/"+escaped, humanize.Escape(files[0][name]), humanize.Escape(files[1][name]))
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		hasFound = true
		if err := painterFor(o.app.Out).printDifference(text); err != nil {
			return err
		}
	}
	if hasFound {
		return &foundError{}
	}
	return nil
}

// readContent returns the stored content of a revision. If the published revision is not stored yet, it returns the
// content of the ConfigMaps.
func (r *rollout) readContent(ctx context.Context, cluster client.Reader, revision string) (*fleet.Content, error) {
	content, err := source.ReadRevision(ctx, cluster, r.values, revision)
	recordErr := &fleet.RecordError{}
	if !errors.As(err, &recordErr) {
		return content, err
	}
	if revision == r.platform.Revision { // No VectorSidecar has it yet.
		return r.platform.Content, nil
	}
	stored, listErr := source.Revisions(ctx, livelist.New(cluster), r.values)
	if listErr != nil || slices.ContainsFunc(stored, matchesRevision(revision)) {
		return nil, err
	}
	var names []string
	for i := range stored {
		names = append(names, stored[i].Labels[meta.LabelRevision])
	}
	return nil, fmt.Errorf("revision %q is not stored; stored revisions: %s", revision, cmp.Or(strings.Join(names, ", "), "none"))
}

// matchesRevision returns a function that reports whether a ControllerRevision contains the revision.
func matchesRevision(revision string) func(appsv1.ControllerRevision) bool {
	return func(stored appsv1.ControllerRevision) bool { return stored.Labels[meta.LabelRevision] == revision }
}

// contentFiles returns the files of a revision by path. withBuiltIn includes the built-in templates.
func contentFiles(content *fleet.Content, withBuiltIn bool) map[string]string {
	byPath := map[string]string{}
	add := func(folder string, files fleet.Files) {
		for name, text := range files.Text() {
			byPath[folder+"/"+name] = text
		}
	}
	add("values", content.Values)
	for name, files := range content.Sets {
		add("templates/"+name, files)
	}
	if withBuiltIn {
		add("built-in", content.BuiltIn)
	}
	return byPath
}
