// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// newRolloutUndo returns the command rollout undo.
func newRolloutUndo(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "undo [VECTORSIDECAR | clustervectorsidecar/NAME]",
		Short: "Return VectorSidecars from the published revision to their previous revision",
		Long: `Stop the published revision, and return the VectorSidecars that have it. Each one returns to its
previous revision (status.rollout.previous), or if it has none, to the newest one that a
VectorSidecar of its wave has finished. Failed revisions are skipped: rollout history shows them. If
there is no such revision, the VectorSidecar stays and is listed. VectorSidecars that do not have the
published revision stay as they are. No VectorSidecar starts the undone revision until values,
template sets or policy change, or a user runs rollout retry.

With --to-revision, all VectorSidecars go to that revision, which may be a failed one. That waits for
no wave; each VectorSidecar keeps its own pace.

The command prints which VectorSidecars change, and asks. The installation's values stay as they are:
the command sets the annotation ` + meta.AnnotationUndoRollout + `
of their ConfigMap, which you need the permission to patch. It does not need a permission to change
VectorSidecars.

If you name a VectorSidecar or a ClusterVectorSidecar, only that one returns: the command sets the
annotation on that object. No wave waits for it. --to-revision with the published revision removes the
annotation.`,
		Example: `# preview it
kubectl vectorsidecar rollout undo --dry-run
# without a question
kubectl vectorsidecar rollout undo --yes
# one VectorSidecar
kubectl vectorsidecar rollout undo logs -n shop
# all VectorSidecars to a revision that kubectl vectorsidecar rollout history lists
kubectl vectorsidecar rollout undo --to-revision 0123456789`,
		Args: cobra.MaximumNArgs(1),
	}
	options := undoOptions{rollout: newRolloutWrite(a, command)}
	flags := command.Flags()
	flags.StringVar(&options.targetRevision, "to-revision", "", "revision for all VectorSidecars; empty: the previous revision of each")
	flags.BoolVarP(&options.assumeYes, "yes", "y", false, "do not ask for confirmation")
	command.RunE = func(command *cobra.Command, names []string) error { return options.run(command.Context(), names) }
	return command
}

// undoOptions are the flags of undo.
type undoOptions struct {
	rollout *rolloutOptions

	targetRevision string
	assumeYes      bool
}

// undoRequest is a request to undo a revision.
type undoRequest struct {
	read    *rollout
	cluster client.WithWatch
	// now is the time of the request.
	now time.Time
	// undoneRevision is the undone revision.
	undoneRevision string
	// stored are the stored revisions, the newest first.
	stored []fleet.StoredRevision
	// target is the VectorSidecar to which the request applies, or nil for all VectorSidecars.
	target *rolloutTarget
	// change is the annotation that the request sets.
	change annotation
}

// run undoes the published revision, or moves to --to-revision, for all VectorSidecars or for one.
func (o *undoOptions) run(ctx context.Context, names []string) error {
	cluster, read, err := o.rollout.openRollout(ctx)
	if err == nil {
		err = read.requireRevision()
	}
	if err != nil {
		return err
	}
	request := &undoRequest{read: read, cluster: cluster, now: o.rollout.app.clock.Now(), undoneRevision: cmp.Or(read.target.Undone, read.Revision)}
	if len(names) > 0 {
		request.undoneRevision = read.Revision // The annotation of one VectorSidecar refers to the revision of all others.
		if request.target, err = o.rollout.findTarget(ctx, cluster, names[0]); err != nil {
			return err
		}
	}
	records, err := source.Revisions(ctx, livelist.New(cluster), read.values)
	if err != nil {
		return err
	}
	request.stored = fleet.StoredRevisions(records)
	if o.targetRevision == "" {
		return o.undo(ctx, request)
	}
	return o.undoToRevision(ctx, request)
}

