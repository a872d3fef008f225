// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package source reads the input of a decision from the operator's cache, from a cluster, or from files. The input is
// a VectorSidecar; the output is a snapshot. The operator and its previews use the same code. The package makes no
// decisions.
package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Source reads the objects of a snapshot. If an object may not be read, or the API server does not respond, it returns
// an error and not an empty result.
type Source interface {
	desired.ConfigMapReader
	desired.ServiceAccountReader

	// Namespace returns the used fields of a namespace, the zero value if it does not exist.
	Namespace(ctx context.Context, namespace string) (Namespace, error)
	// Workloads returns the workloads that a VectorSidecar's selector matches, and the workloads with fields that it
	// wrote. An invalid selector matches nothing, and the decision reports it.
	Workloads(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]*workloadcache.Record, error)
	// Sidecars returns at least the VectorSidecars of a namespace that select one of the workloads.
	Sidecars(ctx context.Context, namespace string, workloads []*workloadcache.Record) ([]v1alpha1.VectorSidecar, error)
	// Scopes returns the scopes of all ClusterVectorSidecars.
	Scopes(ctx context.Context) (desired.ParentScopes, error)
	// Companions returns the ConfigMaps made for a VectorSidecar, with their content or with a
	// digest instead. They must not be changed.
	Companions(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]corev1.ConfigMap, error)
}

// Namespace is the metadata of a namespace that a decision needs.
type Namespace struct {
	Labels map[string]string
	// Users is the value of the annotation with which OpenShift assigns user IDs, or "" for none.
	Users string
}

// NewNamespace reduces the metadata of a namespace to the fields that a decision needs.
func NewNamespace(object *metav1.PartialObjectMetadata) Namespace {
	return Namespace{Labels: object.Labels, Users: object.Annotations[policy.UserRangeAnnotation]}
}

// Snapshotter reads the input of decisions. Source, Platform, DefaultEnvironment and KubeVersion are required.
type Snapshotter struct {
	Source
	// Settings are the settings of the Input.
	desired.Settings
	// Platform is the platform team's configuration.
	Platform *desired.Platform
	// PlatformAt returns the platform of an earlier revision. If it is nil, VectorSidecars with an earlier revision are
	// rendered from the current platform. Its error is a *fleet.RecordError if the revision is not stored.
	PlatformAt func(ctx context.Context, revision string) (*desired.Platform, error)
	// DefaultAssumed explains why DefaultEnvironment is only an assumption, or is "" if it is known. If it is set, the
	// environment in the status of the namespace's VectorSidecars takes precedence.
	DefaultAssumed string
	// Offer has the same meaning as in decision.Input.
	decision.WorkloadKinds
	// Now is the time of the snapshot. It may be zero if the progress of rollouts does not matter.
	Now time.Time
}

