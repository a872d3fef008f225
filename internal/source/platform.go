// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
)

// errNotStored explains that the content of a revision is stored only if revisions start in waves, or can be halted.
var errNotStored = errors.New("the content of revisions is stored only with rollout.waves or rollout.halt")

// ValuesName is the name of the ConfigMap of the installation's values.
func (i *Installation) ValuesName() types.NamespacedName {
	return types.NamespacedName{Namespace: i.Namespace, Name: i.ValuesFrom}
}

// ConfigMaps returns the ConfigMaps that the values and template sets are read from.
func (i *Installation) ConfigMaps() desired.PlatformConfigMaps {
	object := &corev1.ConfigMap{Data: i.Values}
	object.Namespace, object.Name, object.Annotations, object.ManagedFields = i.Namespace, i.ValuesFrom, i.Annotations, i.ManagedFields
	return desired.PlatformConfigMaps{Installation: object, LacksInstallation: i.LacksValues, Sets: i.TemplateSets}
}

// Platform returns the platform of the installation's current ConfigMaps: template sets, values, policy, rollout
// rules and the built-in templates. It changes the catalog, so the catalog must not be shared.
func (i *Installation) Platform(catalog *desired.Catalog) *desired.Platform {
	configMaps := i.ConfigMaps()
	platform, _ := catalog.Update(configMaps.Installation, configMaps.Sets)
	return platform
}

// PublishedPlatform returns the platform that the operator has published, according to its record. It differs from
// Platform if a part has no valid current version, or if the operator has not published the current ConfigMaps yet.
// Without a record, it returns Platform. If the published content cannot be read, it returns Platform and the error. It
// changes the catalog, which must not be shared.
func (i *Installation) PublishedPlatform(ctx context.Context, cluster client.Reader, catalog *desired.Catalog) (*desired.Platform, error) {
	platform, err := i.restorePublished(ctx, cluster, catalog)
	if i.Published == nil || platform.Revision == i.Published.Revision || !platform.Rollout.IsStaged() { // Only revisions that start in waves are stored.
		return platform, err
	}
	platform = platform.Publishing(i.Published.Revision, i.Annotations)
	if err != nil {
		return platform, err
	}
	content, err := ReadRevision(ctx, cluster, i.ValuesName(), i.Published.Revision)
	if err != nil {
		return platform, err
	}
	published, err := catalog.PlatformAt(ctx, content)
	if err != nil {
		return platform, err
	}
	return published.WithCurrent(platform), nil
}

// ProposedPlatform returns the platform that the ConfigMaps of a proposed installation define. i is the installation in
// the cluster. A part that cannot be loaded is replaced by its published version, which ProposedPlatform adds to the
// catalog. The catalog must not be shared. ProposedPlatform returns an error if the published version cannot be read.
func (i *Installation) ProposedPlatform(ctx context.Context, cluster client.Reader, catalog *desired.Catalog, proposed *Installation) (*desired.Platform, error) {
	if i.Published == nil {
		return proposed.Platform(catalog), i.PublishedErr
	}
	_, err := i.restorePublished(ctx, cluster, catalog)
	return proposed.Platform(catalog), err
}

// restorePublished returns the result of Platform, in which parts that cannot be loaded have their last known good
// version. It adds these versions to the catalog.
func (i *Installation) restorePublished(ctx context.Context, cluster client.Reader, catalog *desired.Catalog) (*desired.Platform, error) {
	platform := i.Platform(catalog)
	if i.Published == nil || i.PublishedErr != nil {
		return platform, i.PublishedErr
	}
	if platform.LacksValidVersion() && catalog.Restore(nil, i.Published.RolloutText) {
		platform = i.Platform(catalog)
	}
	switch {
	case !platform.LacksValidVersion():
		return platform, nil
	case !platform.Rollout.IsStaged():
		return platform, errNotStored
	}
	content, err := ReadRevision(ctx, cluster, i.ValuesName(), i.Published.Revision)
	if err == nil && catalog.Restore(content, "") {
		platform = i.Platform(catalog)
	}
	return platform, err
}

// EarlierPlatform returns the platform of another revision. platform and catalog are the result and the argument of
// Platform.
func (i *Installation) EarlierPlatform(ctx context.Context, cluster client.Reader, catalog *desired.Catalog, platform *desired.Platform, revision string) (*desired.Platform, error) {
	if revision == platform.Revision {
		return platform, nil
	}
	content, err := ReadRevision(ctx, cluster, i.ValuesName(), revision)
	if err != nil {
		return nil, err
	}
	earlier, err := catalog.PlatformAt(ctx, content)
	if err != nil {
		return nil, err
	}
	return earlier.WithCurrent(platform), nil
}
