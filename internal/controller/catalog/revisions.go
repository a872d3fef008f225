// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

const (
	// storedRevisions is the number of newest revisions that stay stored even if they are unused. A used revision is
	// one that a VectorSidecar has or would revert to.
	storedRevisions = 10
	// loadedRevisions is the number of earlier revisions that are cached in memory. Usually, all waiting
	// VectorSidecars have the same revision.
	loadedRevisions = 4
)

// revisions stores the target revisions that start in waves, and the record of the published revision. A VectorSidecar
// that has an earlier revision is rendered from that stored revision.
type revisions struct {
	options *Options
	ledger  *revisionLedger

	mu sync.Mutex
	// newest is the stored revision with the highest number, as last written by this process. owner is the UID of the
	// ConfigMap that owns it.
	newest string
	owner  types.UID
	// isUntidy is true if unneeded revisions may be stored. isRenewed is true after this process has updated the
	// target revision that an earlier process stored.
	isUntidy, isRenewed bool
	loaded              *lru.Cache // loadedCatalog by revision
	// recorded is the platform that the record was last compared with, at the time compared. publication is the
	// record as the operator last wrote it.
	recorded           *desired.Platform
	compared           time.Time
	publication        *corev1.ConfigMap
	storing, recording revisionRequest
}

// newRevisions returns revisions that have not read or stored anything yet.
func newRevisions(options *Options) *revisions {
	return &revisions{
		options: options, loaded: lru.New(loadedRevisions), storing: revisionRequest{name: "storing the target revision", options: options},
		recording: revisionRequest{name: "recording published revision", options: options},
		ledger: &revisionLedger{
			options: options, reading: revisionRequest{name: "reading stored revisions", options: options}, marking: revisionRequest{name: "marking stored revisions", options: options},
		},
	}
}

// platformAt returns the platform with an earlier revision instead of the current one. The error is a
// *fleet.RecordError if the earlier revision cannot be read back.
func (r *revisions) platformAt(ctx context.Context, revision string, current *desired.Platform) (*desired.Platform, error) {
	if revision == current.Revision {
		return current, nil
	}
	cached, isLoaded := r.loaded.Get(revision)
	if !isLoaded {
		content, err := source.ReadRevision(ctx, r.options.Live.Reader(), r.options.Installation, revision)
		if err != nil {
			return nil, err // The error is not cached, because a deleted revision may be restored.
		}
		platform, err := r.options.Catalog.PlatformAt(ctx, content)
		if err != nil && !isGone(err) {
			return nil, err
		}
		cached = loadedCatalog{platform, err}
		r.loaded.Add(revision, cached)
	}
	loaded, _ := cached.(loadedCatalog)
	if loaded.err != nil {
		return nil, loaded.err
	}
	return loaded.platform.WithCurrent(current), nil
}

// lastKnownGood returns the content of the revision that was published last, and the rollout rules that were in use
// then. The content is nil if the revision is not stored or cannot be used, or if the installation's rules have no
// waves, because revisions are stored only for waves. The rules are "" if they are not recorded.
func (r *revisions) lastKnownGood(ctx context.Context, installation *corev1.ConfigMap) (content *fleet.Content, rollout string, err error) {
	published, err := source.ReadPublication(ctx, r.options.Cached, r.options.Installation)
	if err != nil {
		log.FromContext(ctx).Error(err, "reading the record of the published revision")
	}
	if published != nil {
		rollout = published.RolloutText
	}
	rules, err := fleet.Parse(desired.RolloutKey, []byte(installation.Data[desired.RolloutKey]))
	if err != nil {
		rules, err = fleet.Parse(desired.RolloutKey, []byte(rollout))
	}
	if err != nil || !rules.IsStaged() {
		return nil, rollout, nil //nolint:nilerr // The catalog reports the error.
	}
	content, err = r.lastPublished(ctx, published)
	return content, rollout, err
}