// Observe reads the input of the decision about one VectorSidecar. The decision reads ConfigMaps and ServiceAccounts
// later through the input, each at most once. If an object cannot be read, Observe returns an error. There is one
// exception: if the user may not read the labels of the namespace, it assumes the environment in the status. If the
// status contains a reverted spec, the input has the last known good spec.
func (t *Snapshotter) Observe(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (*decision.Input, error) {
	namespace, err := t.Namespace(ctx, sidecar.Namespace)
	unread := apierrors.IsForbidden(err)
	if err != nil && !unread {
		return nil, err
	}
	workloads, err := t.Workloads(ctx, sidecar)
	if err != nil {
		return nil, err
	}
	sidecars, err := t.Sidecars(ctx, sidecar.Namespace, workloads)
	if err != nil {
		return nil, err
	}
	companions, err := t.Companions(ctx, sidecar)
	if err != nil {
		return nil, err
	}
	scopes, err := t.Scopes(ctx)
	if err != nil {
		return nil, err
	}
	sidecar = lastgood.EffectiveSidecar(t.withWaveStatus(sidecar, scopes, namespace.Labels))
	for i := range sidecars {
		sidecars[i] = *lastgood.EffectiveSidecar(t.withWaveStatus(&sidecars[i], scopes, namespace.Labels))
	}
	platform, err := t.platformFor(ctx, sidecar)
	if err != nil {
		return nil, err
	}
	objects := newOnceReader(t.Source)
	input := &decision.Input{
		Inputs: desired.Inputs{
			Settings: t.Settings, ConfigMaps: objects, Accounts: objects,
			Sidecar: sidecar, Scopes: scopes, NamespaceLabels: namespace.Labels, Platform: platform,
		},
		Workloads: workloads, Companions: companions, WorkloadKinds: t.WorkloadKinds, Now: t.Now, WriteHold: decision.ReportedWriteHold(platform, sidecar),
	}
	if t.Cluster.Platform == render.OpenShift {
		input.NamespaceUsers = policy.ParseUserRange(namespace.Users)
	}
	switch reason := t.DefaultAssumed; {
	case unread && t.DefaultFrom == "":
		assumeEnvironment(input, sidecars, fmt.Sprintf("no permission to read the labels of namespace %s", sidecar.Namespace))
	case reason != "" && namespace.Labels[meta.LabelEnvironment] == "":
		assumeEnvironment(input, sidecars, reason)
	}
	input.Others = competitors(sidecar, sidecars, workloads)
	return input, nil
}

// withWaveStatus returns the VectorSidecar of a ClusterVectorSidecar with the rollout status of the namespace's wave,
// which is in the status of the ClusterVectorSidecar. All other VectorSidecars are returned unchanged.
func (t *Snapshotter) withWaveStatus(sidecar *v1alpha1.VectorSidecar, scopes desired.ParentScopes, namespaceLabels map[string]string) *v1alpha1.VectorSidecar {
	waves := scopes[sidecar.Name].Waves
	if sidecar.Status.Rollout != nil || len(waves) == 0 || !t.Platform.Rollout.IsStaged() {
		return sidecar
	}
	environment, _ := t.ResolveEnvironment(sidecar, namespaceLabels)
	updated := *sidecar
	updated.Status.Rollout = t.Platform.Rollout.LastStatus(waves, t.Platform.Rollout.WaveFor(namespaceLabels, environment))
	return &updated
}

// platformFor returns the platform of the revision of a VectorSidecar.
func (t *Snapshotter) platformFor(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (*desired.Platform, error) {
	rollout := sidecar.Status.Rollout
	if t.PlatformAt == nil || rollout == nil || rollout.Revision == "" || rollout.Revision == t.Platform.Revision || !t.Platform.Rollout.IsStaged() {
		return t.Platform, nil
	}
	earlier, err := t.PlatformAt(ctx, rollout.Revision)
	missing := &fleet.RecordError{}
	if errors.As(err, &missing) || apierrors.IsForbidden(err) {
		return t.Platform.WithMissing(err), nil
	}
	return earlier, err
}

// competitors returns the other VectorSidecars that select one of the workloads, the oldest first.
// It modifies the given list.
func competitors(sidecar *v1alpha1.VectorSidecar, sidecars []v1alpha1.VectorSidecar, workloads []*workloadcache.Record) []v1alpha1.VectorSidecar {
	competing := slices.DeleteFunc(sidecars, func(candidate v1alpha1.VectorSidecar) bool {
		return candidate.Name == sidecar.Name || !workloadcache.IsAnySelectedBy(workloads, &candidate)
	})
	slices.SortFunc(competing, func(a, b v1alpha1.VectorSidecar) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return competing
}

// assumeEnvironment sets the default environment to the environment in the status of a VectorSidecar that does not name
// one itself. It records the reason for messages.
func assumeEnvironment(input *decision.Input, sidecars []v1alpha1.VectorSidecar, reason string) {
	input.DefaultFrom = "an assumption: " + reason
	for _, sidecar := range append([]v1alpha1.VectorSidecar{*input.Sidecar}, sidecars...) {
		if sidecar.Spec.Environment == "" && sidecar.Status.Environment != "" {
			input.DefaultEnvironment = sidecar.Status.Environment
			input.DefaultFrom = fmt.Sprintf("the status of %s: %s", meta.Title(sidecar.Name), reason)
			return
		}
	}
}
