// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/checkup"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// newRolloutPause returns the command rollout pause.
func newRolloutPause(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "pause [VECTORSIDECAR | clustervectorsidecar/NAME]",
		Short: "Pause the rollouts of a VectorSidecar, or stop all writes of the installation",
		Long: `Stop new rollouts of a VectorSidecar: the command sets its spec.rollout.paused. Without a name, stop
all writes of the installation except removals: the command sets the annotation
` + meta.AnnotationStopWrites + ` of the ConfigMap with its values to the current time.
Rollouts in progress continue.`,
		Example: `# one VectorSidecar
kubectl vectorsidecar rollout pause logs -n shop
# everything, in an emergency
kubectl vectorsidecar rollout pause`,
		Args: cobra.MaximumNArgs(1),
	}
	return pauseCommand(a, command, true)
}

// newRolloutResume returns the command rollout resume.
func newRolloutResume(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "resume [VECTORSIDECAR | clustervectorsidecar/NAME]",
		Short: "Undo rollout pause",
		Long:  `Undo kubectl vectorsidecar rollout pause, for a VectorSidecar or for the installation.`,
		Example: `# one VectorSidecar
kubectl vectorsidecar rollout resume logs -n shop
# everything
kubectl vectorsidecar rollout resume`,
		Args: cobra.MaximumNArgs(1),
	}
	return pauseCommand(a, command, false)
}

// pauseCommand completes the command pause or resume.
func pauseCommand(a *app, command *cobra.Command, isPause bool) *cobra.Command {
	options := newRolloutWrite(a, command)
	command.RunE = func(command *cobra.Command, names []string) error {
		if len(names) == 0 {
			return options.pauseInstallation(command.Context(), isPause)
		}
		return options.pauseSidecar(command.Context(), names[0], isPause)
	}
	return command
}

// pauseInstallation stops or resumes the writes of the installation.
func (o *rolloutOptions) pauseInstallation(ctx context.Context, isPause bool) error {
	cluster, err := o.app.connect()
	if err != nil {
		return err
	}
	read, err := o.readRollout(ctx, cluster)
	if err != nil {
		return err
	}
	changes := []annotation{{key: meta.AnnotationStopWrites, effect: "writes continue"}, {key: meta.AnnotationWrites}}
	if read.isStoppedByValues {
		changes[0].effect = "writes continue until the next upgrade of the installation; set writes: Enabled in the installation's values"
	}
	if isPause {
		changes = []annotation{{meta.AnnotationStopWrites, time.Now().UTC().Format(time.RFC3339), "all writes except removals are stopped"}}
		if read.writes.State != checkup.OK {
			return humanize.Fprintf(o.app.Out, "configmap/%s unchanged: %s\n", read.values.Name, read.writes.Message)
		}
	}
	return o.annotateValues(ctx, cluster, read.values, changes...)
}

// pauseSidecar sets spec.rollout.paused of a VectorSidecar.
func (o *rolloutOptions) pauseSidecar(ctx context.Context, name string, isPause bool) error {
	cluster, err := o.app.connect()
	if err != nil {
		return err
	}
	target, err := o.findTarget(ctx, cluster, name)
	if err != nil {
		return err
	}
	before, _ := target.object.DeepCopyObject().(client.Object) // The copy has the same type.
	if target.spec.Rollout == nil {
		target.spec.Rollout = &v1alpha1.RolloutSpec{}
	}
	target.spec.Rollout.Paused = isPause
	effect := "rollouts start again"
	if isPause {
		effect = "no more rollouts start"
	}
	if o.dryRun {
		return humanize.Fprintf(o.app.Out, "%s (dry run): %s\n", meta.Argument(target.name), effect)
	}
	if err := cluster.Patch(ctx, target.object, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("changing %s: %w", target.title, err)
	}
	return humanize.Fprintf(o.app.Out, "%s: %s\n", meta.Argument(target.name), effect)
}
