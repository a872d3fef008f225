// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/checkup"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// newRollout returns the command rollout.
func newRollout(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "rollout",
		Short: "Show and control the waves of an installation",
		Long: `Show and control the waves of an installation (rollout.waves of its values), in which changed
templates and values roll out.`,
		Example: `# the progress of each wave
kubectl vectorsidecar rollout status
# end the wait for a wave, and for those before it
kubectl vectorsidecar rollout promote canary
# continue a halted revision
kubectl vectorsidecar rollout retry
# return the VectorSidecars that have the published revision to the previous revision
kubectl vectorsidecar rollout undo`,
		// Without Args and RunE, cobra would print the help and exit with code 0 after a mistyped command.
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(
		newRolloutStatus(a), newRolloutHistory(a), newRolloutDiff(a), newRolloutPause(a), newRolloutResume(a), newRolloutPromote(a), newRolloutUndo(a), newRolloutRetry(a),
	)
	return command
}

// rolloutOptions are the flags of the rollout commands.
type rolloutOptions struct {
	app *app

	operatorNamespace string
	watch             bool
	dryRun            bool
	output            *format
}

// newRolloutOptions adds the flags that all rollout commands have.
func newRolloutOptions(a *app, command *cobra.Command) *rolloutOptions {
	options := &rolloutOptions{app: a}
	command.Flags().StringVar(&options.operatorNamespace, "operator-namespace", "", "namespace of the operator, if you may not read all namespaces")
	a.addClusterFlags(command.Flags())
	return options
}

// newRolloutWrite adds the flags that all rollout commands have, and --dry-run for a command that writes.
func newRolloutWrite(a *app, command *cobra.Command) *rolloutOptions {
	options := newRolloutOptions(a, command)
	command.Flags().BoolVar(&options.dryRun, "dry-run", false, "only print what would change")
	return options
}

// newRolloutPromote returns the command rollout promote.
func newRolloutPromote(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "promote WAVE | vectorsidecar/NAME | clustervectorsidecar/NAME",
		Short: "Start changes that wait for a wave, a canary or the rollout mode",
		Long: `End the wait of the published revision for a wave, and for those before it: for their unfinished
workloads and for their soaks. A halt stays. The next revision goes through all waves again. The
command sets the annotation ` + meta.AnnotationPromoteRollout + `
of the ConfigMap with the installation's values, which requires permission to patch it.

If you name a VectorSidecar or a ClusterVectorSidecar, it gets the published revision at once: the
command sets the annotation on that object. If a VectorSidecar has the revision already, and workloads
wait for its spec.rollout.mode, they get the change, each in its turn; the next change waits again. If
workloads wait because the workloads of spec.rollout.canary lack pods, they get the change without a
canary.`,
		Example: `# all VectorSidecars of the installation
kubectl vectorsidecar rollout promote canary
# one VectorSidecar, or its waiting workloads
kubectl vectorsidecar rollout promote vectorsidecar/logs -n shop`,
		Args: cobra.ExactArgs(1),
	}
	options := newRolloutWrite(a, command)
	command.RunE = func(command *cobra.Command, names []string) error {
		if name, isSidecar := parseSidecarName(names[0]); isSidecar {
			return options.promoteSidecar(command.Context(), name)
		}
		return options.promote(command.Context(), names[0])
	}
	return command
}

// newRolloutRetry returns the command rollout retry.
func newRolloutRetry(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "retry [vectorsidecar/NAME | clustervectorsidecar/NAME]",
		Short: "Continue a halted revision, or one VectorSidecar that stopped",
		Long: `Continue the halted revision of the installation after you removed the cause, which was not in the
revision. Workloads that fail again halt it again. The command sets the annotation
` + meta.AnnotationRetryRollout + ` of the ConfigMap with the
installation's values, which requires permission to patch it.

If you name a VectorSidecar or a ClusterVectorSidecar, only that one continues, also during a halt,
which stays for all others. Its failed rollouts then do not block its other workloads. The operator
repeats writes that were rejected or undone, also if owners of workloads undid them
(status.removedByOwners). The command sets the annotation on that object.`,
		Example: `# all VectorSidecars of the installation
kubectl vectorsidecar rollout retry
# one VectorSidecar
kubectl vectorsidecar rollout retry vectorsidecar/logs -n shop`,
		Args: cobra.MaximumNArgs(1),
	}
	options := newRolloutWrite(a, command)
	command.RunE = func(command *cobra.Command, names []string) error {
		if len(names) > 0 {
			return options.retrySidecar(command.Context(), names[0])
		}
		return options.annotateInstallation(command.Context(), func(read *rollout) ([]annotation, error) {
			changes := []annotation{{meta.AnnotationRetryRollout, time.Now().UTC().Format(time.RFC3339Nano), read.title() + " continues"}}
			if read.target.IsUndone() {
				changes = append(changes, annotation{key: meta.AnnotationUndoRollout})
			}
			return changes, nil
		})
	}
	return command
}

