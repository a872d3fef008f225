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

// addChecks says how /healthz and /readyz are answered. The process lives while its
// loop gets on. It is ready once its caches are filled, whether it leads or stands
// by: the templates were loaded before, or it would have ended.
func addChecks(mgr ctrl.Manager, alive func() error) error {
	if err := mgr.AddHealthzCheck("loop", func(*http.Request) error { return alive() }); err != nil {
		return fmt.Errorf("adding the health check: %w", err)
	}
	err := mgr.AddReadyzCheck("caches", func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	return nil
}
