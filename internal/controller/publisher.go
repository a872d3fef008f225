// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

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

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/election"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// publisher writes the record of the published revision. The kubectl plugin reads the record.
type publisher struct {
	cached  client.Reader
	writer  *apply.Writer
	options *Options

	mu sync.Mutex
	// recorded is the platform that the record was last compared with. compared is the time of that comparison. object
	// is the record as the operator last wrote it.
	recorded *desired.Platform
	compared time.Time
	object   *corev1.ConfigMap
	// failed explains why the record could not be written. It is nil if the record was written.
	failed *unstoredError
}

// record writes the record of a platform, unless the stored record is the same. An installation without a ConfigMap of
// values has no record. The error is an *unstoredError if the write failed.
func (p *publisher) record(ctx context.Context, platform *desired.Platform) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.recorded == platform && !p.isReplaced(ctx) {
		return nil
	}
	installation := &corev1.ConfigMap{}
	if err := p.cached.Get(ctx, p.options.Installation, installation); err != nil {
		return client.IgnoreNotFound(err)
	}
	waited := time.Duration(0)
	if previous := p.failed; previous != nil && previous.revision == platform.Revision {
		if p.options.Clock().Before(previous.until) {
			return previous
		}
		waited = previous.wait
	}
	err := p.write(ctx, platform, installation)
	if err == nil {
		p.recorded, p.compared, p.failed = platform, p.options.Clock(), nil
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, election.ErrNotLeading) {
		return err
	}
	wait := state.NextWait(waited, state.FirstRetry, state.LastRetry)
	p.object, p.failed = nil, &unstoredError{revision: platform.Revision, err: err, wait: wait, until: p.options.Clock().Add(wait)}
	log.FromContext(ctx).Error(p.failed, "recording published revision")
	return p.failed
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
	err := p.cached.Get(ctx, fleet.PublicationName(p.options.Installation), cached)
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
	if p.object, err = p.writer.WritePublication(ctx, record, stored, installation); err != nil {
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
	switch err := p.cached.Get(ctx, name, object); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // A missing record is not an error.
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
	case object.Labels[meta.LabelManagedBy] != meta.Operator:
		return nil, fmt.Errorf("ConfigMap %s was not written by the operator; rename it", name)
	}
	return object, nil
}
