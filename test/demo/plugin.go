// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// wishlist is the Deployment of test/demo/canary.yaml.
var wishlist = types.NamespacedName{Namespace: shop, Name: "wishlist"}

// plugin shows a command of the kubectl plugin, runs it, and checks that its output has a text.
func (d *demo) plugin(ctx context.Context, expected string, args ...string) error {
	d.command(append([]string{"kubectl", "vectorsidecar"}, args...)...)
	output, err := d.quietly(ctx, "kubectl-vectorsidecar", args...)
	d.block(output)
	if err == nil && !strings.Contains(output, expected) {
		err = mismatch{"kubectl vectorsidecar " + args[0], fmt.Sprintf("%q", expected), "the output above"}
	}
	return err
}

// explainAndPlan shows the reason for the missing sidecar, and the effect of the label before it is set.
func (d *demo) explainAndPlan(ctx context.Context) error {
	if err := d.plugin(ctx, "NoMatch", "explain", cart.Name, "-n", cart.Namespace); err != nil {
		return err
	}
	if err := d.plugin(ctx, "inject 1", "plan", "-n", cart.Namespace, "--label", label+"="+labelValue); err != nil {
		return err
	}
	d.ok("nothing was written")
	return nil
}

// showInstallation shows VectorSidecars with their workloads, and the health of the installation.
func (d *demo) showInstallation(ctx context.Context) error {
	if err := d.plugin(ctx, cart.Name, "tree", "-A"); err != nil {
		return err
	}
	return d.plugin(ctx, "", "check")
}

// failCanary rolls out an image that crashes. The canary fails, the operator reverts it, and no other workload changes.
func (d *demo) failCanary(ctx context.Context) error {
	if _, err := d.kubectl(ctx, "apply", "-f", "test/demo/canary.yaml"); err != nil {
		return err
	}
	if err := d.sidecarReady(ctx, meta.ReasonUpToDate, 2, 2); err != nil {
		return err
	}
	before, err := d.application(ctx)
	if err != nil {
		return err
	}
	if _, err := d.kubectl(ctx, "patch", "vectorsidecars", logs.Name, "-n", logs.Namespace, "--type=merge", "-p",
		`{"spec":{"rollout":{"canary":{"selector":{"matchLabels":{"canary":"true"}}}},"sidecar":{"image":"registry.example/vector:crashes"}}}`); err != nil {
		return err
	}
	if err := d.reverted(ctx); err != nil {
		return err
	}
	if err := d.plugin(ctx, "", "get", "-n", logs.Namespace); err != nil {
		return err
	}
	for _, of := range []struct{ object, cause string }{
		{"deployment/" + wishlist.Name, "image registry.example/vector:crashes → "},
		{"vectorsidecar/" + logs.Name, meta.ReasonReverted},
	} {
		events, err := d.kubectl(ctx, "events", "-n", shop, "--for", of.object)
		if err != nil {
			return err
		}
		if !strings.Contains(events, of.cause) {
			return mismatch{"events of " + of.object, of.cause, "the events above"}
		}
	}
	now, err := d.application(ctx)
	if err != nil {
		return err
	}
	if err := expect(cartObject, "generation", before.generation, now.generation); err != nil {
		return err
	}
	d.ok("only the canary got the image; %s did not change", cartObject)
	if _, err := d.kubectl(ctx, "patch", "vectorsidecars", logs.Name, "-n", logs.Namespace, "--type=merge", "-p",
		`{"spec":{"rollout":{"canary":null},"sidecar":{"image":null}}}`); err != nil {
		return err
	}
	if err := d.sidecarReady(ctx, meta.ReasonUpToDate, 2, 2); err != nil {
		return err
	}
	_, err = d.kubectl(ctx, "delete", "deployment", wishlist.Name, "-n", wishlist.Namespace, "--cascade=foreground")
	return err
}

// reverted waits until the canary has failed and has its sidecar of before again.
func (d *demo) reverted(ctx context.Context) error {
	return d.wait(ctx, logsObject, "the canary to fail and to be reverted", func(ctx context.Context) (finding, error) {
		var sidecar v1alpha1.VectorSidecar
		if err := d.client.Get(ctx, logs, &sidecar); err != nil {
			return finding{}, err
		}
		found := readyFor(&sidecar, meta.ReasonReverted)
		status := &sidecar.Status
		found.done = status.Reverted != nil && status.Total().Ready == 2 && strings.Contains(found.state, meta.ReasonReverted)
		return found, nil
	})
}
