// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

// publisher writes the record of the published revision. The kubectl plugin reads the record.
type publisher struct {
	options *Options

	mu sync.Mutex
	// recorded is the platform that the record was last compared with. compared is the time of that comparison. object
	// is the record as the operator last wrote it.
	recorded *desired.Platform
	compared time.Time
	object   *corev1.ConfigMap
	writing  revisionRequest
}

func newPublisher(options *Options) *publisher {
	return &publisher{options: options, writing: revisionRequest{name: "recording published revision", options: options}}
}

// record writes the record of a platform, unless the stored record is the same. An installation without a ConfigMap of
// values has no record. The error is an *UnstoredError if the write failed.
func (p *publisher) record(ctx context.Context, platform *desired.Platform) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.recorded == platform && !p.isReplaced(ctx) {
		return nil
	}
	installation := &corev1.ConfigMap{}
	if err := p.options.Cached.Get(ctx, p.options.Installation, installation); err != nil {
		return client.IgnoreNotFound(err)
	}
	err := p.writing.try(ctx, platform.Revision, func() error { return p.write(ctx, platform, installation) })
	switch {
	case err == nil:
		p.recorded, p.compared = platform, p.options.Clock()
	case errors.As(err, new(*UnstoredError)):
		p.object = nil
	}
	return err
}

// cacheLag is the time after a write in which the cache may still show the previous record.
const cacheLag = 10 * time.Second

// isReplaced reports whether a user has deleted or changed the record, so that it must be written again.
func (p *publisher) isReplaced(ctx context.Context) bool {
	if p.options.Clock().Sub(p.compared) < cacheLag {
		return false
	}
	p.compared = p.options.Clock()
	cached := &corev1.ConfigMap{}
	err := p.options.Cached.Get(ctx, fleet.PublicationName(p.options.Installation), cached)
	isReplaced := apierrors.IsNotFound(err) || err == nil && !apiequality.Semantic.DeepEqual(cached.Data, p.object.Data)
	if isReplaced {
		p.recorded, p.object = nil, nil
	}
	return isReplaced
}

// write writes the record if it differs from the stored one.
func (p *publisher) write(ctx context.Context, platform *desired.Platform, installation *corev1.ConfigMap) error {
	stored, err := p.stored(ctx)
	if err != nil {
		return err
	}
	var previous *fleet.Publication
	if stored != nil {
		if previous, err = fleet.ReadPublication(stored); err != nil {
			log.FromContext(ctx).Error(err, "replacing the record of the published revision")
		}
	}
	publication := platform.Publication(previous, metav1.NewTime(p.options.Clock().UTC().Truncate(time.Second)))
	record := publication.ConfigMap(p.options.Installation)
	if stored != nil && isOwnedBy(stored, installation) && apiequality.Semantic.DeepEqual(record.Data, stored.Data) {
		p.object = stored
		return nil
	}
	if p.object, err = p.options.Writer.WritePublication(ctx, record, stored, installation); err != nil {
		return err
	}
	log.FromContext(ctx).Info("recorded published revision", "revision", publication.Revision)
	return nil
}

// stored returns the record that this process wrote last. Without one it returns the record in the cache, nil if none
// exists.
func (p *publisher) stored(ctx context.Context) (*corev1.ConfigMap, error) {
	if p.object != nil {
		return p.object, nil
	}
	name, object := fleet.PublicationName(p.options.Installation), &corev1.ConfigMap{}
	switch err := p.options.Cached.Get(ctx, name, object); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // A missing record is not an error.
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
	case object.Labels[meta.LabelManagedBy] != meta.Operator:
		return nil, fmt.Errorf("ConfigMap %s was not written by the operator; rename it", name)
	}
	return object, nil
}
