// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// newRolloutStatus returns the command rollout status.
func newRolloutStatus(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "status",
		Short: "Show the progress of each wave with the published revision",
		Long: `Show the progress of each wave with the installation's current templates and values, and the
VectorSidecars that have reverted a failed spec of their own. Without waves, it shows only these.`,
		Example: `# once
kubectl vectorsidecar rollout status
# again after each change
kubectl vectorsidecar rollout status -w`,
		Args: cobra.NoArgs,
	}
	options := newRolloutOptions(a, command)
	command.RunE = func(command *cobra.Command, _ []string) error { return options.printStatus(command.Context()) }
	command.Flags().BoolVarP(&options.watch, "watch", "w", false, "keep watching, and print again after changes")
	options.output = addFormat(command, "json", "yaml")
	return command
}

// wave is the progress of one wave.
type wave struct {
	Name string `json:"name"`
	// VectorSidecars contains the number of VectorSidecars in each state. A ClusterVectorSidecar counts once in each
	// wave that contains some of its namespaces.
	VectorSidecars map[v1alpha1.RolloutState]int `json:"vectorSidecars"`
	// FailedWorkloads is the number of workloads that failed because of the sidecar.
	FailedWorkloads int32 `json:"failedWorkloads"`
	// DeferredWorkloads is the number of workloads that wait for spec.rollout.mode of their VectorSidecars. Waves do
	// not wait for them.
	DeferredWorkloads int32 `json:"deferredWorkloads,omitempty"`
	// Workloads is the number of workloads with the revision. Evidence is the number of these workloads of which a pod
	// has run the revision.
	Workloads int32 `json:"workloads,omitempty"`
	Evidence  int32 `json:"evidence,omitempty"`
	// SoaksUntil is the end of the soak of the wave.
	SoaksUntil *metav1.Time `json:"soaksUntil,omitempty"`
	// Unfinished are the first VectorSidecars that have not finished, with the reason why they wait.
	Unfinished []string `json:"unfinished,omitempty"`
	// Failures are the first few failures that the VectorSidecars of the wave have recorded, with any revision.
	Failures []rolloutFailure `json:"failures,omitempty"`
}

// rolloutFailure is a failure that a VectorSidecar has recorded.
type rolloutFailure struct {
	// VectorSidecar is NAMESPACE/NAME, or clustervectorsidecar/NAME.
	VectorSidecar string `json:"vectorSidecar"`

	v1alpha1.RolloutFailure
}

// mostFailures is the maximum number of failures of a wave, or of a revision, in the output.
const mostFailures = 5

// matchingFailures returns the recorded failures with a revision, or with any revision for "", sorted by VectorSidecar.
func (w *waveMember) matchingFailures(revision string) (failures []rolloutFailure) {
	if w.status == nil {
		return nil
	}
	for _, failure := range w.status.Failures {
		if revision == "" || failure.Revision == revision {
			failures = append(failures, rolloutFailure{VectorSidecar: w.name, RolloutFailure: failure})
		}
	}
	return failures
}

// failureTexts describes the first few failures, one per line, and adds the number of the others.
func failureTexts(failures []rolloutFailure) []string {
	var lines []string
	for i := range failures {
		lines = append(lines, failures[i].VectorSidecar+": "+failures[i].Text())
	}
	return humanize.TruncateList(lines, mostFailures, len(lines))
}

// mostUnfinished is the maximum number of VectorSidecars of a wave in the output.
const mostUnfinished = 5

// countMembers sets the numbers of VectorSidecars and workloads in each wave.
func (r *rollout) countMembers(waveMembers []waveMember) {
	byName := map[string]*wave{}
	for n := range len(r.rules.Waves) + 1 {
		r.Waves = append(r.Waves, wave{Name: r.rules.WaveName(n), VectorSidecars: map[v1alpha1.RolloutState]int{}})
	}
	for n := range r.Waves {
		byName[r.Waves[n].Name] = &r.Waves[n]
	}
	for i := range waveMembers {
		status := cmp.Or(waveMembers[i].status, &v1alpha1.RolloutStatus{Wave: fleet.DefaultWave, State: v1alpha1.RolloutWaiting, Message: "not reconciled by the operator yet"})
		waveReport := byName[status.Wave]
		if waveReport == nil {
			waveReport = byName[fleet.DefaultWave] // The waves have changed since then.
		}
		state := status.State
		isPublished := status.Revision == r.Revision || r.RevisionNotRead != ""
		if !isPublished && state != v1alpha1.RolloutHalted && state != v1alpha1.RolloutReverted {
			state = v1alpha1.RolloutWaiting
		}
		waveReport.VectorSidecars[state]++
		if isPublished {
			waveReport.Workloads, waveReport.Evidence = waveReport.Workloads+status.Workloads, waveReport.Evidence+status.Evidence
		}
		waveReport.Failures = append(waveReport.Failures, waveMembers[i].matchingFailures("")...)
		waveReport.DeferredWorkloads += waveMembers[i].deferred
		if status.FailedRevision == r.Revision || r.RevisionNotRead != "" && status.FailedRevision == status.Revision {
			waveReport.FailedWorkloads += status.FailedWorkloads
		}
		if state == v1alpha1.RolloutSoaking && status.CompletionTime != nil {
			end := metav1.NewTime(status.CompletionTime.Add(r.rules.Soak(status.Wave)))
			if waveReport.SoaksUntil == nil || waveReport.SoaksUntil.Before(&end) {
				waveReport.SoaksUntil = &end
			}
		}
		if state != v1alpha1.RolloutComplete && state != v1alpha1.RolloutSoaking {
			text := fmt.Sprintf("%s: %s", waveMembers[i].name, state)
			if status.Message != "" {
				text += ": " + status.Message
			}
			waveReport.Unfinished = append(waveReport.Unfinished, text)
		}
	}
	for n := range r.Waves {
		slices.Sort(r.Waves[n].Unfinished)
		r.Waves[n].Unfinished = humanize.TruncateList(r.Waves[n].Unfinished, mostUnfinished, len(r.Waves[n].Unfinished))
	}
}