// lastPublished reads the content of the revision that the record names as published. If that revision is not stored,
// it reads the newest stored revision. It returns nil if that cannot be used, or if no revision is stored.
func (r *revisions) lastPublished(ctx context.Context, published *fleet.Publication) (*fleet.Content, error) {
	stored, err := source.Revisions(ctx, r.options.Live, r.options.Installation)
	if err != nil || len(stored) == 0 {
		return nil, err
	}
	revision := stored[0].Labels[meta.LabelRevision]
	if published != nil && slices.ContainsFunc(stored, func(record appsv1.ControllerRevision) bool {
		return record.Labels[meta.LabelRevision] == published.Revision
	}) {
		revision = published.Revision
	}
	content, err := source.ReadRevision(ctx, r.options.Live.Reader(), r.options.Installation, revision)
	if isGone(err) {
		log.FromContext(ctx).Error(err, "reading the last published revision")
		return nil, nil //nolint:nilnil // The revision counts as not stored.
	}
	return content, err
}

// prepareStart records the published revision, and ensures that a revision that starts can be read as long as a
// VectorSidecar has it. The error is a *fleet.RecordError if the revision cannot be read back, and an *UnstoredError if it
// is not stored yet.
func (r *revisions) prepareStart(ctx context.Context, revision string, current *desired.Platform) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if current.Unpublished == "" { // No VectorSidecar starts the revision of a draft.
		if err := r.recordPublished(ctx, current); err != nil {
			return err
		}
	}
	if revision != current.Revision {
		if _, err := r.platformAt(ctx, revision, current); err != nil {
			return err
		}
	}
	if revision != current.Target.Revision {
		return nil
	}
	installation := &corev1.ConfigMap{}
	if err := r.options.Cached.Get(ctx, r.options.Installation, installation); err != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", r.options.Installation, err)
	}
	if r.newest == revision && r.owner == installation.UID {
		return nil
	}
	return r.tryToStore(ctx, installation, revision, current, true)
}

// pruneRevisions records the published revision. In an installation with waves, it also deletes unneeded stored revisions, and
// stores the target revision as this release renders it. It runs after the workloads of a revision have been written, so
// that these writes do not wait for it. It returns an *UnstoredError for each request that failed.
func (r *revisions) pruneRevisions(ctx context.Context, current *desired.Platform) []error {
	// While another reconcile stores a revision, parts exist before the revision itself. That reconcile calls Tidy
	// afterwards.
	if !r.mu.TryLock() {
		return nil
	}
	defer r.mu.Unlock()
	errs := []error{r.recordPublished(ctx, current)}
	if !current.Rollout.IsStaged() || !r.isUntidy && r.isRenewed {
		return errs
	}
	installation := &corev1.ConfigMap{}
	err := r.options.Cached.Get(ctx, r.options.Installation, installation)
	if err == nil && !r.isRenewed {
		err = r.renewStored(ctx, installation, current)
	}
	if err == nil && r.isUntidy {
		err = r.deleteUnneeded(ctx, installation, current)
		r.isUntidy = ctx.Err() != nil
	}
	if err != nil && ctx.Err() == nil && !errors.As(err, new(*UnstoredError)) {
		log.FromContext(ctx).Error(err, "deleting stored revisions that are no longer needed") // They are deleted when a revision is stored again.
	}
	return append(errs, err)
}

// renewStored stores the target revision as this release renders it, if another process stored it. From then on, workloads
// that change get this rendering.
func (r *revisions) renewStored(ctx context.Context, installation *corev1.ConfigMap, current *desired.Platform) error {
	if revision := current.Revision; revision == current.Target.Revision && r.newest != revision {
		if err := r.tryToStore(ctx, installation, revision, current, false); err != nil {
			return err
		}
	}
	r.isRenewed = true
	return nil
}

// tryToStore stores a revision as storeRevision does. After a failure, it retries with a backoff instead of in each
// reconcile.
func (r *revisions) tryToStore(ctx context.Context, installation *corev1.ConfigMap, revision string, current *desired.Platform, isStarting bool) error {
	return r.storing.attemptRequest(ctx, revision, func() error { return r.storeRevision(ctx, installation, revision, current, isStarting) })
}

