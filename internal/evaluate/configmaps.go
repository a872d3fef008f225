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

// mostRounds is the maximum number of times that a snapshot is completed. Each round follows references one step
// further: from the namespace's defaults to the ConfigMap that the values name, then to its copies. A rollout in
// progress may need one more round.
const mostRounds = 8

// DecideFrom makes a decision like Decide, and reads the ConfigMaps and ServiceAccounts that the snapshot lacks. They
// depend on the merged values and on the rendering. So it reads missing objects and decides again until none is
// missing. The cache may be nil. It returns an error if a ConfigMap cannot be read, and the errors of Decide.
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
