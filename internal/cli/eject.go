// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// ejectOptions are the flags of eject.
type ejectOptions struct {
	app *app

	files         []string
	recursive     bool
	allNamespaces bool
	yes, dryRun   bool
	maxConcurrent int
	timeout       time.Duration
}

func newEject(a *app) *cobra.Command {
	options := ejectOptions{app: a}
	command := &cobra.Command{
		Use:   "eject [-f FILE | -n NAMESPACE | -A]",
		Short: "Remove the sidecars from manifests, or from a cluster for good",
		Long: `Remove the sidecars from manifests or from a cluster.

From manifests (--filename): the workloads are printed without their sidecars, and everything
else unchanged, except for the ConfigMaps made for sidecars, which are dropped. Manifests read
from a cluster with --show-managed-fields show exactly which fields are the operator's; for
others, the list in the pod template is used.

From a cluster: everything is removed that the operator and its users created: VectorSidecars,
sidecars, the ConfigMaps made for them, annotations and finalizers. The operator need not be
running. Workloads lose their sidecars a few at a time, each by one ordinary rollout.
The custom resource definition and the operator are removed with Helm.`,
		Example: `# manifests in, manifests out
kubectl get deployment cart -n shop -o yaml --show-managed-fields | kubectl vectorsidecar eject -f -
# see what would go
kubectl vectorsidecar eject -A --dry-run
# for good
kubectl vectorsidecar eject -A --yes`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command.Context()) },
	}
	flags := command.Flags()
	flags.StringArrayVarP(&options.files, "filename", "f", nil, "file or folder with manifests, - for the standard input; may be repeated")
	flags.BoolVarP(&options.recursive, "recursive", "R", false, "read the folders in folders, too")
	flags.BoolVarP(&options.allNamespaces, "all-namespaces", "A", false, "clean all namespaces")
	flags.BoolVarP(&options.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&options.dryRun, "dry-run", false, "only say what would go")
	flags.IntVar(&options.maxConcurrent, "max-concurrent", 5, "how many workloads may roll out at once")
	flags.DurationVar(&options.timeout, "timeout", 10*time.Minute, "how long one rollout may take before the next may begin")
	a.withCluster(flags)
	return command
}

func (o *ejectOptions) run(ctx context.Context) error {
	if o.maxConcurrent < 1 {
		return fmt.Errorf("--max-concurrent is %d: it must be at least 1", o.maxConcurrent)
	}
	if len(o.files) > 0 {
		return o.manifests()
	}
	return o.cluster(ctx)
}

// manifests removes sidecars from files.
func (o *ejectOptions) manifests() error {
	files := source.Files{Stdin: o.app.In, Recursive: o.recursive}
	documents, err := files.Read(o.files...)
	if err != nil {
		return err
	}
	merger, err := simulate.New()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, document := range documents {
		if err := ejectDocument(&out, merger, document); err != nil {
			return err
		}
	}
	_, err = out.WriteTo(o.app.Out)
	return err
}

// ejectDocument writes a document without its sidecar. Objects that were made for a sidecar are
// dropped.
func ejectDocument(out *bytes.Buffer, merger *simulate.Merger, document source.Document) error {
	if made, ok := document.Object.(*corev1.ConfigMap); ok && made.Labels[meta.LabelSidecar] != "" && !companion.IsCopy(made) {
		return nil
	}
	deployment, ok := workload.As(document.Object)
	if !ok {
		return printDocument(out, document)
	}
	stripped, had, err := removal.Strip(merger, deployment)
	if err != nil {
		return fmt.Errorf("%s: %s %s: %w", document.Source, document.Kind, deployment.GetName(), err)
	}
	if !had {
		return printDocument(out, document)
	}
	setKind(stripped)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stripped)
	if err != nil {
		return fmt.Errorf("%s: %s %s: %w", document.Source, document.Kind, deployment.GetName(), err)
	}
	return printTransformed(out, document, &unstructured.Unstructured{Object: content})
}

