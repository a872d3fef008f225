// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package companionuse

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Use is the result of a search for references to ConfigMaps.
type Use struct {
	// Names are the searched ConfigMaps that an object refers to.
	Names map[string]bool
	// Listed is the number of objects that were read.
	Listed int
}

// Find returns which of the given ConfigMaps the objects of the holders in a namespace refer to. It stops as soon as
// all of them are found. It does not store other names, because revisions may refer to many more.
func Find(ctx context.Context, live *livelist.Client, holders []workload.Holder, namespace string, names []string) (Use, error) {
	use := Use{Names: map[string]bool{}}
	missing := make(map[string]bool, len(names))
	for _, name := range names {
		missing[name] = true
	}
	for _, holder := range holders {
		if len(missing) == 0 {
			break
		}
		_, err := livelist.Contains(ctx, live, holder.NewList(), func(object client.Object) bool {
			use.Listed++
			if pod, ok := workload.PodSpecFor(object); ok {
				for _, name := range companion.ReferencedConfigMaps(pod) {
					delete(missing, name)
				}
			}
			return len(missing) == 0
		}, client.InNamespace(namespace))
		if err != nil {
			return Use{}, fmt.Errorf("listing %s that may use an old configuration: %w", holder.Plural, err)
		}
	}
	for _, name := range names {
		if !missing[name] {
			use.Names[name] = true
		}
	}
	return use, nil
}