// storeRevision stores the target revision with the highest number, unless it is already stored as this release would store
// it. A revision that is not stored yet is stored only if it is about to start.
func (r *revisions) storeRevision(ctx context.Context, installation *corev1.ConfigMap, revision string, current *desired.Platform, isStarting bool) error {
	stored, err := source.Revisions(ctx, r.options.Live, r.options.Installation)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(stored, func(record appsv1.ControllerRevision) bool { return record.Labels[meta.LabelRevision] == revision })
	number := int64(1)
	switch {
	case i < 0 && !isStarting:
		return nil
	case i == 0:
		number = stored[0].Revision
	case len(stored) > 0:
		number = stored[0].Revision + 1
	}
	isWhole := revision != current.Revision
	if !isWhole {
		content, err := current.StoredContent(ctx)
		if err == nil && i >= 0 && isOwnedBy(&stored[i], installation) && content.IsStoredBy(&stored[i]) {
			isWhole, err = r.hasParts(ctx, installation, &stored[i])
		}
		if err == nil && !isWhole {
			err = r.options.Writer.StoreRevision(ctx, content, number, installation)
		}
		if err != nil {
			return err
		}
	}
	if isWhole && i > 0 {
		if err := r.options.Writer.NumberRevision(ctx, &stored[i], number); err != nil {
			return err
		}
	}
	r.newest, r.owner, r.isUntidy = revision, installation.UID, true
	r.ledger.forget()
	return nil
}

// hasParts reports whether all parts of a stored revision exist. A user may have deleted a part.
func (r *revisions) hasParts(ctx context.Context, installation *corev1.ConfigMap, record *appsv1.ControllerRevision) (bool, error) {
	names, err := fleet.PartNames(installation.Name, record)
	if err != nil {
		return false, err
	}
	parts, err := source.RevisionParts(ctx, r.options.Live, installation.Namespace, installation.UID)
	if err != nil {
		return false, err
	}
	isMissing := func(name string) bool {
		return !slices.ContainsFunc(parts, func(part metav1.PartialObjectMetadata) bool { return part.Name == name })
	}
	return !slices.ContainsFunc(names, isMissing), nil
}

// isOwnedBy reports whether Kubernetes deletes an object with the ConfigMap. It returns false for an object of an
// earlier ConfigMap of the same name, which is about to be deleted.
func isOwnedBy(object client.Object, configMap *corev1.ConfigMap) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == configMap.UID })
}

// neededRevisions returns the revisions that VectorSidecars have or would revert to.
func (r *revisions) neededRevisions(ctx context.Context) map[string]bool {
	needed := map[string]bool{}
	for _, sidecar := range r.options.Sidecars.ListIn(ctx, "") {
		if rolloutStatus := sidecar.Status.Rollout; rolloutStatus != nil {
			needed[rolloutStatus.Revision], needed[rolloutStatus.Previous] = true, true
		}
	}
	for _, cluster := range r.options.Sidecars.Clusters(ctx) {
		for i := range cluster.Status.Waves {
			wave := &cluster.Status.Waves[i]
			needed[wave.Revision], needed[wave.Previous] = true, true
		}
	}
	return needed
}

// deleteUnneeded deletes all revisions except the newest storedRevisions and the revisions that VectorSidecars have or would
// revert to. It also deletes the parts that the remaining revisions do not use.
func (r *revisions) deleteUnneeded(ctx context.Context, installation *corev1.ConfigMap, current *desired.Platform) error {
	stored, err := source.Revisions(ctx, r.options.Live, r.options.Installation)
	if err != nil {
		return err
	}
	needed := r.neededRevisions(ctx)
	needed[current.Revision], needed[current.Target.Revision] = true, true
	neededParts := map[string]bool{}
	defer r.ledger.forget()
	for i := range stored {
		record := &stored[i]
		if i >= storedRevisions && !needed[record.Labels[meta.LabelRevision]] {
			if err := r.options.Writer.DropRevision(ctx, record.ObjectMeta); err != nil {
				return err
			}
			continue
		}
		names, err := fleet.PartNames(r.options.Installation.Name, record)
		if err != nil {
			return err // A revision that another release has stored may have any parts.
		}
		for _, name := range names {
			neededParts[name] = true
		}
	}
	storedParts, err := source.RevisionParts(ctx, r.options.Live, installation.Namespace, installation.UID)
	if err != nil {
		return err
	}
	for i := range storedParts {
		if !neededParts[storedParts[i].Name] {
			if err := r.options.Writer.DropRevision(ctx, storedParts[i].ObjectMeta); err != nil {
				return err
			}
		}
	}
	return nil
}
