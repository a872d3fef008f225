// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/overlayset"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/podfaults"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// snapshots reads the Input of a decision from the caches.
type snapshots struct {
	instruments *instrument.Observer

	client     client.Reader
	sidecars   *sidecarcache.Lister
	workloads  *workloadcache.Cache
	namespaces *namespaces
	configMaps *configMapCache
	catalog    *catalog.Reconciler
	pods       *podfaults.Reader
	access     *podfaults.Access
	kubelets   *kubelets
	accounts   *accounts
	policies   *overlayset.PolicyAPI
	options    *Options
}

// takeSnapshot reads the Input for a reconcile. It reads from memory, except the pods of unready or watched
// workloads. If isFresh is true, the Input does not have the result of the last decision.
func (s *snapshots) takeSnapshot(ctx context.Context, sidecar *v1alpha1.VectorSidecar, sidecarState *state.Sidecar, rollout *state.Rollout, isFresh bool) (input *decision.Input, err error) {
	ctx, taking := s.instruments.StartStep(ctx, "observe")
	defer func() { taking.End(err) }()
	if input, err = s.snapshotFrom(ctx, sidecar, &cacheSource{snapshots: s, known: sidecarState}); err != nil {
		return nil, err
	}
	if meta.IsOfCluster(sidecar.Name) && input.Scope().Generation != sidecar.Generation {
		return nil, fmt.Errorf("the ClusterVectorSidecar has changed: %w", apply.ErrStale)
	}
	input.Adopted, input.WriteHold, input.MaxAgeHold, input.Observer = sidecarState.AdoptedContent(), rollout.WriteHold(), rollout.MaxAgeHold(), s.instruments.ObserveStep
	if !isFresh {
		input.Previous = sidecarState.Previous()
	}
	input.PodsNotRead = s.access.UnreadableReason(ctx, sidecar.Namespace)
	input.BlindHalt = s.access.BlindHalt(ctx, input.Platform.Target.Rules, sidecar.Namespace)
	if input.PodsNotRead == "" {
		input.Faults = s.pods.FindFaults(ctx, sidecarState, meta.Manager(sidecar.Name), rollout.RestartRule(s.instruments.Clock()), input.Workloads)
	}
	return input, nil
}

// snapshotFrom reads an Input from a source, and adds the cached state of the VectorSidecar.
func (s *snapshots) snapshotFrom(ctx context.Context, sidecar *v1alpha1.VectorSidecar, cacheSource *cacheSource) (*decision.Input, error) {
	platform, err := s.catalog.Current()
	if err != nil {
		return nil, err
	}
	taker := source.Snapshotter{
		Settings: s.options.Settings, Source: cacheSource, Platform: platform, PlatformAt: s.catalog.PlatformAt(platform), Now: s.instruments.Clock(),
	}
	taker.OldestKubelet = s.kubelets.oldest()
	for _, kind := range s.workloads.Kinds() {
		taker.Served = append(taker.Served, kind.Kind)
		if !s.workloads.HasKind(kind) {
			taker.MissingKinds = append(taker.MissingKinds, kind.Kind)
		}
	}
	cacheSource.sidecar = sidecar
	input, err := taker.Observe(ctx, sidecar)
	if err != nil {
		return nil, err
	}
	if cacheSource.excess != "" {
		input.Sidecar = desired.WithExcess(input.Sidecar, cacheSource.excess)
	}
	input.NeedsOverlays, input.AdmissionBlocker = s.options.OverlaySets, "the installation's admissionInjection.enabled is false"
	if s.options.OverlaySets {
		input.AdmissionBlocker, input.FindUndefinedField = s.policies.NotServedReason(), s.policies.KindProblems(ctx, sidecar.Spec.Kinds())
	}
	input.CorrectionLoops, _ = cacheSource.known.CorrectionLoops()
	input.DryRuns, input.RejectedWrites = cacheSource.known.DryRuns(), cacheSource.known.RejectedWrites()
	input.WrittenGeneration, input.OwnedSidecarWriter, input.OnNodes = cacheSource.known.Generation, cacheSource.known.OwnedWorkloadWriter, s.workloads.ListOnEveryNode
	if s.options.ValidationJobs {
		input.Verdict = cacheSource.known.Verdict
	}
	return input, nil
}

// cacheSource is a source.Source that reads informer caches and the state of one VectorSidecar.
type cacheSource struct {
	snapshots *snapshots
	known     *state.Sidecar
	// isDryRun is true if the state must not change.
	isDryRun bool
	// sidecar is the VectorSidecar of the snapshot. excess explains why there are too large VectorSidecars that precede
	// it, "" if there are none.
	sidecar *v1alpha1.VectorSidecar
	excess  string
}

// Namespace implements source.Source. It also returns the zero value if the operator has no permission to read the
// namespace. A Role may omit that permission; then the labels of the namespace do not count.
func (i *cacheSource) Namespace(ctx context.Context, namespace string) (source.Namespace, error) {
	if i.isDryRun {
		return i.snapshots.namespaces.getLive(ctx, namespace)
	}
	return i.snapshots.namespaces.get(ctx, namespace)
}

