// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// renderOptions are the flags of render.
type renderOptions struct {
	inputs *inputs

	onlyOverlay, explainValues bool
	output                     *format
}

// newRender returns the command render.
func newRender(a *app) *cobra.Command {
	options := renderOptions{}
	command := &cobra.Command{
		Use:   "render [WORKLOAD...] [-f FILE] [--sidecar FILE]",
		Short: "Print workloads with the sidecar, and the generated objects",
		Long: `Print workloads with the sidecar, and the generated objects.

The output is the state after the rollout: the command ignores the rollout budget.`,
		Example: `# a workload and a VectorSidecar from files; no cluster is needed
kubectl vectorsidecar render -f docs/samples/app/deployment.yaml --sidecar docs/samples/02-logs.yaml --label logs=vector --environment staging
# only the fields that are merged into the workload
kubectl vectorsidecar render -f docs/samples/app/deployment.yaml --sidecar docs/samples/02-logs.yaml --label logs=vector --only-overlay
# every value and its origin
kubectl vectorsidecar render --sidecar docs/samples/02-logs.yaml -f docs/samples/app/deployment.yaml --explain-values
# a workload of the cluster
kubectl vectorsidecar render deployment/cart -n shop`,
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), arguments)
		},
	}
	options.inputs = newInputs(a, command)
	options.output = addFormat(command, "yaml", "json")
	command.ValidArgsFunction = options.inputs.completeWorkloads
	flags := command.Flags()
	flags.BoolVar(&options.onlyOverlay, "only-overlay", false, "print only the fields that are merged into the workloads")
	flags.BoolVar(&options.explainValues, "explain-values", false, "print every value that templates read, and its origin")
	return command
}

// run prints the rendered objects, or the values with their origins.
func (o *renderOptions) run(ctx context.Context, arguments []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	scene, err := o.inputs.openSession(ctx, arguments...)
	if err != nil {
		return err
	}
	if o.explainValues {
		return o.printValues(ctx, scene)
	}
	workloads, err := scene.pickWorkloads()
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
	objects, err := o.renderedObjects(scene, merged, workloads)
	if err != nil {
		return err
	}
	return o.print(objects)
}

// renderedObjects returns the objects to print: the companions, followed by the workloads. From files, all workloads in
// the namespaces of VectorSidecars are printed, and from a cluster only the selected ones.
func (o *renderOptions) renderedObjects(scene *session, merged *mergedResult, workloads []workload.Object) ([]any, error) {
	namespaces := map[string]bool{}
	for _, ruled := range merged.rulings {
		namespaces[ruled.sidecar.Namespace] = true
	}
	objects := []any{}
	if !o.onlyOverlay {
		for _, configMap := range merged.companions(workloads...) {
			objects = append(objects, configMap)
		}
	}
	for _, deployment := range workloads {
		change := merged.changeFor(deployment)
		switch {
		case !namespaces[deployment.GetNamespace()], len(change.plans) == 0 && scene.cluster != nil:
			continue
		case o.onlyOverlay:
			objects = append(objects, change.renderedOverlays()...)
			continue
		}
		if err := change.renderError(o.inputs.app); err != nil {
			return nil, err
		}
		if change.after == nil {
			setKind(deployment)
			objects = append(objects, deployment)
			continue
		}
		objects = append(objects, change.after.Object)
	}
	return objects, nil
}

// renderError returns an error with the reason why the workload cannot get a sidecar. If the workload opts out, it
// prints a note instead.
func (c *change) renderError(a *app) error {
	for i := range c.plans {
		p := &c.plans[i]
		switch {
		case p.IsSkipped():
			a.printNote("%s: %s: %s", status.WorkloadTitle(p.Target), p.Reason(), p.Message())
		case p.IsStopped():
			return fmt.Errorf("%s: %s: %s", status.WorkloadTitle(p.Target), p.Reason(), p.Message())
		}
	}
	return nil
}

// renderedOverlays returns the overlays that are applied to a workload, one for each VectorSidecar.
func (c *change) renderedOverlays() []any {
	var overlays []any
	for i := range c.plans {
		p := &c.plans[i]
		body := p.Write.Apply
		if record := p.Record(); record != nil {
			body = record
		}
		if body == nil {
			continue
		}
		kind := p.Target.Adapter()
		overlay := maps.Clone(kind.MoveTemplate(body))
		metadata := map[string]any{"name": p.Target.Name, "namespace": p.Target.Namespace}
		if overlayMetadata, ok := overlay["metadata"].(map[string]any); ok {
			maps.Copy(metadata, overlayMetadata)
		}
		overlay["apiVersion"], overlay["kind"], overlay["metadata"] = kind.GroupVersion().String(), kind.Kind, metadata
		overlays = append(overlays, overlay)
	}
	return overlays
}

// print prints objects as YAML documents, or as a list in JSON.
func (o *renderOptions) print(objects []any) error {
	if o.output.name == "json" {
		return o.output.print(o.inputs.app.Out, map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
	}
	for _, object := range objects {
		if err := printObject(o.inputs.app.Out, object); err != nil {
			return err
		}
	}
	return nil
}
