// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
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
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// ejectOptions are the flags of eject.
type ejectOptions struct {
	app *app

	files             []string
	recursive         bool
	allNamespaces     bool
	assumeYes, dryRun bool
	maxConcurrent     int
	timeout           time.Duration
}

// newEject returns the command eject.
func newEject(a *app) *cobra.Command {
	options := ejectOptions{app: a}
	command := &cobra.Command{
		Use:   "eject [-f FILE | -n NAMESPACE | -A]",
		Short: "Remove the sidecars from manifests or from a cluster",
		Long: `Remove the sidecars from manifests or from a cluster.

With --filename, it prints the manifests without sidecars and their generated ConfigMaps, otherwise
unchanged. Manifests from a cluster show the operator's fields exactly if they have managedFields
(--show-managed-fields). Otherwise the list in the pod template counts.

Without --filename, it removes all VectorSidecars, sidecars, generated ConfigMaps, annotations and
finalizers from the cluster. The operator may be down. Workloads lose their sidecars a few at a time,
each by one ordinary rollout. A ConfigMap that a workload still needs stays. Remove the
CustomResourceDefinition and the operator with Helm.

The exit code is 1 if something remains, which the output names.`,
		Example: `# manifests in, manifests out
kubectl get deployment cart -n shop -o yaml --show-managed-fields | kubectl vectorsidecar eject -f -
# preview the removal
kubectl vectorsidecar eject -A --dry-run
# remove everything
kubectl vectorsidecar eject -A --yes`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command.Context()) },
	}
	flags := command.Flags()
	flags.StringArrayVarP(&options.files, "filename", "f", nil, "file or directory with manifests, - for the standard input; may be repeated")
	flags.BoolVarP(&options.recursive, "recursive", "R", false, "also read subdirectories")
	flags.BoolVarP(&options.allNamespaces, "all-namespaces", "A", false, "clean all namespaces")
	flags.BoolVarP(&options.assumeYes, "yes", "y", false, "do not ask for confirmation")
	flags.BoolVar(&options.dryRun, "dry-run", false, "only list what would be removed")
	flags.IntVar(&options.maxConcurrent, "max-concurrent", 5, "maximum number of workloads that roll out at once")
	flags.DurationVar(&options.timeout, "timeout", 10*time.Minute, "maximum duration of a rollout before the next one starts")
	a.addClusterFlags(flags)
	return command
}

// run removes sidecars from the files, or from the cluster if there are none. The error is a *foundError if something
// remains.
func (o *ejectOptions) run(ctx context.Context) error {
	if o.maxConcurrent < 1 {
		return fmt.Errorf("--max-concurrent is %d: it must be at least 1", o.maxConcurrent)
	}
	if len(o.files) > 0 {
		return o.ejectFromManifests()
	}
	return o.ejectFromCluster(ctx)
}

// ejectFromManifests removes sidecars from files.
func (o *ejectOptions) ejectFromManifests() error {
	files := source.Files{Stdin: o.app.In, Recursive: o.recursive, Schemas: o.app.builtin.schemaFor}
	documents, err := files.Read(o.files...)
	if err != nil {
		return err
	}
	merger, err := simulate.New()
	if err != nil {
		return err
	}
	stripped, users, err := stripSidecars(merger, documents)
	if err != nil {
		return err
	}
	var buffer bytes.Buffer
	var remaining []error
	for i := range documents {
		if configMap, ok := documents[i].Object.(*corev1.ConfigMap); ok && configMap.Labels[meta.LabelSidecar] != "" && !companion.IsCopy(configMap) {
			key := client.ObjectKeyFromObject(configMap)
			if len(users[key]) == 0 {
				continue
			}
			remaining = append(remaining, errors.New(removal.ExplainRemaining(key, users[key])))
		}
		if err := printEjected(&buffer, documents[i], stripped[i]); err != nil {
			return err
		}
	}
	if _, err = buffer.WriteTo(o.app.Out); err != nil || len(remaining) == 0 {
		return err
	}
	return &foundError{errors.Join(remaining...)}
}

// stripSidecars removes the sidecars from the workloads in documents. stripped contains one workload for each document,
// or nil if the document has no sidecar. users are the workloads that still need a ConfigMap, by ConfigMap.
func stripSidecars(merger *simulate.Merger, documents []source.Document) (stripped []workload.Object, users map[client.ObjectKey][]workload.Ref, err error) {
	stripped, users = make([]workload.Object, len(documents)), map[client.ObjectKey][]workload.Ref{}
	for i, document := range documents {
		current := document.Object
		if object, isWorkload := workload.ToObject(current); isWorkload {
			after, hadSidecar, err := removal.Strip(merger, object)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %s %s: %w", document.Source, document.Kind, object.GetName(), err)
			}
			if current = after; hadSidecar {
				stripped[i] = after
			}
		}
		if current == nil {
			continue
		}
		ref, names := removal.NeededConfigMaps(current)
		for _, name := range names {
			key := client.ObjectKey{Namespace: ref.Namespace, Name: name}
			users[key] = append(users[key], ref)
		}
	}
	return stripped, users, nil
}

