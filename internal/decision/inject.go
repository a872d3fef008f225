// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// inject plans the workloads that should carry the sidecar.
func (d *Decision) inject(ctx context.Context, snapshot *Snapshot, memo *Memo, manager string, matched []*workload.View) error {
	values, invalid := valuesOf(snapshot, d.Environment)
	if invalid != nil {
		d.Invalid = invalid
		return nil
	}
	config, invalid := referencedConfig(snapshot, values)
	d.ReferencedConfigMap = config.name
	if invalid != nil {
		d.Invalid = invalid
		return nil
	}
	request := render.Request{
		Chart: snapshot.Chart, Values: values, KubeVersion: snapshot.KubeVersion, ConfigDigest: config.digest,
		Sidecar: types.NamespacedName{Namespace: snapshot.Sidecar.Namespace, Name: snapshot.Sidecar.Name},
	}
	batch := memo.batch(request, config, snapshot.Observer)
	in := injection{
		Decision: d, snapshot: snapshot, manager: manager,
		checksOff: checkOf(values) == v1alpha1.CheckOff,
		older:     snapshot.rivals(value(values, "sidecar", "name"), matched),
	}
	if !snapshot.Chart.ReadsTarget {
		wanted := batch.want(ctx, nil)
		if err := ctx.Err(); err != nil {
			return err
		}
		d.Invalid = wanted.invalid
		in.note(wanted.report)
		for _, view := range matched {
			in.add(view, wanted)
		}
		return nil
	}
	if len(matched) == 0 {
		report := batch.checkAlone()
		d.Invalid = refused(report, values)
		in.note(report)
	}
	var failed *Invalid
	failures := 0
	for _, view := range matched {
		wanted := batch.want(ctx, view)
		if err := ctx.Err(); err != nil {
			return err
		}
		if wanted.invalid != nil {
			failed, failures = wanted.invalid, failures+1
		}
		in.add(view, wanted)
	}
	// What no workload can take is a fault of the VectorSidecar and not of
	// the workloads.
	if failures > 0 && failures == len(matched) {
		d.Invalid = failed
	}
	return nil
}

// injection is what the plans of one decision have in common.
type injection struct {
	*Decision
	snapshot *Snapshot
	manager  string
	older    []rival
	// checksOff keeps quiet about the configuration.
	checksOff bool
}

// add plans one workload and notes the companions that it needs.
func (d *injection) add(view *workload.View, wanted *wanted) {
	d.note(wanted.report)
	if wanted.invalid != nil {
		d.Plans = append(d.Plans, plan.ForBlocked(d.manager, view, wanted.invalid.Reason, wanted.invalid.Message))
		return
	}
	p := d.snapshot.plan(d.manager, view, wanted.desired, d.older)
	if p.Desired != nil {
		p.Warning = d.doubts(wanted, view)
	}
	p = d.validate(p, wanted.validation, view)
	d.Plans = append(d.Plans, p)
	if p.Desired == nil || p.Action == plan.Blocked || p.Action == plan.Conflict || p.Waiting {
		return // Nothing of this rendering is in it, or will be now.
	}
	for _, companion := range wanted.companions {
		known := false
		for i := range d.Companions {
			known = known || d.Companions[i].Name == companion.Name
		}
		if !known {
			d.Companions = append(d.Companions, companion)
		}
	}
}

// valuesOf merges the layers of the environment and the VectorSidecar's own.
func valuesOf(snapshot *Snapshot, name string) (environment.Values, *Invalid) {
	layer, err := layerOf(snapshot.Sidecar)
	if err != nil {
		return environment.Values{}, &Invalid{meta.ReasonInvalidValues, err.Error()}
	}
	values, err := snapshot.Environments.Values(name, layer)
	var unknown *environment.UnknownError
	switch {
	case errors.As(err, &unknown):
		return values, &Invalid{meta.ReasonUnknownEnvironment, fmt.Sprintf("%s: %s", describe(snapshot.Sidecar), err)}
	case err != nil:
		return values, &Invalid{meta.ReasonInvalidValues, fmt.Sprintf("values for environment %q: %s", name, err)}
	}
	return values, nil
}

// layerOf is the last layer of values: the part of the spec that has the keys of
// a values file.
func layerOf(sidecar *v1alpha1.VectorSidecar) (environment.Layer, error) {
	layer := environment.Layer{Name: describe(sidecar) + " spec", Tree: map[string]any{}}
	spec := &sidecar.Spec
	text, err := json.Marshal(map[string]any{
		"sidecar": spec.Sidecar, "initContainers": spec.InitContainers, "volumes": spec.Volumes, "values": spec.Values,
	})
	if err != nil {
		return layer, fmt.Errorf("%s: %w", describe(sidecar), err)
	}
	if err := json.Unmarshal(text, &layer.Tree); err != nil {
		return layer, fmt.Errorf("%s: %w", describe(sidecar), err)
	}
	for key, value := range layer.Tree {
		if value == nil {
			delete(layer.Tree, key) // Not given, which is not the same as taken away.
		}
	}
	return layer, nil
}