// printStatus prints the state of the rollout. With --watch, it prints the state again after each change.
func (o *rolloutOptions) printStatus(ctx context.Context) error {
	if err := o.output.check(); err != nil {
		return err
	}
	cluster, err := o.app.connect()
	if err != nil {
		return err
	}
	show := func() ([]byte, error) {
		read, err := o.readRollout(ctx, cluster)
		if err != nil {
			return nil, err
		}
		waveMembers, reverted, err := o.readWaveMembers(ctx, cluster)
		if err != nil {
			return nil, err
		}
		read.RevertedSpecs = humanize.TruncateList(reverted, mostUnfinished, len(reverted))
		read.findProblems(waveMembers, o.app.clock.Now())
		switch err := read.requireWaves(); {
		case err == nil:
			read.countMembers(waveMembers)
		case len(read.RevertedSpecs)+len(read.Problems) == 0:
			return nil, err
		}
		var buffer bytes.Buffer
		if o.output.isTree() {
			err = o.output.print(&buffer, read)
		} else {
			err = read.print(&buffer)
		}
		return buffer.Bytes(), err
	}
	if o.watch {
		return o.app.watch(ctx, cluster, show, watchSidecars(""), watchClusterSidecarsIfAny())
	}
	text, err := show()
	if err != nil {
		return err
	}
	_, err = o.app.Out.Write(text)
	return err
}

// bars is the length of the progress bar of a wave, in characters.
const bars = 20

// print writes the state of the rollout: the published revision, its problems, and the waves.
func (r *rollout) print(w io.Writer) error {
	title := r.title()
	if err := r.requireRevision(); err != nil {
		title = err.Error()
	} else if r.IsUndone {
		title += " is undone; run kubectl vectorsidecar rollout retry to start it again"
	}
	title = strings.Join(append([]string{title}, r.Problems...), "; ")
	for _, line := range append([]string{title}, r.Faults...) {
		if err := humanize.Fprintf(w, "%s\n", line); err != nil {
			return err
		}
	}
	header := []string{"WAVE", "DONE", "", "PROGRESSING", "WAITING", "HALTED", "REVERTED", "FAILED WORKLOADS", "SOAKS UNTIL"}
	var rows [][]string
	var unfinished []string
	for i := range r.Waves {
		wave := &r.Waves[i]
		number := func(state v1alpha1.RolloutState) int { return wave.VectorSidecars[state] }
		finished, total := number(v1alpha1.RolloutComplete)+number(v1alpha1.RolloutSoaking), 0
		for _, n := range wave.VectorSidecars {
			total += n
		}
		bar, soakEnd := strings.Repeat(".", bars), "-"
		if total > 0 {
			full := bars * finished / total
			bar = strings.Repeat("#", full) + strings.Repeat(".", bars-full)
		}
		if wave.SoaksUntil != nil {
			soakEnd = wave.SoaksUntil.UTC().Format(time.RFC3339)
		}
		rows = append(rows, []string{
			wave.Name, fmt.Sprintf("%d/%d", finished, total), bar, strconv.Itoa(number(v1alpha1.RolloutProgressing)), strconv.Itoa(number(v1alpha1.RolloutWaiting) + number(v1alpha1.RolloutPaused)),
			strconv.Itoa(number(v1alpha1.RolloutHalted)), strconv.Itoa(number(v1alpha1.RolloutReverted)), strconv.Itoa(int(wave.FailedWorkloads)), soakEnd,
		})
		if finished == total && wave.Workloads > 0 && wave.Evidence == 0 {
			unfinished = append(unfinished, fmt.Sprintf("wave %s: no pod has run the revision yet (%s without pods)", wave.Name, countNoun(int(wave.Workloads), "workload")))
		}
		if n := wave.DeferredWorkloads; n > 0 {
			unfinished = append(unfinished, fmt.Sprintf("wave %s: deferred workloads wait for the application owner or a promotion (spec.rollout.mode): %d", wave.Name, n))
		}
		unfinished = append(append(unfinished, wave.Unfinished...), failureTexts(wave.Failures)...)
	}
	if len(rows) > 0 {
		if err := printTable(w, header, rows); err != nil {
			return err
		}
	}
	for _, text := range append(unfinished, r.RevertedSpecs...) {
		if err := humanize.Fprintf(w, "%s\n", text); err != nil {
			return err
		}
	}
	return nil
}
