// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// DryRun returns the workload as a plan that writes a sidecar would change it, without writing it. It returns
// the same errors as ApplyWorkload.
func (w *Writer) DryRun(ctx context.Context, p *plan.Plan) (workload.Object, error) {
	dry, kind := New(client.NewDryRunClient(w.client)), p.Target.Adapter()
	reply := kind.New()
	reply.SetNamespace(p.Target.Namespace)
	reply.SetName(p.Target.Name)
	err := dry.patchMounts(ctx, reply, p)
	if body := p.Body(); err == nil && p.Write.Patch == nil && body != nil {
		err = dry.apply(ctx, reply, identifiedBody(body, p.Target), p)
	}
	if err != nil {
		return nil, fmt.Errorf("dry-running the write of %s %s/%s: %w", kind.Kind, p.Target.Namespace, p.Target.Name, classify(err))
	}
	return reply, nil
}

// DryRunCreate sends a dry-run create of a new object. The error is the API server's response.
func (w *Writer) DryRunCreate(ctx context.Context, object client.Object) error {
	return w.client.Create(ctx, object, client.DryRunAll, client.FieldOwner(meta.Operator))
}
