// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// injectOptions are the flags of inject.
type injectOptions struct{ *inputs }

// newInject returns the command inject.
func newInject(a *app) *cobra.Command {
	options := injectOptions{}
	command := &cobra.Command{
		Use:   "inject [-f FILE] --sidecar FILE",
		Short: "Add the sidecar to manifests, as a Helm post-renderer or in a pipeline",
		Long: `Add the sidecar to manifests. The command reads --filename or the standard input, and prints the
manifests with the sidecar in selected workloads, otherwise unchanged. Objects for the sidecar come
before the first workload that needs them, in the namespace that its manifest names, or in none.

Helm 4 accepts only plugins as post-renderers: install the archive of this program, which make
plugin-archives packs. Helm 3 cannot read that plugin: set HELM_DATA_HOME if you use both versions.

The result is the same as the operator's. If you use both for a workload, the operator finds the
container and leaves it unchanged.`,
		Example: `# manifests in, manifests out
kubectl vectorsidecar inject -f docs/samples/app/deployment.yaml --sidecar docs/samples/02-logs.yaml --label logs=vector
# a pipe
kubectl create deployment cart --image registry.example/cart:1 --dry-run=client -o yaml | kubectl vectorsidecar inject --sidecar docs/samples/01-minimal.yaml --label logs=vector -f -
# a post-renderer of Helm 3
helm template shop ./shop --namespace shop --post-renderer kubectl-vectorsidecar --post-renderer-args inject --post-renderer-args --sidecar=docs/samples/02-logs.yaml
# a post-renderer of Helm 4, after helm plugin install --verify=false ./kubectl-vectorsidecar-linux-amd64.tar.gz
helm template shop ./shop --namespace shop --post-renderer vectorsidecar --post-renderer-args --sidecar=docs/samples/02-logs.yaml`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command.Context()) },
	}
	options.inputs = newInputs(a, command)
	options.manifests = true
	return command
}

// run prints the documents with their sidecars. It prints nothing if a VectorSidecar is invalid.
func (o *injectOptions) run(ctx context.Context) error {
	if len(o.files) == 0 {
		o.files = []string{"-"}
	}
	scene, err := o.openSession(ctx)
	if err != nil {
		return err
	}
	merged, err := scene.mergeSidecars(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(merged.faultErrors()...); err != nil {
		return err
	}
	// The output is printed at once after all checks, because a pipe into a cluster must not get half of it.
	var buffer bytes.Buffer
	printed := map[client.ObjectKey]bool{}
	for _, document := range scene.documents {
		if err := o.printInjected(&buffer, merged, document, printed); err != nil {
			return err
		}
	}
	_, err = buffer.WriteTo(o.app.Out)
	return err
}

// printInjected writes a document, with the sidecar if its workload gets one. Before it, it writes the companions that
// the workload needs and that are not in printed yet. Their Namespace may be the document before, so they cannot come
// earlier.
func (o *injectOptions) printInjected(w io.Writer, merged *mergedResult, document source.Document, printed map[client.ObjectKey]bool) error {
	deployment, ok := workload.ToObject(document.Object)
	if !ok {
		return printDocument(w, document)
	}
	change := merged.changeFor(deployment)
	if err := change.renderError(o.app); err != nil {
		return err
	}
	if change.after == nil {
		return printDocument(w, document)
	}
	for _, configMap := range merged.companions(deployment) {
		key := client.ObjectKeyFromObject(configMap)
		if printed[key] {
			continue
		}
		printed[key] = true
		configMap.Namespace = document.Namespace // A user who applies both puts them into the same namespace.
		if err := printObject(w, configMap); err != nil {
			return err
		}
	}
	return printTransformed(w, document, change.after)
}

// printDocument writes a document as it was read, with escaped control characters.
func printDocument(w io.Writer, document source.Document) error {
	_, err := fmt.Fprintf(w, "---\n%s\n", bytes.TrimRight(humanize.EscapeYAML(document.Text), "\n"))
	return err
}

// printTransformed writes the changed object of a document, without the empty fields that the conversion has added.
func printTransformed(w io.Writer, document source.Document, object *unstructured.Unstructured) error {
	object = object.DeepCopy()
	object.SetNamespace(document.Namespace)
	removeEmptyFields(object.Object)
	return printObject(w, object.Object)
}

// removeEmptyFields removes the empty maps that typed objects print although the document did not contain them.
func removeEmptyFields(node any) {
	switch v := node.(type) {
	case map[string]any:
		for _, key := range []string{"resources", "strategy"} {
			if empty, ok := v[key].(map[string]any); ok && len(empty) == 0 {
				delete(v, key)
			}
		}
		for _, item := range v {
			removeEmptyFields(item)
		}
	case []any:
		for _, item := range v {
			removeEmptyFields(item)
		}
	}
}
