// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"io/fs"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// revisionLookup returns the platform of an earlier revision.
type revisionLookup = func(ctx context.Context, revision string) (*desired.Platform, error)

// loadPlatform returns the values, policy and template sets for the evaluation: those of the installation, or those
// that the command line sets. values are the values of the command line, or nil for none. If the command line sets
// nothing, it also returns a function for the platforms of earlier revisions.
func (s *inputs) loadPlatform(ctx context.Context, chart fs.FS, cluster client.Reader, installed *source.Installation, values *desired.InstallationValues) (*desired.Platform, revisionLookup, error) {
	var proposed *source.Installation
	if values != nil || s.templates != "" {
		proposed = withSets(installed, values)
	}
	platform, earlierPlatform, err := s.app.loadPlatform(ctx, chart, cluster, installed, proposed)
	if err != nil {
		return nil, nil, err
	}
	if values != nil {
		platform, earlierPlatform = values.MergeInto(platform), nil
	}
	if s.templates != "" {
		platform, earlierPlatform = platform.AsProvided(), nil
	}
	return platform, earlierPlatform, nil
}

// withSets returns the installation with the template sets that other values would define. It returns the installation
// unchanged if values is nil.
func withSets(installed *source.Installation, values *desired.InstallationValues) *source.Installation {
	if values == nil {
		return installed
	}
	installation := *installed
	installation.TemplateSets = values.TemplateSets(installed.ValuesName(), installed.ConfigMaps().FilterListed().Sets)
	installation.Annotations = desired.WithoutList(installed.Annotations) // The annotation belongs to the replaced values.
	return &installation
}

// loadedOnce is the directory of a chart that is loaded only once for several renderings.
type loadedOnce struct {
	fs.FS

	load func() (*render.Chart, error)
}

// newLoadedOnce returns a chart that is loaded at the first use.
func newLoadedOnce(chart fs.FS) *loadedOnce {
	if shared, ok := chart.(*loadedOnce); ok {
		return shared
	}
	return &loadedOnce{FS: chart, load: sync.OnceValues(func() (*render.Chart, error) { return render.LoadChart(chart) })}
}

// loadChart loads a chart. It loads a loadedOnce only in the first call.
func loadChart(chart fs.FS) (*render.Chart, error) {
	if shared, ok := chart.(*loadedOnce); ok {
		return shared.load()
	}
	return render.LoadChart(chart)
}

// loadPlatform returns the platform that the operator has published, and a function for the platforms of earlier
// revisions. It prints a note for each part that differs from the current ConfigMaps. If proposed is not nil, it
// returns the platform of the proposed ConfigMaps.
func (a *app) loadPlatform(ctx context.Context, chart fs.FS, cluster client.Reader, installed, proposed *source.Installation) (*desired.Platform, revisionLookup, error) {
	if effective := cmp.Or(proposed, installed); effective.Values == nil && len(effective.TemplateSets) == 0 {
		loaded, err := loadChart(chart)
		if err != nil {
			return nil, nil, err
		}
		return desired.NewPlatform(loaded, "", nil), nil, nil
	}
	catalog, err := newCatalog(chart)
	if err != nil {
		return nil, nil, err
	}
	var platform *desired.Platform
	if proposed == nil {
		platform, err = installed.PublishedPlatform(ctx, cluster, catalog)
	} else {
		platform, err = installed.ProposedPlatform(ctx, cluster, catalog, proposed)
	}
	if published := installed.Published; published != nil {
		for _, fault := range published.Faults() {
			a.printNote("%s", fault)
		}
	}
	switch {
	case installed.PublishedErr != nil:
		a.printNote("published revision not read: %v; previews use the installation's current values and template sets", err)
	case err != nil:
		a.printNote("could not read revision %s, which the operator has published: %v; previews use the installation's current values and template sets", installed.Published.Revision, err)
	}
	return platform, func(ctx context.Context, revision string) (*desired.Platform, error) {
		return installed.EarlierPlatform(ctx, cluster, catalog, platform, revision)
	}, nil
}

// newCatalog returns a new catalog with a chart as the built-in chart.
func newCatalog(chart fs.FS) (*desired.Catalog, error) {
	files, err := render.ReadFiles(chart)
	if err != nil {
		return nil, err
	}
	return desired.NewCatalog(files)
}