// cluster removes sidecars from a cluster.
func (o *ejectOptions) cluster(ctx context.Context) error {
	connection, err := o.app.connect()
	if err != nil {
		return err
	}
	namespace := metav1.NamespaceAll
	where := "the cluster"
	if !o.allNamespaces {
		if namespace, err = o.app.current(); err != nil {
			return err
		}
		where = "namespace " + namespace
	}
	traces, err := removal.FindTraces(ctx, connection, namespace)
	if err != nil {
		return err
	}
	if namespace != metav1.NamespaceAll {
		if err := comeBack(ctx, connection, namespace, traces); err != nil {
			return err
		}
	}
	if traces.None() {
		o.app.note("nothing of the operator is left in %s", where)
		return nil
	}
	if o.dryRun {
		return o.list(traces)
	}
	if err := o.ask(where, traces); err != nil {
		return err
	}
	progress := newProgress(o.app.ErrOut)
	ejector := removal.Ejector{Client: connection, MaxConcurrent: o.maxConcurrent, Patience: o.timeout, Progress: progress.step}
	found, err := ejector.Clean(ctx, namespace)
	progress.end()
	if err != nil {
		return fmt.Errorf("%s is not clean yet; run this again once this is fixed: %w", where, err)
	}
	return humanize.Fprintf(o.app.Out, "removed from %s: %s\n", where, describe(found))
}

// comeBack is an error if a ClusterVectorSidecar would put sidecars back into a namespace.
func comeBack(ctx context.Context, cluster client.Reader, namespace string, traces *removal.Traces) error {
	there := &metav1.PartialObjectMetadata{}
	there.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := cluster.Get(ctx, client.ObjectKey{Name: namespace}, there); err == nil && clusterwide.HasOptedOut(there) {
		return nil
	}
	for i := range traces.Workloads {
		for manager := range traces.Workloads[i].Owned {
			name, isCluster := meta.ClusterOf(manager)
			if !isCluster {
				continue
			}
			err := cluster.Get(ctx, client.ObjectKey{Name: name}, &v1alpha1.ClusterVectorSidecar{})
			if apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err) {
				continue // It cannot put anything back.
			}
			return fmt.Errorf("%s reaches namespace %s, and would put its sidecars back: first kubectl label namespace %s %s=false, or clean all namespaces with -A",
				meta.Title(manager), namespace, namespace, meta.AnnotationInject)
		}
	}
	return nil
}

// describe returns the number of traces of each kind.
func describe(traces *removal.Traces) string {
	return fmt.Sprintf("the sidecars of %s, %s, %s",
		count(len(traces.Workloads), "workload"), count(len(traces.Sidecars), "VectorSidecar"), count(len(traces.Companions), "ConfigMap"))
}

// list prints what would be removed, one per line.
func (o *ejectOptions) list(traces *removal.Traces) error {
	var errs []error
	say := func(format string, arguments ...any) {
		errs = append(errs, humanize.Fprintf(o.app.Out, format, arguments...))
	}
	for i := range traces.Workloads {
		say("deployment.apps/%s in %s: its sidecars\n", traces.Workloads[i].Name, traces.Workloads[i].Namespace)
	}
	for _, companion := range traces.Companions {
		say("configmap/%s in %s\n", companion.Name, companion.Namespace)
	}
	for i := range traces.Sidecars {
		if of := traces.Sidecars[i]; of.GetNamespace() == "" {
			say("clustervectorsidecar/%s\n", of.GetName())
		} else {
			say("vectorsidecar/%s in %s\n", of.GetName(), of.GetNamespace())
		}
	}
	return errors.Join(errs...)
}

// ask asks for confirmation if standard input is a terminal.
func (o *ejectOptions) ask(where string, traces *removal.Traces) error {
	if o.yes {
		return nil
	}
	if !isTerminal(o.app.ErrOut) {
		return fmt.Errorf("this removes from %s: %s; use --yes to do it, or --dry-run to preview it", where, describe(traces))
	}
	_ = humanize.Fprintf(o.app.ErrOut, "Remove from %s: %s? [y/N] ", where, describe(traces))
	answer, err := bufio.NewReader(o.app.In).ReadString('\n')
	if err != nil && answer == "" {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("nothing was removed")
	}
	return nil
}
