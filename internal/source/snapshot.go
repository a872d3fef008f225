// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package source reads what a decision is based on: from the operator's cache, from a
// cluster, or from files. The operator and the previews of it use the same code. It reads and does
// not judge.
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
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Source is what a snapshot is read from. If something is forbidden or out of reach, that is an
// error, and not an empty result.
type Source interface {
	desired.Objects

	// Namespace returns what counts of a namespace, nothing if it does not exist.
	Namespace(ctx context.Context, namespace string) (Namespace, error)
	// Workloads returns the workloads that a VectorSidecar's selector matches, and those that carry
	// something of it. An invalid selector matches nothing here; the decision reports it.
	Workloads(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]*workloadcache.Record, error)
	// Sidecars returns at least the VectorSidecars of a namespace that select one of the workloads.
	Sidecars(ctx context.Context, namespace string, workloads []*workloadcache.Record) ([]v1alpha1.VectorSidecar, error)
	// Companions returns the ConfigMaps made for a VectorSidecar, with their content or with a
	// digest instead. They must not be changed.
	Companions(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]corev1.ConfigMap, error)
}

// Namespace is what a decision needs of one.
type Namespace struct {
	Labels map[string]string
	// Users is the annotation by which OpenShift assigns users, "" if it has none.
	Users string
}

// NamespaceOf reduces a Namespace to what a decision needs.
func NamespaceOf(object *metav1.PartialObjectMetadata) Namespace {
	return Namespace{Labels: object.Labels, Users: object.Annotations[policy.UserRangeAnnotation]}
}

// Taker reads what snapshots are made of. Source, Platform, DefaultEnvironment and KubeVersion
// are required.
type Taker struct {
	Source
	// Platform is the platform team's configuration.
	Platform *desired.Platform
	// At returns it as it was with an earlier revision. If it is nil, VectorSidecars that have an
	// earlier one are rendered from the present one. Its error is a *fleet.RecordError if there is none.
	At func(ctx context.Context, revision string) (*desired.Platform, error)
	// DefaultEnvironment, DefaultFrom, Home, KubeVersion, OldestKubelet, WrittenBy, Version and Budget
	// are as in desired.Inputs.
	DefaultEnvironment, DefaultFrom, Home, KubeVersion, WrittenBy, Version string
	OldestKubelet                                                          desired.Kubelet
	Budget                                                                 *bounded.Budget
	// Cluster is as in desired.Inputs.
	Cluster render.Cluster
	// DefaultAssumed says why DefaultEnvironment is only an assumption, "" if it is known. The
	// environment that the operator reports for the namespace then takes precedence.
	DefaultAssumed string
	// Offer is as in decision.Observed.
	decision.Offer
	// Now is the time. It may be zero if the progress of rollouts does not matter.
	Now time.Time
}