// undo requests that each VectorSidecar returns to its previous revision.
func (o *undoOptions) undo(ctx context.Context, request *undoRequest) error {
	target := &request.read.target
	isUndone := target.Undone != ""
	text := fleet.UndoRequest(request.undoneRevision, request.now)
	if request.target != nil {
		text = request.undoneRevision
		isUndone = strings.HasPrefix(request.target.object.GetAnnotations()[meta.AnnotationUndoRollout], request.undoneRevision)
	}
	request.change = annotation{meta.AnnotationUndoRollout, text, "revision " + request.undoneRevision + " is undone"}
	effect, unread, err := o.previewEffect(ctx, request)
	if err != nil {
		return err
	}
	switch {
	case isUndone && (unread || len(effect.Moves) == 0 || target.IsRevert && request.target == nil):
		return humanize.Fprintf(o.rollout.app.Out, "revision %s is already undone; nothing changes\n", request.undoneRevision)
	case request.target != nil && len(effect.Stuck) > 0 && len(effect.Moves) == 0:
		return fmt.Errorf("%s has no earlier revision without failures to return to; name one with --to-revision (kubectl vectorsidecar rollout history)", request.target.title)
	}
	return o.executeRequest(ctx, request, effect, unread)
}

// undoToRevision requests that all VectorSidecars, or one of them, move to a revision.
func (o *undoOptions) undoToRevision(ctx context.Context, request *undoRequest) error {
	read := request.read
	switch {
	case request.target != nil && o.targetRevision == request.undoneRevision:
		request.change = annotation{key: meta.AnnotationUndoRollout, effect: "moves to revision " + o.targetRevision + " like all others"}
	case o.targetRevision == request.undoneRevision && read.target.IsRevert:
		request.change = annotation{key: meta.AnnotationUndoRollout, effect: fmt.Sprintf("all VectorSidecars move from revision %s to %s", read.Revision, o.targetRevision)}
	case o.targetRevision == read.Revision && read.IsUndone:
		return read.requireStarting()
	case o.targetRevision == read.Revision:
		return fmt.Errorf("all VectorSidecars already have revision %s, or move to it", o.targetRevision)
	default:
		if _, err := read.readContent(ctx, request.cluster, o.targetRevision); err != nil {
			return err
		}
		request.change = annotation{meta.AnnotationUndoRollout, request.undoneRevision + "/" + o.targetRevision, fmt.Sprintf("all VectorSidecars move from revision %s to %s", read.Revision, o.targetRevision)}
		if request.target != nil {
			request.change.effect = fmt.Sprintf("moves from revision %s to %s", request.undoneRevision, o.targetRevision)
		}
	}
	effect, unread, err := o.previewEffect(ctx, request)
	if err != nil {
		return err
	}
	return o.executeRequest(ctx, request, effect, unread)
}

// previewEffect returns the effect that a request will have on VectorSidecars. unread is true if the VectorSidecars
// cannot be read.
func (o *undoOptions) previewEffect(ctx context.Context, request *undoRequest) (effect fleet.UndoEffect, unread bool, err error) {
	members, err := o.listUndoMembers(ctx, request.cluster)
	if apierrors.IsForbidden(err) {
		return effect, true, nil
	}
	if err != nil {
		return effect, false, err
	}
	annotations := map[string]string{meta.AnnotationUndoRollout: request.change.value}
	target := request.read.target
	var memberKey *types.NamespacedName
	if request.target == nil {
		target = fleet.NewTarget(request.read.rules, request.undoneRevision, annotations)
	} else {
		memberKey = &types.NamespacedName{Namespace: request.target.object.GetNamespace(), Name: request.target.name}
		for i := range members {
			if members[i].Name == *memberKey {
				members[i].Annotations = annotations
			}
		}
	}
	target.Stored = request.stored
	return fleet.PreviewUndo(members, &target, memberKey, request.now), false, nil
}

