// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// recordPublished writes the record of the published revision for the kubectl plugin, unless the stored record is the
// same. An installation without a ConfigMap of values has no record. The caller holds the mutex. The error is an
// *UnstoredError if the write failed.
func (r *revisions) recordPublished(ctx context.Context, platform *desired.Platform) error {
	if r.recorded == platform && !r.isRecordReplaced(ctx) {
		return nil
	}
	installation := &corev1.ConfigMap{}
	if err := r.options.Cached.Get(ctx, r.options.Installation, installation); err != nil {
		return client.IgnoreNotFound(err)
	}
	err := r.recording.attemptRequest(ctx, platform.Revision, func() error { return r.writeRecord(ctx, platform, installation) })
	switch {
	case err == nil:
		r.recorded, r.compared = platform, r.options.Clock()
	case errors.As(err, new(*UnstoredError)):
		r.publication = nil
	}
	return err
}

// cacheLag is the time after a write in which the cache may still show the previous record.
const cacheLag = 10 * time.Second

// isRecordReplaced reports whether a user has deleted or changed the record, so that it must be written again.
func (r *revisions) isRecordReplaced(ctx context.Context) bool {
	if r.options.Clock().Sub(r.compared) < cacheLag {
		return false
	}
	r.compared = r.options.Clock()
	cached := &corev1.ConfigMap{}
	err := r.options.Cached.Get(ctx, fleet.PublicationName(r.options.Installation), cached)
	isReplaced := apierrors.IsNotFound(err) || err == nil && !apiequality.Semantic.DeepEqual(cached.Data, r.publication.Data)
	if isReplaced {
		r.recorded, r.publication = nil, nil
	}
	return isReplaced
}

// writeRecord writes the record of the published revision if it differs from the stored one.
func (r *revisions) writeRecord(ctx context.Context, platform *desired.Platform, installation *corev1.ConfigMap) error {
	stored, err := r.storedRecord(ctx)
	if err != nil {
		return err
	}
	var previous *fleet.Publication
	if stored != nil {
		if previous, err = fleet.ReadPublication(stored); err != nil {
			log.FromContext(ctx).Error(err, "replacing the record of the published revision")
		}
	}
	published := platform.Publication(previous, metav1.NewTime(r.options.Clock().UTC().Truncate(time.Second)))
	record := published.ConfigMap(r.options.Installation)
	if stored != nil && isOwnedBy(stored, installation) && apiequality.Semantic.DeepEqual(record.Data, stored.Data) {
		r.publication = stored
		return nil
	}
	if r.publication, err = r.options.Writer.WritePublication(ctx, record, stored, installation); err != nil {
		return err
	}
	log.FromContext(ctx).Info("recorded published revision", "revision", published.Revision)
	return nil
}

// storedRecord returns the record that this process wrote last, or else the record in the cache. It returns nil if
// none exists.
func (r *revisions) storedRecord(ctx context.Context) (*corev1.ConfigMap, error) {
	if r.publication != nil {
		return r.publication, nil
	}
	name, object := fleet.PublicationName(r.options.Installation), &corev1.ConfigMap{}
	switch err := r.options.Cached.Get(ctx, name, object); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // A missing record is not an error.
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
	case object.Labels[meta.LabelManagedBy] != meta.Operator:
		return nil, fmt.Errorf("ConfigMap %s was not written by the operator; rename it", name)
	}
	return object, nil
}
