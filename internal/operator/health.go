// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// addHealthChecks adds the checks behind /healthz and /readyz. The process is healthy while its
// controller makes progress. It is ready once its caches are synced, in the leader and in standby
// replicas. The templates need no check, because the process exits if they cannot be loaded.
func addHealthChecks(mgr ctrl.Manager, alive func() error) error {
	if err := mgr.AddHealthzCheck("loop", func(*http.Request) error { return alive() }); err != nil {
		return fmt.Errorf("adding the health check: %w", err)
	}
	err := mgr.AddReadyzCheck("caches", func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not synced yet")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	return nil
}