// listUndoMembers lists the VectorSidecars and ClusterVectorSidecars that an undo may change.
func (o *undoOptions) listUndoMembers(ctx context.Context, cluster client.Reader) ([]fleet.UndoMember, error) {
	live := livelist.New(cluster)
	memberFor := func(object client.Object, name string, spec *v1alpha1.VectorSidecarSpec, waves ...v1alpha1.RolloutStatus) (fleet.UndoMember, bool) {
		member := fleet.UndoMember{Name: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}, Annotations: object.GetAnnotations(), Waves: waves}
		if spec.Rollout != nil {
			member.OnFailure = spec.Rollout.OnFailure
		}
		return member, true
	}
	members, err := livelist.Collect(ctx, live, &v1alpha1.VectorSidecarList{}, func(sidecar *v1alpha1.VectorSidecar) (fleet.UndoMember, bool) {
		return memberFor(sidecar, sidecar.Name, &sidecar.Spec, *cmp.Or(sidecar.Status.Rollout, &v1alpha1.RolloutStatus{Wave: fleet.DefaultWave}))
	})
	if err != nil {
		return nil, explainMissing(err)
	}
	clusters, err := livelist.Collect(ctx, live, &v1alpha1.ClusterVectorSidecarList{}, func(cluster *v1alpha1.ClusterVectorSidecar) (fleet.UndoMember, bool) {
		return memberFor(cluster, meta.ClusterSidecarName(cluster.Name), &cluster.Spec.VectorSidecarSpec, cluster.Status.Waves...)
	})
	switch {
	case apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err): // The kind is not installed.
	case apierrors.IsForbidden(err):
		o.rollout.app.printNote("ClusterVectorSidecars not read: %v", err)
	case err != nil:
		return nil, fmt.Errorf("listing ClusterVectorSidecars: %w", err)
	}
	return append(members, clusters...), nil
}

// executeRequest prints the effect of a request, asks for confirmation, and writes the annotation of the request.
func (o *undoOptions) executeRequest(ctx context.Context, request *undoRequest, effect fleet.UndoEffect, unread bool) error {
	lines := []string{"VectorSidecars not read"}
	if !unread {
		lines = o.describeEffect(ctx, request, &effect)
	}
	for _, line := range lines {
		if err := humanize.Fprintf(o.rollout.app.Out, "%s\n", line); err != nil {
			return err
		}
	}
	if !o.assumeYes && !o.rollout.dryRun {
		summary := "VectorSidecars not read"
		if !unread {
			summary = countNoun(len(effect.Moves), "VectorSidecar") + " would change"
		}
		title := request.change.effect
		if err := o.rollout.app.confirm(fmt.Sprintf("%s (%s)?", title, summary), fmt.Sprintf("%s (%s)", title, summary), "nothing was changed"); err != nil {
			return err
		}
	}
	if request.target != nil {
		return o.rollout.annotateTarget(ctx, request.cluster, request.target, request.change)
	}
	return o.rollout.annotateValues(ctx, request.cluster, request.read.values, request.change)
}

