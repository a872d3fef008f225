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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

func newRollout(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "rollout",
		Short: "Follow changed templates and values through the waves of an installation, and have them go on",
		Long: `Follow changed templates and values through the waves of an installation
(rollout.waves of its values), and have them go on.`,
		Example: `# how far each wave is
kubectl vectorsidecar rollout status
# do not wait for a wave, and those before it, any longer
kubectl vectorsidecar rollout promote canary
# have a revision go on that was halted
kubectl vectorsidecar rollout retry`,
	}
	command.AddCommand(newRolloutStatus(a), newRolloutPromote(a), newRolloutRetry(a))
	return command
}

// rolloutOptions are the flags of the commands about rollouts.
type rolloutOptions struct {
	app *app

	operatorNamespace string
	watch             bool
	output            *format
}

func newRolloutOptions(a *app, command *cobra.Command) *rolloutOptions {
	options := &rolloutOptions{app: a}
	command.Flags().StringVar(&options.operatorNamespace, "operator-namespace", "", "namespace of the operator, if you may not look for it in all of them")
	a.withCluster(command.Flags())
	return options
}

func newRolloutStatus(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "status",
		Short: "Show how far each wave is with the installation's present templates and values",
		Example: `# once
kubectl vectorsidecar rollout status
# and again whenever something changes
kubectl vectorsidecar rollout status -w`,
		Args: cobra.NoArgs,
	}
	options := newRolloutOptions(a, command)
	command.RunE = func(command *cobra.Command, _ []string) error { return options.status(command.Context()) }
	command.Flags().BoolVarP(&options.watch, "watch", "w", false, "go on, and print again what changes")
	options.output = addFormat(command, "json", "yaml")
	return command
}

func newRolloutPromote(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "promote WAVE",
		Short: "Have the present templates and values wait for a wave, and those before it, no longer",
		Long: `Have the installation's present templates and values wait for a wave, and those before it, no
longer: neither for workloads that are not done nor for a soak. A halt stays. It sets the annotation
` + meta.AnnotationPromoteRollout + ` of the ConfigMap with the
installation's values, which you need the permission to patch. What the installation gives out next
goes by waves again.`,
		Args: cobra.ExactArgs(1),
	}
	options := newRolloutOptions(a, command)
	command.RunE = func(command *cobra.Command, names []string) error {
		return options.promote(command.Context(), names[0])
	}
	return command
}

func newRolloutRetry(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "retry",
		Short: "Have templates and values go on that were halted",
		Long: `Have the installation's present templates and values go on that were halted, because the cause of
the failures was not in them and is gone. It sets the annotation
` + meta.AnnotationRetryRollout + ` of the ConfigMap with the
installation's values, which you need the permission to patch. Workloads that fail again halt them
again.`,
		Args: cobra.NoArgs,
	}
	options := newRolloutOptions(a, command)
	command.RunE = func(command *cobra.Command, _ []string) error {
		return options.annotate(command.Context(), func(*rollout) (string, string, error) {
			return meta.AnnotationRetryRollout, time.Now().UTC().Format(time.RFC3339Nano), nil
		})
	}
	return command
}

// rollout is how far an installation's templates and values are.
type rollout struct {
	// Revision is a digest of them.
	Revision string `json:"revision"`
	Waves    []wave `json:"waves"`

	rules  *fleet.Rules
	values types.NamespacedName
}

// wave is how far one wave is.
type wave struct {
	Name string `json:"name"`
	// VectorSidecars is how many there are, by state.
	VectorSidecars map[v1alpha1.RolloutState]int `json:"vectorSidecars"`
	// FailedWorkloads is how many have failed because of the sidecar.
	FailedWorkloads int32 `json:"failedWorkloads"`
	// SoaksUntil is when its soak ends.
	SoaksUntil *metav1.Time `json:"soaksUntil,omitempty"`
	// Unfinished are the first VectorSidecars that are not done, with what they wait for.
	Unfinished []string `json:"unfinished,omitempty"`
}

// read reads how far the rollout is. It is an error if the installation has no waves.
func (o *rolloutOptions) read(ctx context.Context, cluster client.Reader) (*rollout, error) {
	installed, err := source.FindInstallation(ctx, cluster, o.operatorNamespace)
	if err != nil {
		return nil, err
	}
	if installed == nil {
		return nil, errors.New("there is no operator: install one, or name its namespace with --operator-namespace")
	}
	chart, err := (&inputs{app: o.app}).chart()
	if err != nil {
		return nil, err
	}
	platform, err := platformOf(chart, installed)
	if err != nil {
		return nil, err
	}
	read := &rollout{
		Revision: platform.Given.Revision, rules: platform.Rollout,
		values: types.NamespacedName{Namespace: installed.Namespace, Name: installed.ValuesFrom},
	}
	if !read.rules.IsStaged() {
		return nil, fmt.Errorf("the installation has no waves: set rollout.waves or rollout.halt in its values (ConfigMap %s)", read.values)
	}
	return read, nil
}

// mostUnfinished is how many VectorSidecars of a wave are named.
const mostUnfinished = 5

