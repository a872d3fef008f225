// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"path"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// rootValues returns the values at the root of a template, which are its dot. They are the same as in Helm's own engine for
// `helm template`, so that both render the same text.
func (c *Chart) rootValues(name string, release Release, values map[string]any, version *chartutil.KubeVersion) map[string]any {
	return map[string]any{
		"Chart": struct {
			chart.Metadata
			IsRoot bool
		}{*c.metadata, true},
		"Files":        c.files,
		"Capabilities": &chartutil.Capabilities{KubeVersion: *version, APIVersions: chartutil.DefaultVersionSet, HelmVersion: chartutil.DefaultCapabilities.HelmVersion},
		"Release": map[string]any{
			"Name": release.Name, "Namespace": release.Namespace, "Revision": 1,
			"IsInstall": true, "IsUpgrade": false, "Service": "Helm",
		},
		"Subcharts": map[string]any{},
		"Template":  map[string]any{"Name": name, "BasePath": path.Join(c.metadata.Name, "templates")},
		"Values":    values,
	}
}

// templateMethods returns the methods of root values that templates may call, in addition to the methods of Files. The
// method Validate of maintainers and dependencies is excluded, because it modifies data that all renderings share.
func templateMethods() []gotemplate.Method {
	return []gotemplate.Method{
		{Name: "Copy", Func: (*chartutil.Capabilities).Copy},
		{Name: "String", Func: (*chartutil.KubeVersion).String},
		{Name: "GitVersion", Func: (*chartutil.KubeVersion).GitVersion}, //nolint:staticcheck // Old charts call it.
		{Name: "Has", Func: chartutil.VersionSet.Has},
	}
}
