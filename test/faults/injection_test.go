// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/faults/wire"
)

// injecting is inProcess with admission injection.
func injecting(ctx context.Context, p *place, life *wire.Life) {
	runIn(ctx, p, life, operator.Options{
		Namespace: p.namespace, WatchNamespaces: []string{p.namespace}, EnvironmentsConfigMap: environments, WorkloadKinds: []string{p.kind.Kind}, AdmissionInjection: true,
	})
}

// atAdmission are scenarios with admission injection.
func atAdmission() []scenario {
	return []scenario{
		ofAdmission("Deployment"), ofAdmission("Rollout"),
		{name: "many that change at once, for the API server", injects: true, steps: []step{
			{"make them", forMany(func(ctx context.Context, p *place, name string) error {
				return add(func(ns string) client.Object { return newUnmatchedSidecar(name, ns) })(ctx, p)
			}), []condition{hasActiveOverlays(many, "VECTOR_LOG")}},
			{"change them", forMany(func(ctx context.Context, p *place, name string) error {
				return sidecar(name, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.LogLevel = "error" })(ctx, p)
			}), []condition{hasActiveOverlays(many, `"value":"error"`)}},
			{"disable one", sidecar(nameOf(3), func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = new(bool) }), []condition{hasActiveOverlays(many-1, `"value":"error"`)}},
			{"delete them", forMany(func(ctx context.Context, p *place, name string) error { return remove(sidecarNamed(name))(ctx, p) }), []condition{hasActiveOverlays(0, "")}},
		}},
	}
}

// ofAdmission is the scenario of a workload that is created with its sidecar.
func ofAdmission(kind string) scenario {
	deploys := func(image string) action {
		return patch("kubectl-client-side-apply", "cart", client.Object(workload.KindByName(kind).New()), func(object client.Object) {
			pod := &workload.PodTemplate(object.(workload.Object)).Spec
			for i := range pod.Containers {
				if pod.Containers[i].Name == "app" {
					pod.Containers[i].Image = image
				}
			}
		})
	}
	if kind == "Rollout" {
		deploys = appliesLists
	}
	return scenario{name: kind + " that the API server injects into", kind: kind, injects: true, steps: []step{
		{"offer", add(func(ns string) client.Object { return logs(ns).For(v1alpha1.WorkloadKind(kind)).Build() }), []condition{matched("logs", 0), hasActiveOverlays(1, "VECTOR_LOG")}},
		{"create", createdWith(kind), []condition{has("cart", "vector", "migrate", "app"), matched("logs", 1)}},
		{"deploy", deploys("registry.example/app:2"), []condition{has("cart", "vector", "migrate", "app"), hasTemplateText("cart", "app:2")}},
		updated("change the sidecar", func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "error"} }, hasTemplateText("cart", `"value":"error"`), hasActiveOverlays(1, `"value":"error"`)),
		{"label off", labelOf(kind, "cart", "logs", ""), []condition{has("cart", "migrate", "app"), matched("logs", 0)}},
		{"label on", labelOf(kind, "cart", "logs", "v"), []condition{has("cart", "vector", "migrate", "app"), matched("logs", 1)}},
		{"delete", remove(sidecarNamed("logs")), []condition{has("cart", "migrate", "app"), isDeleted("logs"), hasActiveOverlays(0, "")}},
	}}
}

// createdWith creates the workload as soon as the API server injects the sidecar in a dry run.
func createdWith(kind string) action {
	return func(ctx context.Context, p *place) error {
		for {
			trial := workloadOf(kind, p.namespace)
			trial.SetName("trial")
			err := world.Client.Create(ctx, trial, client.DryRunAll)
			if err == nil && containers(trial.(workload.Object))[0] == "vector" {
				return world.Client.Create(ctx, workloadOf(kind, p.namespace))
			}
			if waited := pause(ctx); waited != nil {
				return fmt.Errorf("the API server injects nothing: %w", waited)
			}
		}
	}
}

// appliesLists applies the lists of a Rollout from the application owner's manifest, without injected items.
func appliesLists(image string) action {
	return func(ctx context.Context, p *place) error {
		object := workload.KindByName("Rollout").New()
		object.SetNamespace(p.namespace)
		object.SetName("cart")
		lists := fmt.Sprintf(`{"spec": {"template": {"spec": {"initContainers": [{"name": "migrate", "image": "registry.example/migrate:1"}], "containers": [{"name": "app", "image": %q}]}}}}`, image)
		return world.Client.Patch(ctx, object, client.RawPatch("application/merge-patch+json", []byte(lists)), client.FieldOwner("kubectl-client-side-apply"))
	}
}

// many is a number of VectorSidecars for which the operator delays and groups writes of the OverlaySet.
const many = 12

func nameOf(n int) string { return fmt.Sprintf("logs-%02d", n) }

func forMany(do func(ctx context.Context, p *place, name string) error) action {
	return func(ctx context.Context, p *place) error {
		for n := range many {
			if err := do(ctx, p, nameOf(n)); err != nil {
				return err
			}
		}
		return nil
	}
}

// newUnmatchedSidecar returns a VectorSidecar that does not select an existing workload.
func newUnmatchedSidecar(name, namespace string) *v1alpha1.VectorSidecar {
	vs := logs(namespace).Named(name).Build()
	vs.Name = name
	vs.Spec.Selector.MatchLabels = map[string]string{"logs": name}
	return vs
}

// hasActiveOverlays requires the given number of active overlays, each of which contains a string.
func hasActiveOverlays(n int, what string) condition {
	return func(s *seen) string {
		found := 0
		for i := range s.overlaySets {
			spec := &s.overlaySets[i].Spec
			for k := range spec.Overlays {
				if spec.Overlays[k].SkipReason != "" {
					return "an overlay is left: " + spec.Overlays[k].SkipReason
				}
				found++
			}
			for k := range spec.Native {
				if !strings.Contains(string(spec.Native[k].Item.Raw), what) {
					return fmt.Sprintf("the overlay of %s does not say %q", spec.Native[k].OverlayID, what)
				}
			}
		}
		if found != n {
			return fmt.Sprintf("there are %d overlays and not %d", found, n)
		}
		return ""
	}
}