// count counts the VectorSidecars of each wave.
func (r *rollout) count(found []v1alpha1.VectorSidecar) {
	at := map[string]*wave{}
	for n := range len(r.rules.Waves) + 1 {
		r.Waves = append(r.Waves, wave{Name: r.rules.NameOf(n), VectorSidecars: map[v1alpha1.RolloutState]int{}})
	}
	for n := range r.Waves {
		at[r.Waves[n].Name] = &r.Waves[n]
	}
	for i := range found {
		is := cmp.Or(found[i].Status.Rollout, &v1alpha1.RolloutStatus{Wave: fleet.Rest, State: v1alpha1.RolloutWaiting, Message: "the operator has not looked at it yet"})
		of := at[is.Wave]
		if of == nil {
			of = at[fleet.Rest] // The waves have changed since.
		}
		state := is.State
		if is.Revision != r.Revision && state != v1alpha1.RolloutHalted {
			state = v1alpha1.RolloutWaiting
		}
		of.VectorSidecars[state]++
		if is.Failed == r.Revision {
			of.FailedWorkloads += is.FailedWorkloads
		}
		if state == v1alpha1.RolloutSoaking && is.Finished != nil {
			end := metav1.NewTime(is.Finished.Add(r.rules.Soak(is.Wave)))
			if of.SoaksUntil == nil || of.SoaksUntil.Before(&end) {
				of.SoaksUntil = &end
			}
		}
		if state != v1alpha1.RolloutComplete && state != v1alpha1.RolloutSoaking {
			text := fmt.Sprintf("%s/%s: %s", found[i].Namespace, found[i].Name, state)
			if is.Message != "" {
				text += ": " + is.Message
			}
			of.Unfinished = append(of.Unfinished, text)
		}
	}
	for n := range r.Waves {
		slices.Sort(r.Waves[n].Unfinished)
		r.Waves[n].Unfinished = humanize.First(r.Waves[n].Unfinished, mostUnfinished, len(r.Waves[n].Unfinished))
	}
}

func (o *rolloutOptions) status(ctx context.Context) error {
	if err := o.output.check(); err != nil {
		return err
	}
	cluster, err := o.app.connect()
	if err != nil {
		return err
	}
	show := func() ([]byte, error) {
		read, err := o.read(ctx, cluster)
		if err != nil {
			return nil, err
		}
		var found v1alpha1.VectorSidecarList
		if err := cluster.List(ctx, &found); err != nil {
			return nil, explainMissing(err)
		}
		read.count(found.Items)
		var out bytes.Buffer
		if o.output.isTree() {
			err = o.output.print(&out, read)
		} else {
			err = read.print(&out)
		}
		return out.Bytes(), err
	}
	if o.watch {
		return o.app.watch(ctx, cluster, "", show)
	}
	text, err := show()
	if err != nil {
		return err
	}
	_, err = o.app.Out.Write(text)
	return err
}

// bars is the length of a bar.
const bars = 20

func (r *rollout) print(to io.Writer) error {
	if err := humanize.Fprintf(to, "revision %s\n", r.Revision); err != nil {
		return err
	}
	header := []string{"WAVE", "DONE", "", "PROGRESSING", "WAITING", "HALTED", "FAILED WORKLOADS", "SOAKS UNTIL"}
	var rows [][]string
	var unfinished []string
	for i := range r.Waves {
		one := &r.Waves[i]
		number := func(state v1alpha1.RolloutState) int { return one.VectorSidecars[state] }
		done, all := number(v1alpha1.RolloutComplete)+number(v1alpha1.RolloutSoaking), 0
		for _, n := range one.VectorSidecars {
			all += n
		}
		bar, until := strings.Repeat(".", bars), "-"
		if all > 0 {
			full := bars * done / all
			bar = strings.Repeat("#", full) + strings.Repeat(".", bars-full)
		}
		if one.SoaksUntil != nil {
			until = one.SoaksUntil.UTC().Format(time.RFC3339)
		}
		rows = append(rows, []string{
			one.Name, fmt.Sprintf("%d/%d", done, all), bar, strconv.Itoa(number(v1alpha1.RolloutProgressing)), strconv.Itoa(number(v1alpha1.RolloutWaiting)),
			strconv.Itoa(number(v1alpha1.RolloutHalted)), strconv.Itoa(int(one.FailedWorkloads)), until,
		})
		unfinished = append(unfinished, one.Unfinished...)
	}
	if err := table(to, header, rows); err != nil {
		return err
	}
	for _, text := range unfinished {
		if err := humanize.Fprintf(to, "%s\n", text); err != nil {
			return err
		}
	}
	return nil
}

func (o *rolloutOptions) promote(ctx context.Context, name string) error {
	return o.annotate(ctx, func(read *rollout) (string, string, error) {
		var known []string
		for n := range len(read.rules.Waves) + 1 {
			known = append(known, read.rules.NameOf(n))
		}
		if !slices.Contains(known, name) {
			return "", "", fmt.Errorf("there is no wave %q: there are %s", name, strings.Join(known, ", "))
		}
		return meta.AnnotationPromoteRollout, read.Revision + "/" + name, nil
	})
}

// annotate sets an annotation of the ConfigMap with the installation's values.
func (o *rolloutOptions) annotate(ctx context.Context, what func(*rollout) (key, value string, err error)) error {
	cluster, err := o.app.connect()
	if err != nil {
		return err
	}
	read, err := o.read(ctx, cluster)
	if err != nil {
		return err
	}
	key, value, err := what(read)
	if err != nil {
		return err
	}
	object := &corev1.ConfigMap{}
	if err := cluster.Get(ctx, read.values, object); err != nil {
		return fmt.Errorf("reading the installation's values: %w", err)
	}
	before := object.DeepCopy()
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, key, value)
	if err := cluster.Patch(ctx, object, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("annotating ConfigMap %s: %w", read.values, err)
	}
	return humanize.Fprintf(o.app.Out, "configmap/%s annotated: revision %s goes on\n", read.values.Name, read.Revision)
}
