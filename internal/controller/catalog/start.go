// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
)

// IsReady reports whether the platform is loaded and its waves are checked.
func (r *Reconciler) IsReady() bool {
	platform, _ := r.Current()
	isStaged := platform != nil && platform.Rollout.IsStaged()
	return r.isLoaded() && (!isStaged || r.options.Waves.Current().IsFor(&platform.Target))
}

// StartRevision returns the next rollout state of a VectorSidecar, or of a ClusterVectorSidecar in a wave. Before it
// starts a revision, it makes sure that the revision can be read back. The error is apply.ErrStale while the waves are
// not checked for the platform.
func (r *Reconciler) StartRevision(ctx context.Context, member fleet.WaveMember, lastStatus *v1alpha1.RolloutStatus, platform *desired.Platform) (*state.Rollout, error) {
	published := r.options.Waves.Current()
	if !published.IsFor(&platform.Target) {
		return nil, fmt.Errorf("the waves are not checked for revision %s yet: %w", platform.Target.Revision, apply.ErrStale)
	}
	rollout := &state.Rollout{Member: member, Target: platform.Target}
	stored, err := r.revisions.ledger.read(ctx)
	rollout.Target.Stored = fleet.WithFailures(stored, published.Failures())
	gate := published.Gate(member, &rollout.Target, r.options.Clock())
	if platform.Unpublished != "" {
		gate = fleet.Gate{Message: platform.Unpublished}
	}
	rollout.RevisionState = fleet.Advance(lastStatus, member, &rollout.Target, gate)
	if !rollout.IsNew {
		return rollout, nil
	}
	if err == nil { // While stored revisions cannot be read, no VectorSidecar changes its revision.
		isReturn := rollout.Status.RevertedFrom == platform.Target.Revision
		err = r.prepareStart(ctx, platform, rollout.Status.Revision, isReturn)
	}
	unstored := &UnstoredError{}
	switch {
	case isGone(err) && member.RevertTo != "": // Ignore the request, so that other VectorSidecars do not depend on it.
		member.RevertTo, member.Rejection = "", err.Error()
		return r.StartRevision(ctx, member, lastStatus, platform)
	case isGone(err):
		rollout.Reject(lastStatus, &rollout.Target, err.Error())
	case errors.As(err, &unstored):
		rollout.Reject(lastStatus, &rollout.Target, err.Error())
		rollout.Gate.Until = unstored.Until
	case err != nil:
		return nil, err
	}
	return rollout, nil
}

// prepareStart stores everything that must exist before a VectorSidecar starts a revision of the platform: the marks of
// failed revisions, the record of the published revision, and the revision. A start deletes the failure from the status;
// a return from a failed revision keeps it and does not need the mark. The error is a *fleet.RecordError if the revision
// cannot be read back, an *UnstoredError if it cannot be stored yet, and apply.ErrStale if there is a later platform.
func (r *Reconciler) prepareStart(ctx context.Context, platform *desired.Platform, revision string, isReturn bool) error {
	errLater := fmt.Errorf("publishing revision %s: %w", platform.Revision, apply.ErrStale)
	waves := r.options.Waves.Current()
	if !waves.IsFor(&platform.Target) {
		return errLater
	}
	if !isReturn {
		if err := r.revisions.ledger.markFailures(ctx, waves.Failures()); err != nil {
			return err
		}
	}
	if current, _ := r.Current(); current != platform {
		return errLater
	}
	return r.revisions.prepareStart(ctx, revision, platform)
}