// Workloads returns the workloads with labels that the selector matches and the workloads with the sidecar. It also
// returns workloads that were written and may still be rolling out.
func (i *cacheSource) Workloads(_ context.Context, sidecar *v1alpha1.VectorSidecar) ([]*workloadcache.Record, error) {
	records := labeledWorkloads(i.snapshots.workloads, sidecar)
	selector, _ := workload.NewSelector(sidecar) // An invalid selector selects nothing.
	for _, record := range i.snapshots.workloads.ListByManager(sidecar.Namespace, meta.Manager(sidecar.Name)) {
		if !matchesSelector(selector, record) {
			records = append(records, record)
		}
	}
	for _, target := range i.known.WrittenWorkloads(func(n int) types.UID { return records[n].UID }, len(records)) {
		if record := i.snapshots.workloads.Get(target.Kind, target.Namespace, target.Name); record != nil && record.UID == target.UID {
			records = append(records, record)
		}
	}
	return records, nil
}

// labeledWorkloads returns the workloads with labels that the selector of a VectorSidecar matches.
func labeledWorkloads(workloads *workloadcache.Cache, sidecar *v1alpha1.VectorSidecar) (records []*workloadcache.Record) {
	selector, _ := workload.NewSelector(sidecar) // An invalid selector selects nothing.
	for _, record := range workloads.ListByLabels(sidecar.Namespace, sidecarcache.SelectorKeys(sidecar)) {
		if !selector.MatchesLabels(record.Labels()) {
			continue
		}
		records = append(records, record)
		if referredRecord := workloads.GetReferred(record); referredRecord != nil && !selector.MatchesLabels(referredRecord.Labels()) && matchesSelector(selector, referredRecord) {
			records = append(records, referredRecord)
		}
	}
	return records
}

// matchesSelector reports whether a selector matches the labels of a workload, or of the workload that runs its pods.
func matchesSelector(selector workload.Selector, record *workloadcache.Record) bool {
	runner := record.Runner()
	return selector.MatchesLabels(record.Labels()) || runner != nil && selector.MatchesLabels(runner.Labels())
}

// mostPreceding is the maximum size in bytes of the content that is read for the large VectorSidecars that precede one
// VectorSidecar.
const mostPreceding = 2 << 20

// Sidecars returns the VectorSidecars that select one of the workloads. Those that precede the VectorSidecar of the snapshot
// are complete, unless they are too large together.
func (i *cacheSource) Sidecars(ctx context.Context, namespace string, workloads []*workloadcache.Record) ([]v1alpha1.VectorSidecar, error) {
	sidecars := i.snapshots.sidecars.ListSelecting(ctx, namespace, workloads)
	isReduced := func(sidecar v1alpha1.VectorSidecar) bool { return sidecar.OmittedBytes > 0 }
	if i.sidecar.DeletionTimestamp != nil || !slices.ContainsFunc(sidecars, isReduced) {
		return sidecars, nil
	}
	var preceding []int
	size, scopes := 0, i.snapshots.sidecars.Scopes(ctx)
	for n := range sidecars {
		candidate := &sidecars[n]
		isUsed := candidate.Spec.IsEnabled() && candidate.DeletionTimestamp == nil && candidate.Name != i.sidecar.Name && decision.TakesPrecedence(candidate, i.sidecar, scopes)
		if isUsed && isReduced(*candidate) {
			preceding = append(preceding, n)
			size += candidate.OmittedBytes
		}
	}
	if size > mostPreceding {
		i.excess = fmt.Sprintf("workloads that are also selected by %d large VectorSidecars that take precedence, with %d KiB; at most %d KiB are allowed; put their configurations into ConfigMaps (sidecar.config.configMapRef), or select other workloads",
			len(preceding), size>>10, mostPreceding>>10)
		return sidecars, nil
	}
	var deleted []types.UID
	for _, n := range preceding {
		complete, err := i.snapshots.sidecars.Complete(ctx, &sidecars[n])
		if err != nil {
			return nil, err
		}
		if complete == nil {
			deleted = append(deleted, sidecars[n].UID)
			continue
		}
		sidecars[n] = *complete
	}
	return slices.DeleteFunc(sidecars, func(sidecar v1alpha1.VectorSidecar) bool { return slices.Contains(deleted, sidecar.UID) }), nil
}

// Scopes returns the scopes of the ClusterVectorSidecars in the cache.
func (i *cacheSource) Scopes(ctx context.Context) (desired.ParentScopes, error) {
	return i.snapshots.sidecars.Scopes(ctx), nil
}

// GetServiceAccount implements desired.ServiceAccountReader.
func (i *cacheSource) GetServiceAccount(ctx context.Context, name types.NamespacedName) (*workload.Account, error) {
	return i.snapshots.accounts.GetServiceAccount(ctx, name)
}

// Companions returns the companions in the cache. They have a digest instead of their content.
func (i *cacheSource) Companions(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]corev1.ConfigMap, error) {
	return source.Reader{Reader: i.snapshots.client}.Companions(ctx, sidecar)
}

// GetConfigMap returns a ConfigMap, nil if it does not exist. It first records the reference, so that each change of the
// ConfigMap causes an event for the VectorSidecar.
func (i *cacheSource) GetConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	if !i.isDryRun {
		i.known.AddReference(name)
	}
	cached := &corev1.ConfigMap{}
	if err := i.snapshots.client.Get(ctx, name, cached); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if i.isDryRun {
		return i.snapshots.configMaps.getUncached(ctx, cached)
	}
	return i.snapshots.configMaps.get(ctx, cached)
}
