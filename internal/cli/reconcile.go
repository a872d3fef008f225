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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// answerPoll is the time between two checks whether the operator has handled the request.
const answerPoll = 500 * time.Millisecond

// reconcileOptions are the flags of reconcile.
type reconcileOptions struct {
	app *app

	allSidecars, allNamespaces, live bool
	timeout                          time.Duration
}

// newReconcile returns the command reconcile.
func newReconcile(a *app) *cobra.Command {
	options := reconcileOptions{app: a}
	command := &cobra.Command{
		Use:   "reconcile [VECTORSIDECAR...] [--all] [--live]",
		Short: "Make the operator reconcile VectorSidecars from scratch",
		Long: `Make the operator reconcile VectorSidecars from scratch: it renders and compares without cached
results, as it does by itself every half hour, and writes only differences. With --live, it first
lists the live workloads of the namespace and corrects its cache.

It sets the annotation ` + meta.AnnotationReconcileAt + `. After the
reconcile, the status repeats its value as lastHandledReconcileAt. You need permission to patch
VectorSidecars. The exit code is 1 if the operator does not answer in time.`,
		Example: `# one, and print its state
kubectl vectorsidecar reconcile logs -n shop
# all of a namespace, from a live list of workloads
kubectl vectorsidecar reconcile --all --live -n shop`,
		RunE: func(command *cobra.Command, names []string) error {
			return options.run(command.Context(), names)
		},
		ValidArgsFunction: a.completeSidecars,
	}
	flags := command.Flags()
	flags.BoolVar(&options.allSidecars, "all", false, "all VectorSidecars of the namespace")
	flags.BoolVarP(&options.allNamespaces, "all-namespaces", "A", false, "with --all: VectorSidecars of all namespaces")
	flags.BoolVar(&options.live, "live", false, "first list the live workloads of the namespace, and correct the operator's cache")
	flags.DurationVar(&options.timeout, "timeout", time.Minute, "how long to wait for the operator; 0 does not wait")
	a.addClusterFlags(flags)
	return command
}

// run requests a reconcile of VectorSidecars by setting an annotation, and waits until the operator has handled it.
func (o *reconcileOptions) run(ctx context.Context, names []string) error {
	switch {
	case o.allSidecars == (len(names) > 0):
		return errors.New("name VectorSidecars, or use --all")
	case o.allNamespaces && !o.allSidecars:
		return errors.New("--all-namespaces needs --all")
	}
	cluster, err := o.app.connect()
	if err != nil {
		return err
	}
	namespace := metav1.NamespaceAll
	if !o.allNamespaces {
		if namespace, err = o.app.currentNamespace(); err != nil {
			return err
		}
	}
	sidecars, err := listSidecars(ctx, cluster, namespace, names)
	if err != nil {
		return err
	}
	if len(sidecars) == 0 {
		o.app.printNote("no VectorSidecars found%s", namespacePhrase(namespace))
		return nil
	}
	request := time.Now().UTC().Format(time.RFC3339Nano)
	if o.live {
		request += meta.ReconcileLive
	}
	for i := range sidecars {
		before := sidecars[i].DeepCopy()
		metav1.SetMetaDataAnnotation(&sidecars[i].ObjectMeta, meta.AnnotationReconcileAt, request)
		if err := cluster.Patch(ctx, &sidecars[i], client.MergeFrom(before)); err != nil {
			return fmt.Errorf("requesting a reconcile of VectorSidecar %s/%s: %w", sidecars[i].Namespace, sidecars[i].Name, err)
		}
	}
	if o.timeout == 0 {
		return nil
	}
	return o.awaitReconciles(ctx, cluster, sidecars, request)
}

// listSidecars returns the VectorSidecars with the given names, or all of them without names.
func listSidecars(ctx context.Context, cluster client.Reader, namespace string, names []string) ([]v1alpha1.VectorSidecar, error) {
	withoutSpec := func(listed *v1alpha1.VectorSidecar) (v1alpha1.VectorSidecar, bool) {
		sidecar := *listed
		sidecar.Spec, sidecar.ManagedFields = v1alpha1.VectorSidecarSpec{}, nil
		return sidecar, true
	}
	sidecars, err := livelist.Collect(ctx, livelist.New(cluster), &v1alpha1.VectorSidecarList{}, withoutSpec, client.InNamespace(namespace))
	if err != nil {
		return nil, explainMissing(err)
	}
	return filterByName(sidecars, names, namespace)
}

// filterByName returns the VectorSidecars with the given names, or all of them without names. A name may be
// vectorsidecar/NAME.
func filterByName(sidecars []v1alpha1.VectorSidecar, arguments []string, namespace string) ([]v1alpha1.VectorSidecar, error) {
	var names []string
	for _, name := range arguments {
		if bare, isSidecar := parseSidecarName(name); isSidecar {
			name = bare
		}
		names = append(names, name)
		if !slices.ContainsFunc(sidecars, func(s v1alpha1.VectorSidecar) bool { return s.Name == name }) {
			return nil, fmt.Errorf("VectorSidecar %q does not exist%s", name, namespacePhrase(namespace))
		}
	}
	if len(names) > 0 {
		sidecars = slices.DeleteFunc(sidecars, func(s v1alpha1.VectorSidecar) bool { return !slices.Contains(names, s.Name) })
	}
	return sidecars, nil
}

// awaitReconciles waits until the operator has handled the request for all VectorSidecars, and prints their state.
func (o *reconcileOptions) awaitReconciles(ctx context.Context, cluster client.Reader, sidecars []v1alpha1.VectorSidecar, request string) error {
	var missing []string
	err := wait.PollUntilContextTimeout(ctx, answerPoll, o.timeout, true, func(ctx context.Context) (bool, error) {
		missing = nil
		for i := range sidecars {
			if sidecars[i].Status.LastHandledReconcileAt == request {
				continue
			}
			if err := cluster.Get(ctx, client.ObjectKeyFromObject(&sidecars[i]), &sidecars[i]); err != nil {
				return false, fmt.Errorf("reading the status: %w", err)
			}
			if sidecars[i].Status.LastHandledReconcileAt != request {
				missing = append(missing, sidecars[i].Namespace+"/"+sidecars[i].Name)
			}
		}
		return len(missing) == 0, nil
	})
	if ctx.Err() != nil { // The user stopped the command.
		return fmt.Errorf("waiting for the operator: %w", ctx.Err())
	}
	if wait.Interrupted(err) {
		err = &foundError{fmt.Errorf("no operator has answered within %s for %s: find out why with kubectl vectorsidecar check", o.timeout, strings.Join(missing, ", "))}
	}
	if err != nil {
		return err
	}
	var rows [][]string
	for i := range sidecars {
		state, reason, message := readyState(sidecars[i].Status.Conditions, sidecars[i].Status.ObservedGeneration == sidecars[i].Generation)
		rows = append(rows, []string{sidecars[i].Namespace, sidecars[i].Name, state, reason, message})
	}
	return printTable(o.app.Out, []string{"NAMESPACE", "NAME", "READY", "REASON", "MESSAGE"}, rows)
}
