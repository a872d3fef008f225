// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

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

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

const (
	// storedRevisions is how many of the newest revisions stay stored even if they are unused. A used revision is one
	// that a VectorSidecar has or would revert to.
	storedRevisions = 10
	// loadedRevisions is how many earlier revisions are cached in memory. Usually, all waiting VectorSidecars have
	// the same revision.
	loadedRevisions = 4
)

// history stores the target revisions that start in waves. A VectorSidecar that has an earlier revision is rendered
// from that stored revision.
type history struct {
	cached   client.Reader
	live     *livelist.Client
	writer   *apply.Writer
	sidecars *sidecarcache.Lister
	options  *Options
	ledger   *revisionLedger

	mu sync.Mutex
	// newest is the stored revision with the highest number, as last written by this process. owner is the UID of the
	// ConfigMap that owns it.
	newest string
	owner  types.UID
	// isUntidy is true if stored revisions may no longer be needed. isRenewed is true after this process has updated
	// the target revision that an earlier process stored.
	isUntidy, isRenewed bool
	loaded              *lru.Cache // loadedRevision by revision
	storing             revisionRequest
}

// loadedRevision is the platform of a stored revision, or the error why this process cannot use the revision.
type loadedRevision struct {
	platform *desired.Platform
	err      error
}

// newHistory adds the requests of a history and their backoff to its other fields.
func newHistory(h *history, backoff *state.Backoff) *history {
	h.loaded = lru.New(loadedRevisions)
	h.storing = revisionRequest{name: "storing the present revision", backoff: backoff, options: h.options}
	h.ledger = &revisionLedger{
		live: h.live, writer: h.writer, options: h.options,
		reading: revisionRequest{name: "reading stored revisions", backoff: backoff, options: h.options},
		marking: revisionRequest{name: "marking stored revisions", backoff: backoff, options: h.options},
	}
	return h
}

// at returns the platform with an earlier revision instead of the present one. The error is a *fleet.RecordError if
// the earlier revision cannot be read back.
func (h *history) at(ctx context.Context, revision string, current *desired.Platform) (*desired.Platform, error) {
	if revision == current.Revision {
		return current, nil
	}
	cached, isLoaded := h.loaded.Get(revision)
	if !isLoaded {
		content, err := source.ReadRevision(ctx, h.live.Reader(), h.options.Installation, revision)
		if err != nil {
			return nil, err // The error is not cached, because a deleted revision may be restored.
		}
		platform, err := h.options.Catalog.PlatformAt(ctx, content)
		if err != nil && !isGone(err) {
			return nil, err
		}
		cached = loadedRevision{platform, err}
		h.loaded.Add(revision, cached)
	}
	loaded, _ := cached.(loadedRevision)
	if loaded.err != nil {
		return nil, loaded.err
	}
	return loaded.platform.WithCurrent(current), nil
}

// lastKnownGood returns the content of the revision that was published last. It also returns the rollout rules that
// were in use then, "" if they are not recorded. The content is nil if the revision is not stored or cannot be used.
// It is also nil if the rules in the installation's ConfigMap lack waves, because revisions are stored only for
// waves.
func (h *history) lastKnownGood(ctx context.Context, installation *corev1.ConfigMap) (content *fleet.Content, rollout string, err error) {
	published, err := source.ReadPublication(ctx, h.cached, h.options.Installation)
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
	content, err = h.lastPublished(ctx, published)
	return content, rollout, err
}

// lastPublished reads the content of the revision that was published last, according to its record. If the record
// does not name a stored revision, it reads the revision that a VectorSidecar started last. It returns nil if the
// revision is not stored or cannot be used.
func (h *history) lastPublished(ctx context.Context, published *fleet.Publication) (*fleet.Content, error) {
	stored, err := source.Revisions(ctx, h.live, h.options.Installation)
	if err != nil || len(stored) == 0 {
		return nil, err
	}
	revision := stored[0].Labels[meta.LabelRevision]
	if published != nil && slices.ContainsFunc(stored, func(record appsv1.ControllerRevision) bool {
		return record.Labels[meta.LabelRevision] == published.Revision
	}) {
		revision = published.Revision
	}
	content, err := source.ReadRevision(ctx, h.live.Reader(), h.options.Installation, revision)
	if isGone(err) {
		log.FromContext(ctx).Error(err, "reading the last published revision")
		return nil, nil //nolint:nilnil // The revision counts as not stored.
	}
	return content, err
}

// let ensures, before a revision starts, that the revision can be read as long as a VectorSidecar has it. The error
// is a *fleet.RecordError if the revision cannot be read back, and an *unstoredError if it is not stored yet.
func (h *history) let(ctx context.Context, revision string, current *desired.Platform) error {
	if revision != current.Revision {
		if _, err := h.at(ctx, revision, current); err != nil {
			return err
		}
	}
	if revision != current.Target.Revision {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	installation := &corev1.ConfigMap{}
	if err := h.cached.Get(ctx, h.options.Installation, installation); err != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", h.options.Installation, err)
	}
	if h.newest == revision && h.owner == installation.UID {
		return nil
	}
	return h.tryToKeep(ctx, installation, revision, current, true)
}