// retrySidecar makes one VectorSidecar retry its failed rollouts.
func (o *rolloutOptions) retrySidecar(ctx context.Context, argument string) error {
	name, isSidecar := parseSidecarName(argument)
	if !isSidecar {
		return fmt.Errorf("%q is not a valid argument: name a VectorSidecar as vectorsidecar/NAME, a ClusterVectorSidecar as clustervectorsidecar/NAME, or nothing for the installation", argument)
	}
	cluster, err := o.app.connect()
	if err != nil {
		return err
	}
	target, err := o.findTarget(ctx, cluster, name)
	if err != nil {
		return err
	}
	changes := []annotation{{meta.AnnotationRetryRollout, time.Now().UTC().Format(time.RFC3339Nano), "earlier failures no longer block the VectorSidecar"}}
	if undo := target.object.GetAnnotations()[meta.AnnotationUndoRollout]; !strings.Contains(undo, "/") {
		changes = append(changes, annotation{key: meta.AnnotationUndoRollout})
	}
	return o.annotateTarget(ctx, cluster, target, changes...)
}

// rollout is the state of the rollout of an installation's templates and values.
type rollout struct {
	// Revision is the digest of the published templates and values. RevisionNotRead explains why it could not be
	// read.
	Revision        string `json:"revision"`
	RevisionNotRead string `json:"revisionNotRead,omitempty"`
	// IsUndone is true if a user has undone the revision. No VectorSidecar starts an undone revision.
	IsUndone bool `json:"isUndone,omitempty"`
	// Faults name the parts that have an invalid current version, so that an earlier version is used: template sets,
	// policy and rollout rules.
	Faults []string `json:"faults,omitempty"`
	// Problems explain why the rollout does not continue in some or all VectorSidecars: writes are stopped, the
	// revision is halted, or waves are stuck.
	Problems []string `json:"problems,omitempty"`
	Waves    []wave   `json:"waves,omitempty"`
	// RevertedSpecs are the first few VectorSidecars that have reverted to an earlier spec, each with a description of
	// the failed spec.
	RevertedSpecs []string `json:"revertedSpecs,omitempty"`

	rules  *fleet.Rules
	target fleet.Target
	// publishedAt is the time at which the revision was published, zero if unknown.
	publishedAt time.Time
	// platform is the platform of the current ConfigMaps. After an undo, it has another revision than the published
	// one.
	platform *desired.Platform
	values   types.NamespacedName
	// writes is the result of the check whether writes are stopped. isStoppedByValues reports whether a value of the
	// installation stops them.
	writes            checkup.Result
	isStoppedByValues bool
}

// readRollout reads the published templates and values of the installation.
func (o *rolloutOptions) readRollout(ctx context.Context, cluster client.Reader) (*rollout, error) {
	installed, err := source.FindInstallation(ctx, cluster, o.operatorNamespace, *o.app.kube.Namespace)
	if apierrors.IsForbidden(err) && installed != nil && (installed.Published != nil || installed.PublishedErr != nil) {
		err = nil // The template sets are not needed for what the operator records.
	}
	switch {
	case err != nil:
		return nil, err
	case installed == nil:
		return nil, errors.New("operator not found; install the operator, or set its namespace with --operator-namespace")
	case len(installed.OtherOperators) > 0:
		return nil, fmt.Errorf("found several operators: %s; choose one with --operator-namespace, or by --namespace with one that it watches",
			strings.Join(append([]string{installed.Title()}, installed.OtherOperators...), ", "))
	}
	chart, err := (&inputs{app: o.app}).openChart()
	if err != nil {
		return nil, err
	}
	catalog, err := newCatalog(chart)
	if err != nil {
		return nil, err
	}
	// Without the content of the published revision, only its name is needed.
	platform, _ := installed.PublishedPlatform(ctx, cluster, catalog)
	read := &rollout{Revision: platform.Target.Revision, rules: platform.Rollout, target: platform.Target, platform: platform, values: installed.ValuesName()}
	if installed.PublishedErr != nil {
		read.Revision, read.RevisionNotRead = "", installed.PublishedErr.Error()
	}
	read.IsUndone = read.RevisionNotRead == "" && read.target.IsUndone()
	if installed.Published != nil {
		read.Faults, read.publishedAt = installed.Published.Faults(), installed.Published.Since.Time
	}
	read.isStoppedByValues = installed.ConfigMaps().Installation.Annotations[meta.AnnotationWrites] == meta.WritesStopped
	read.writes = checkup.WritesResult(installed)
	return read, nil
}

