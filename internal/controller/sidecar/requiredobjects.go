// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// requiredTimeout is the timeout of reading the required objects.
const requiredTimeout = 30 * time.Second

// requiredObjects reports missing objects of the installation chart. It runs on the leader only.
type requiredObjects struct {
	objects []source.RequiredObject
	// namespace is the operator namespace.
	namespace string
	live      client.Reader
	metrics   *telemetry.Metrics
	log       logr.Logger

	// last has the results of the last check, which were logged.
	last map[source.RequiredObject]source.Presence
}

// check counts the objects by their presence and logs changes.
func (r *requiredObjects) check(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, requiredTimeout)
	defer cancel()
	counts, results := map[source.Presence]int{}, map[source.RequiredObject]source.Presence{}
	for _, object := range r.objects {
		presence, err := object.Presence(limited, r.live, r.namespace)
		if ctx.Err() != nil {
			return nil
		}
		counts[presence]++
		results[object] = presence
		if presence != r.last[object] {
			r.report(object, presence, err)
		}
	}
	r.last = results
	for _, presence := range source.Presences() {
		r.metrics.SetRequiredObjects(string(presence), counts[presence])
	}
	return nil
}

// report logs the changed presence of an object.
func (r *requiredObjects) report(object source.RequiredObject, presence source.Presence, err error) {
	switch presence {
	case source.ObjectMissing:
		telemetry.Warn(r.log, "required object is missing", "object", object.String())
	case source.ObjectNotRead:
		telemetry.Warn(r.log, "cannot read required object", "object", object.String(), "cause", err.Error())
	case source.ObjectNotServed:
		r.log.Info("kind of required object is not served", "object", object.String())
	case source.ObjectPresent:
		if r.last[object] != "" {
			r.log.Info("required object exists again", "object", object.String())
		}
	}
}