// tidy deletes unneeded stored revisions, and stores the target revision as this release renders it. It runs after
// the workloads of a revision have been written, so that these writes do not wait for it. It returns how long until
// the next attempt to store the revision, 0 for never.
func (h *history) tidy(ctx context.Context, current *desired.Platform) (requeueAfter time.Duration) {
	// While another reconcile stores a revision, parts exist before the revision itself. That reconcile calls tidy
	// afterwards.
	if !h.mu.TryLock() {
		return 0
	}
	defer h.mu.Unlock()
	if !h.isUntidy && h.isRenewed {
		return 0
	}
	installation := &corev1.ConfigMap{}
	err := h.cached.Get(ctx, h.options.Installation, installation)
	if err == nil && !h.isRenewed {
		err = h.renew(ctx, installation, current)
	}
	if err == nil && h.isUntidy {
		err = h.prune(ctx, installation, current)
		h.isUntidy = ctx.Err() != nil
	}
	switch unstored := (*unstoredError)(nil); {
	case err == nil || ctx.Err() != nil:
	case !errors.As(err, &unstored):
		log.FromContext(ctx).Error(err, "deleting stored revisions that are no longer needed") // They are deleted when a revision is stored again.
	default: // The first reconcile after that time tries again.
		requeueAfter = max(unstored.until.Sub(h.options.Clock()), atOnce)
	}
	return requeueAfter
}

// renew stores the target revision as this release renders it, if another process stored it. From then on, workloads
// that change get this rendering.
func (h *history) renew(ctx context.Context, installation *corev1.ConfigMap, current *desired.Platform) error {
	if revision := current.Revision; revision == current.Target.Revision && h.newest != revision {
		if err := h.tryToKeep(ctx, installation, revision, current, false); err != nil {
			return err
		}
	}
	h.isRenewed = true
	return nil
}

// tryToKeep stores a revision. After a failure, it retries with a backoff instead of in each reconcile.
func (h *history) tryToKeep(ctx context.Context, installation *corev1.ConfigMap, revision string, current *desired.Platform, isLet bool) error {
	return h.storing.try(ctx, revision, func() error { return h.keep(ctx, installation, revision, current, isLet) })
}

// keep stores the target revision with the highest number, unless it is already stored as this release would store
// it. A revision that is not stored yet is stored only if it is about to start.
func (h *history) keep(ctx context.Context, installation *corev1.ConfigMap, revision string, current *desired.Platform, isLet bool) error {
	stored, err := source.Revisions(ctx, h.live, h.options.Installation)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(stored, func(record appsv1.ControllerRevision) bool { return record.Labels[meta.LabelRevision] == revision })
	number := int64(1)
	switch {
	case i < 0 && !isLet:
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
			isWhole, err = h.hasParts(ctx, installation, &stored[i])
		}
		if err == nil && !isWhole {
			err = h.writer.StoreRevision(ctx, content, number, installation)
		}
		if err != nil {
			return err
		}
	}
	if isWhole && i > 0 {
		if err := h.writer.NumberRevision(ctx, &stored[i], number); err != nil {
			return err
		}
	}
	h.newest, h.owner, h.isUntidy = revision, installation.UID, true
	h.ledger.forget()
	return nil
}

// hasParts reports whether all parts of a stored revision exist, because a user may have deleted a part.
func (h *history) hasParts(ctx context.Context, installation *corev1.ConfigMap, record *appsv1.ControllerRevision) (bool, error) {
	names, err := fleet.PartsOf(installation.Name, record)
	if err != nil {
		return false, err
	}
	parts, err := source.RevisionParts(ctx, h.live, installation.Namespace, installation.UID)
	if err != nil {
		return false, err
	}
	isMissing := func(name string) bool {
		return !slices.ContainsFunc(parts, func(part metav1.PartialObjectMetadata) bool { return part.Name == name })
	}
	return !slices.ContainsFunc(names, isMissing), nil
}

// isOwnedBy reports whether an object is deleted with the ConfigMap. It returns false for an object of an earlier
// ConfigMap of the same name, which is about to be deleted.
func isOwnedBy(object client.Object, configMap *corev1.ConfigMap) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == configMap.UID })
}

// neededBy returns the revisions that VectorSidecars have or would revert to.
func (h *history) neededBy(ctx context.Context) map[string]bool {
	needed := map[string]bool{}
	for _, sidecar := range h.sidecars.ListIn(ctx, "") {
		if rolloutStatus := sidecar.Status.Rollout; rolloutStatus != nil {
			needed[rolloutStatus.Revision], needed[rolloutStatus.Previous] = true, true
		}
	}
	for _, cluster := range h.sidecars.Clusters(ctx) {
		for i := range cluster.Status.Waves {
			wave := &cluster.Status.Waves[i]
			needed[wave.Revision], needed[wave.Previous] = true, true
		}
	}
	return needed
}

// prune deletes all revisions except the newest storedRevisions and the revisions that VectorSidecars have or would
// revert to. It also deletes the parts that the remaining revisions do not use.
func (h *history) prune(ctx context.Context, installation *corev1.ConfigMap, current *desired.Platform) error {
	stored, err := source.Revisions(ctx, h.live, h.options.Installation)
	if err != nil {
		return err
	}
	needed := h.neededBy(ctx)
	needed[current.Revision], needed[current.Target.Revision] = true, true
	neededParts := map[string]bool{}
	defer h.ledger.forget()
	for i := range stored {
		record := &stored[i]
		if i >= storedRevisions && !needed[record.Labels[meta.LabelRevision]] {
			if err := h.writer.DropRevision(ctx, record.ObjectMeta); err != nil {
				return err
			}
			continue
		}
		names, err := fleet.PartsOf(h.options.Installation.Name, record)
		if err != nil {
			return err // A revision that another release has stored may have any parts.
		}
		for _, name := range names {
			neededParts[name] = true
		}
	}
	storedParts, err := source.RevisionParts(ctx, h.live, installation.Namespace, installation.UID)
	if err != nil {
		return err
	}
	for i := range storedParts {
		if !neededParts[storedParts[i].Name] {
			if err := h.writer.DropRevision(ctx, storedParts[i].ObjectMeta); err != nil {
				return err
			}
		}
	}
	return nil
}