// Take reads what a snapshot for one VectorSidecar needs, with the namespace's defaults and without
// the ConfigMaps that values refer to, which evaluate.DecideFrom adds. What cannot be read is an
// error, with one exception: if the labels of its namespace may not be read, the environment is the
// one that the operator reports. A VectorSidecar whose own spec is reverted has the last good one in it.
func (t *Taker) Take(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (observed decision.Observed, err error) {
	namespace, err := t.Namespace(ctx, sidecar.Namespace)
	unread := apierrors.IsForbidden(err)
	if err != nil && !unread {
		return observed, err
	}
	workloads, err := t.Workloads(ctx, sidecar)
	if err != nil {
		return observed, err
	}
	sidecars, err := t.Sidecars(ctx, sidecar.Namespace, workloads)
	if err != nil {
		return observed, err
	}
	companions, err := t.Companions(ctx, sidecar)
	if err != nil {
		return observed, err
	}
	sidecar = lastgood.Rendered(t.inWave(sidecar, namespace.Labels))
	for i := range sidecars {
		sidecars[i] = *lastgood.Rendered(t.inWave(&sidecars[i], namespace.Labels))
	}
	platform, err := t.platformOf(ctx, sidecar)
	if err != nil {
		return observed, err
	}
	observed = decision.Observed{
		Inputs: desired.Inputs{
			Sidecar: sidecar, NamespaceLabels: namespace.Labels, Platform: platform,
			DefaultEnvironment: t.DefaultEnvironment, DefaultFrom: t.DefaultFrom, Home: t.Home,
			KubeVersion: t.KubeVersion, OldestKubelet: t.OldestKubelet, Cluster: t.Cluster, WrittenBy: t.WrittenBy, Version: t.Version, Budget: t.Budget,
		},
		Workloads: workloads, Companions: companions, Offer: t.Offer, Now: t.Now,
	}
	if t.Cluster.Platform == render.OpenShift {
		observed.NamespaceUsers = policy.ParseUserRange(namespace.Users)
	}
	switch why := t.DefaultAssumed; {
	case unread && t.DefaultFrom == "":
		assumeEnvironment(&observed, sidecars, fmt.Sprintf("the labels of namespace %s may not be read", sidecar.Namespace))
	case why != "" && namespace.Labels[meta.LabelEnvironment] == "":
		assumeEnvironment(&observed, sidecars, why)
	}
	observed.Others = competitors(sidecar, sidecars, workloads)
	err = observed.ReadConfigMaps(ctx, t, []string{meta.NamespaceDefaults})
	return observed, err
}

// inWave adds to what stands for a ClusterVectorSidecar what the status of that says of the namespace's
// wave. Any other VectorSidecar is returned as it is.
func (t *Taker) inWave(sidecar *v1alpha1.VectorSidecar, namespaceLabels map[string]string) *v1alpha1.VectorSidecar {
	if sidecar.Cluster == nil || sidecar.Status.Rollout != nil || len(sidecar.Cluster.Waves) == 0 || !t.Platform.Rollout.IsStaged() {
		return sidecar
	}
	inputs := desired.Inputs{Sidecar: sidecar, NamespaceLabels: namespaceLabels, DefaultEnvironment: t.DefaultEnvironment}
	environment, _ := inputs.EnvironmentOf()
	made := *sidecar
	made.Status.Rollout = t.Platform.Rollout.Last(sidecar.Cluster.Waves, t.Platform.Rollout.WaveOf(namespaceLabels, environment))
	return &made
}

// platformOf returns the platform with the revision that a VectorSidecar has.
func (t *Taker) platformOf(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (*desired.Platform, error) {
	is := sidecar.Status.Rollout
	if t.At == nil || is == nil || is.Revision == "" || is.Revision == t.Platform.Revision || !t.Platform.Rollout.IsStaged() {
		return t.Platform, nil
	}
	then, err := t.At(ctx, is.Revision)
	gone := &fleet.RecordError{}
	if errors.As(err, &gone) || apierrors.IsForbidden(err) {
		return t.Platform.Lacking(err), nil
	}
	return then, err
}

// competitors returns the other VectorSidecars that select one of the workloads, the oldest first.
// It modifies the given list.
func competitors(sidecar *v1alpha1.VectorSidecar, sidecars []v1alpha1.VectorSidecar, workloads []*workloadcache.Record) []v1alpha1.VectorSidecar {
	others := slices.DeleteFunc(sidecars, func(other v1alpha1.VectorSidecar) bool {
		if other.Name == sidecar.Name {
			return true
		}
		selector, err := workload.SelectorOf(&other)
		matches := func(record *workloadcache.Record) bool { return record.IsSelectedBy(selector) }
		return err != nil || !slices.ContainsFunc(workloads, matches)
	})
	slices.SortFunc(others, func(a, b v1alpha1.VectorSidecar) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return others
}

// assumeEnvironment sets the default environment to the one that the operator reports for a
// VectorSidecar of the namespace that names none itself, and records why.
func assumeEnvironment(taken *decision.Observed, sidecars []v1alpha1.VectorSidecar, why string) {
	taken.DefaultFrom = "an assumption: " + why
	for _, one := range append([]v1alpha1.VectorSidecar{*taken.Sidecar}, sidecars...) {
		if one.Spec.Environment == "" && one.Status.Environment != "" {
			taken.DefaultEnvironment = one.Status.Environment
			taken.DefaultFrom = fmt.Sprintf("the status of %s: %s", meta.Title(one.Name), why)
			return
		}
	}
}