// printEjected writes a document, or its workload without the sidecar.
func printEjected(buffer *bytes.Buffer, document source.Document, stripped workload.Object) error {
	if stripped == nil {
		return printDocument(buffer, document)
	}
	setKind(stripped)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stripped)
	if err != nil {
		return fmt.Errorf("%s: %s %s: %w", document.Source, document.Kind, stripped.GetName(), err)
	}
	return printTransformed(buffer, document, &unstructured.Unstructured{Object: content})
}

// ejectFromCluster removes sidecars from a cluster.
func (o *ejectOptions) ejectFromCluster(ctx context.Context) error {
	connection, err := o.app.connect()
	if err != nil {
		return err
	}
	namespace := metav1.NamespaceAll
	scope := "the cluster"
	if !o.allNamespaces {
		if namespace, err = o.app.currentNamespace(); err != nil {
			return err
		}
		scope = "namespace " + namespace
	}
	traces, err := removal.FindTraces(ctx, livelist.New(connection), namespace)
	if err != nil {
		return err
	}
	if namespace != metav1.NamespaceAll {
		if err := checkNotReinjected(ctx, connection, namespace, traces); err != nil {
			return err
		}
	}
	if traces.IsEmpty() {
		o.app.printNote("%s has no objects or fields of the operator", scope)
		return nil
	}
	if o.dryRun {
		return o.listSidecars(traces)
	}
	if err := o.confirmRemoval(scope, traces); err != nil {
		return err
	}
	progress := newProgress(o.app.ErrOut)
	ejector := removal.Ejector{Client: connection, MaxConcurrent: o.maxConcurrent, Timeout: o.timeout, Progress: progress.showStep}
	removed, err := ejector.Clean(ctx, namespace)
	progress.clearLine()
	if err != nil {
		err = fmt.Errorf("%s still has parts of sidecars: %w; correct the cause and run the command again", scope, err)
		if errors.As(err, new(*removal.RemainingError)) {
			return &foundError{err}
		}
		return err
	}
	return humanize.Fprintf(o.app.Out, "removed from %s: %s\n", scope, describeTraces(removed))
}

// checkNotReinjected returns an error if a ClusterVectorSidecar would inject sidecars into a namespace again.
func checkNotReinjected(ctx context.Context, cluster client.Reader, namespace string, traces *removal.Traces) error {
	namespaceObject := &metav1.PartialObjectMetadata{}
	namespaceObject.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := cluster.Get(ctx, client.ObjectKey{Name: namespace}, namespaceObject); err == nil && clusterwide.HasOptedOut(namespaceObject) {
		return nil
	}
	for i := range traces.Workloads {
		for _, manager := range traces.Workloads[i].Managers {
			name, isCluster := meta.ParseClusterName(manager)
			if !isCluster {
				continue
			}
			err := cluster.Get(ctx, client.ObjectKey{Name: name}, &v1alpha1.ClusterVectorSidecar{})
			if apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err) {
				continue // It does not exist, so it cannot inject again.
			}
			return fmt.Errorf("ClusterVectorSidecar %s selects namespace %s, and would inject its sidecars again: first run kubectl label namespace %s %s=false, or clean all namespaces with -A",
				name, namespace, namespace, meta.AnnotationInject)
		}
	}
	return nil
}

// describeTraces returns a text with the numbers of objects from which the command removes something, by kind.
func describeTraces(traces *removal.Traces) string {
	return fmt.Sprintf("the sidecars of %s, %s, %s",
		countNoun(len(traces.Workloads), "workload"), countNoun(len(traces.Sidecars), "VectorSidecar"), countNoun(len(traces.Companions), "ConfigMap"))
}

// listSidecars prints the objects that would be removed, one per line.
func (o *ejectOptions) listSidecars(traces *removal.Traces) error {
	var errs []error
	printLine := func(format string, arguments ...any) {
		errs = append(errs, humanize.Fprintf(o.app.Out, format, arguments...))
	}
	losesSidecar := func(ref workload.Ref) bool {
		return slices.ContainsFunc(traces.Workloads, func(carrier removal.Carrier) bool { return carrier.Ref == ref })
	}
	for i := range traces.Workloads {
		carrier := &traces.Workloads[i]
		printLine("%s/%s in %s: its sidecars\n", strings.ToLower(carrier.Adapter().GroupKind().String()), carrier.Name, carrier.Namespace)
	}
	for _, key := range traces.CompanionKeys() {
		if users := slices.DeleteFunc(slices.Clone(traces.Companions[key]), losesSidecar); len(users) > 0 {
			o.app.printNote("%s", removal.ExplainRemaining(key, users))
		} else {
			printLine("configmap/%s in %s\n", key.Name, key.Namespace)
		}
	}
	for i := range traces.Sidecars {
		if sidecar := traces.Sidecars[i]; sidecar.GetNamespace() == "" {
			printLine("clustervectorsidecar/%s\n", sidecar.GetName())
		} else {
			printLine("vectorsidecar/%s in %s\n", sidecar.GetName(), sidecar.GetNamespace())
		}
	}
	return errors.Join(errs...)
}

// confirmRemoval asks for confirmation of the removal from a namespace or the cluster (see app.confirm).
func (o *ejectOptions) confirmRemoval(scope string, traces *removal.Traces) error {
	if o.assumeYes {
		return nil
	}
	return o.app.confirm(
		fmt.Sprintf("Remove from %s: %s?", scope, describeTraces(traces)), fmt.Sprintf("the command removes from %s: %s", scope, describeTraces(traces)), "nothing was removed",
	)
}