// describeEffect returns the effect of a request as lines.
func (o *undoOptions) describeEffect(ctx context.Context, request *undoRequest, effect *fleet.UndoEffect) []string {
	var lines []string
	for _, revision := range request.stored {
		if revision.Revision == o.targetRevision && revision.Failure != nil {
			lines = append(lines, fmt.Sprintf("revision %s has %s", o.targetRevision, failureText(revision.Failure)))
		}
	}
	moves := map[[2]string]int{}
	for _, move := range effect.Moves {
		moves[[2]string{move.From, move.To}]++
	}
	pairs := slices.SortedFunc(maps.Keys(moves), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, pair := range pairs {
		lines = append(lines, fmt.Sprintf("%s: from revision %s to %s", countNoun(moves[pair], "VectorSidecar"), pair[0], pair[1]))
		lines = append(lines, request.read.changedValues(ctx, request.cluster, pair[0], pair[1])...)
	}
	if o.targetRevision == "" && len(moves) == 0 && len(effect.Stuck) == 0 && effect.Returned > 0 {
		lines = append(lines, fmt.Sprintf("all VectorSidecars that had revision %s have already reverted: the undo only prevents that it starts again", request.undoneRevision))
	} else if len(moves) == 0 {
		lines = append(lines, fmt.Sprintf("no VectorSidecar changes: the undo only prevents that revision %s starts", request.undoneRevision))
	}
	if stuck := effect.Stuck; len(stuck) > 0 {
		var names []string
		for _, name := range stuck {
			names = append(names, strings.TrimPrefix(name.String(), "/"))
		}
		lines = append(lines, fmt.Sprintf("VectorSidecars that stay at revision %s, because no earlier revision without failures is stored: %s",
			request.undoneRevision, strings.Join(names, ", ")))
	}
	if request.target == nil {
		lines = append(lines, stayPhrase(effect.Others+effect.Returned, "other VectorSidecar")+" unchanged")
	}
	for _, revision := range slices.Sorted(maps.Keys(effect.Failed)) {
		lines = append(lines, fmt.Sprintf("of these, VectorSidecars that stay with failed revision %s: %d; name another revision with --to-revision", revision, effect.Failed[revision]))
	}
	return lines
}

// stayPhrase returns a count of objects that stay, as a phrase.
func stayPhrase(n int, singular string) string {
	if n == 1 {
		return countNoun(n, singular) + " stays"
	}
	return countNoun(n, singular) + " stay"
}

// mostChanged is the maximum number of values in a preview of an undo, and mostShown the maximum length of each in
// bytes.
const (
	mostChanged = 20
	mostShown   = 100
)

// changedValues returns lines about the values and template sets that differ between two revisions.
func (r *rollout) changedValues(ctx context.Context, cluster client.Reader, oldRevision, newRevision string) []string {
	var contents [2]*fleet.Content
	for i, revision := range []string{oldRevision, newRevision} {
		content, err := r.readContent(ctx, cluster, revision)
		if err != nil {
			return []string{fmt.Sprintf("  values not read: %v", err)}
		}
		contents[i] = content
	}
	oldValues, newValues := flattenFiles(contents[0].Values), flattenFiles(contents[1].Values)
	paths := maps.Clone(oldValues)
	maps.Copy(paths, newValues)
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if oldValue, newValue := cmp.Or(oldValues[path], "unset"), cmp.Or(newValues[path], "unset"); oldValue != newValue {
			lines = append(lines, fmt.Sprintf("  %s: %s -> %s", path, oldValue, newValue))
		}
	}
	sets := maps.Clone(contents[0].Sets)
	if sets == nil {
		sets = map[string]fleet.Files{}
	}
	maps.Copy(sets, contents[1].Sets)
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		if !contents[0].Sets[name].Equals(contents[1].Sets[name]) {
			lines = append(lines, fmt.Sprintf("  template set %q changes", name))
		}
	}
	if contents[0].Roll != contents[1].Roll {
		lines = append(lines, "  the operator's built-in templates change")
	}
	if omitted := len(lines) - mostChanged; omitted > 0 {
		lines = append(lines[:mostChanged], fmt.Sprintf("  and %d more: kubectl vectorsidecar rollout diff %s %s", omitted, oldRevision, newRevision))
	}
	return lines
}

// flattenFiles returns the values of files by file and path, as JSON. A file that cannot be parsed is one value.
func flattenFiles(files fleet.Files) map[string]string {
	values := map[string]string{}
	for name, text := range files.Text() {
		if layer, err := environment.ParseLayer(name, []byte(text)); err == nil {
			flattenValue(values, name, nil, layer.Tree)
		} else {
			values[name] = humanize.ShortenMessage(text, mostShown)
		}
	}
	return values
}

// flattenValue adds the scalars and lists below a value, by the file and their path.
func flattenValue(values map[string]string, file string, path []string, value any) {
	if children := tree.Map(value); len(children) > 0 {
		for key, child := range children {
			flattenValue(values, file, append(slices.Clip(path), key), child)
		}
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte(err.Error())
	}
	values[file+" "+tree.JoinPath(path...)] = humanize.ShortenMessage(string(text), mostShown)
}
