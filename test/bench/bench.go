// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// bench is a run of the benchmark.
type bench struct {
	out         io.Writer
	folder      string // of what the run leaves: logs, profiles
	profiles    bool
	rollout     string // the installation's, "" for none
	program     *program
	cluster     *cluster
	kubeVersion string
	machine     string // as it was before the run

	tables   []table
	scenario string // that runs
	findings []found
}

// finding is a measured figure with a goal.
type finding struct {
	what, goal, measured string
	// reached reports whether the goal was met.
	reached bool
	// ratio is stored and compared with earlier runs; lower is better. It is 0 for other figures.
	ratio float64
}

// found is a finding of a scenario.
type found struct {
	finding
	scenario string
}

func newBench(ctx context.Context, out io.Writer, folder string) (*bench, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of the run: %w", err)
	}
	b := &bench{out: out, folder: folder, machine: machine()}
	path, err := harness.BuildOperator(ctx, folder)
	if err != nil {
		return nil, err
	}
	b.program = &program{path: path, logs: folder}
	return b, nil
}

// on runs scenarios on a new control plane.
func (b *bench) on(ctx context.Context, options controlplane.Options, scenarios []scenario) (err error) {
	if b.cluster, err = newCluster(ctx, options); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.cluster.control.Stop()) }()
	b.program.kubeconfig = b.cluster.control.Kubeconfig()
	if err := b.install(ctx); err != nil {
		return err
	}
	version, err := b.cluster.set.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("asking the API server for its version: %w", err)
	}
	b.kubeVersion = version.GitVersion
	for _, s := range scenarios {
		began := time.Now()
		b.scenario = s.name
		b.tell("%s …", s.name)
		if err := s.run(ctx, b); err != nil {
			return fmt.Errorf("scenario %q: %w", s.name, err)
		}
		b.tell("%s took %s", s.name, rounded(time.Since(began)))
	}
	return nil
}

// installation is the ConfigMap of the installation's values.
const installation = "environments"

// install sets the installation's rollout rules, if there are any.
func (b *bench) install(ctx context.Context) error {
	if b.rollout == "" {
		return nil
	}
	b.program.arguments = []string{"--environments-configmap=" + installation}
	if err := b.cluster.ApplyValues(ctx, objects.NewConfigMap(installation, home, desired.RolloutKey, b.rollout)); err != nil {
		return fmt.Errorf("creating ConfigMap %s: %w", installation, err)
	}
	return nil
}

func (b *bench) tell(format string, args ...any) {
	_, _ = fmt.Fprintf(b.out, "%s "+format+"\n", append([]any{time.Now().Format("15:04:05")}, args...)...)
}

func (b *bench) find(f finding) {
	b.findings = append(b.findings, found{f, b.scenario})
	b.tell("%s: %s (goal: %s)", f.what, f.measured, f.goal)
}

// empty deletes the objects of a scenario in a namespace. It removes finalizers, because no operator runs.
func (b *bench) empty(ctx context.Context, namespace string) error {
	var all v1alpha1.VectorSidecarList
	if err := b.cluster.Client.List(ctx, &all, client.InNamespace(namespace)); err != nil {
		return err
	}
	err := each(ctx, len(all.Items), func(ctx context.Context, n int) error {
		sidecar := &all.Items[n]
		if err := b.cluster.Client.Delete(ctx, sidecar); err != nil {
			return err
		}
		if len(sidecar.Finalizers) == 0 {
			return nil
		}
		patch := client.RawPatch("application/merge-patch+json", []byte("{\"metadata\":{\"finalizers\":null}}"))
		return client.IgnoreNotFound(b.cluster.Client.Patch(ctx, sidecar, patch))
	})
	return errors.Join(err, b.cluster.clear(ctx, namespace))
}

// report prints all findings.
func (b *bench) report() {
	goals := table{title: "Goals", head: []string{"what", "goal", "measured", ""}}
	for _, f := range b.findings {
		mark := "reached"
		if !f.reached {
			mark = "**not reached**"
		}
		goals.add(f.what, f.goal, f.measured, mark)
	}
	for _, t := range append(b.tables, goals) {
		t.print(b.out)
	}
	_, _ = fmt.Fprintf(b.out, "\nMeasured on %s; after: %s. API server %s.\n", b.machine, load(), b.kubeVersion)
}

// settled waits until the status of a VectorSidecar meets a condition.
func (b *bench) settled(ctx context.Context, namespace, name string, met func(*v1alpha1.VectorSidecar) bool) error {
	sidecar := &v1alpha1.VectorSidecar{}
	return until(ctx, "VectorSidecar "+name, func() (bool, error) {
		err := b.cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, sidecar)
		return err == nil && met(sidecar), client.IgnoreNotFound(err)
	})
}

func isReady(sidecar *v1alpha1.VectorSidecar) bool {
	return meta.IsStatusConditionPresentAndEqual(sidecar.Status.Conditions, "Ready", metav1.ConditionTrue)
}

func (b *bench) file(name string) string { return filepath.Join(b.folder, name) }