// title names the published revision in messages.
func (r *rollout) title() string {
	if r.RevisionNotRead != "" {
		return "published revision (not read)"
	}
	return "revision " + r.Revision
}

// requireRevision returns an error if the published revision could not be read.
func (r *rollout) requireRevision() error {
	if r.RevisionNotRead == "" {
		return nil
	}
	return fmt.Errorf("published revision not read: %s", r.RevisionNotRead)
}

// requireStarting returns an error if the published revision could not be read, or is undone.
func (r *rollout) requireStarting() error {
	if err := r.requireRevision(); err != nil || !r.IsUndone {
		return err
	}
	return fmt.Errorf("revision %s is undone; run kubectl vectorsidecar rollout retry to start it again", r.Revision)
}

// readWaves returns the result of readRollout, or an error if the installation has no waves. It prints a note for each
// part of the published revision that differs from the current ConfigMaps.
func (o *rolloutOptions) readWaves(ctx context.Context, cluster client.Reader) (*rollout, error) {
	read, err := o.readRollout(ctx, cluster)
	if err == nil {
		err = read.requireWaves()
	}
	if err != nil {
		return nil, err
	}
	for _, fault := range read.Faults {
		o.app.printNote("%s", fault)
	}
	return read, nil
}

// requireWaves returns an error if the installation has neither waves nor a halt.
func (r *rollout) requireWaves() error {
	if r.rules.IsStaged() {
		return nil
	}
	return fmt.Errorf("the installation has no waves: set rollout.waves or rollout.halt in its values (ConfigMap %s)", r.values)
}

// promote ends the wait for a wave, and for the waves before it.
func (o *rolloutOptions) promote(ctx context.Context, name string) error {
	return o.annotateInstallation(ctx, func(read *rollout) ([]annotation, error) {
		var waveNames []string
		for n := range len(read.rules.Waves) + 1 {
			waveNames = append(waveNames, read.rules.WaveName(n))
		}
		if !slices.Contains(waveNames, name) {
			return nil, fmt.Errorf("unknown wave %q; the waves are %s", name, strings.Join(waveNames, ", "))
		}
		if err := read.requireStarting(); err != nil {
			return nil, err
		}
		return []annotation{{meta.AnnotationPromoteRollout, read.Revision + "/" + name, "revision " + read.Revision + " continues"}}, nil
	})
}

// promoteSidecar makes one VectorSidecar start without waiting for its wave, or its workloads without waiting for its
// mode.
func (o *rolloutOptions) promoteSidecar(ctx context.Context, name string) error {
	cluster, err := o.app.connect()
	if err != nil {
		return err
	}
	target, err := o.findTarget(ctx, cluster, name)
	if err != nil {
		return err
	}
	hasDeferred := target.deferred != nil && target.deferred.Change != ""
	if (hasDeferred || len(target.canaries) > 0) && !target.isObserved {
		return fmt.Errorf("the operator has not reconciled the current spec of %s yet; run the command again in a moment", target.title)
	}
	if len(target.canaries) > 0 {
		var values []string
		for _, change := range target.canaries {
			values = append(values, v1alpha1.PromotionOfCanary(change))
		}
		effect := fmt.Sprintf("change %s starts in all workloads without waiting for a canary", strings.Join(target.canaries, ", "))
		return o.annotateTarget(ctx, cluster, target, annotation{meta.AnnotationPromoteRollout, strings.Join(values, ","), effect})
	}
	if waits := target.deferred; hasDeferred {
		effect := fmt.Sprintf("change %s starts in the deferred workloads (%d)", waits.Change, waits.Workloads)
		return o.annotateTarget(ctx, cluster, target, annotation{meta.AnnotationPromoteRollout, waits.Change, effect})
	}
	read, err := o.readWaves(ctx, cluster)
	if err != nil && target.spec.RolloutMode() != v1alpha1.ModeImmediate {
		return fmt.Errorf("no workload of %s waits for spec.rollout.mode, and no wave can be promoted: %w", target.title, err)
	}
	if err == nil {
		err = read.requireStarting()
	}
	if err != nil {
		return err
	}
	return o.annotateTarget(ctx, cluster, target, annotation{meta.AnnotationPromoteRollout, read.Revision, "revision " + read.Revision + " starts without waiting for a wave"})
}

// openRollout connects to the cluster, and reads the published templates and values of an installation with waves.
func (o *rolloutOptions) openRollout(ctx context.Context) (client.WithWatch, *rollout, error) {
	cluster, err := o.app.connect()
	if err != nil {
		return nil, nil, err
	}
	read, err := o.readWaves(ctx, cluster)
	return cluster, read, err
}
