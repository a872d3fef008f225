// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"context"
	"fmt"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
)

// mostRounds bounds how often a snapshot is completed. Each round follows references
// one step further: from the namespace's defaults to the ConfigMap that the values
// name, from there to the copies made of it, and once more for a rollout in progress.
const mostRounds = 8

// DecideFrom is Decide, and reads the ConfigMaps and ServiceAccounts that the snapshot lacks. Which ones a
// decision depends on follows from the merged values and from what is rendered: missing
// ones are added and it decides again, until there are none. cache may be nil. The
// error is that of a ConfigMap that cannot be read, or as for Decide.
func DecideFrom(ctx context.Context, snapshot *Snapshot, objects desired.Objects, cache *desired.Cache) (*decision.Decision, error) {
	var d *decision.Decision
	for range mostRounds {
		var err error
		if d, err = Decide(ctx, snapshot, cache); err != nil || !d.IsIncomplete() {
			return d, err
		}
		if err := snapshot.ReadConfigMaps(ctx, objects, d.Unread); err != nil {
			return nil, err
		}
		if err := snapshot.ReadAccounts(ctx, objects, d.UnreadAccounts); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: its ConfigMaps refer to further ConfigMaps without end, last to %s",
		desired.Describe(snapshot.Sidecar), strings.Join(d.Unread, ", "))
}
