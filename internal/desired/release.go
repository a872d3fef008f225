// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// PolicyKey and RolloutKey are the keys of the policy and the rollout rules in the installation's ConfigMap.
// The key of the declared VectorSidecars is declared.Key. All other keys have the form ENVIRONMENT.yaml.
const (
	PolicyKey  = "policy"
	RolloutKey = "rollout"
)

// environmentsName is the suffix in the name of the chart's ConfigMap of values. templatesName replaces that
// suffix in the names of the chart's ConfigMaps of template sets, and the name of the set follows.
const (
	// environmentsName is the suffix of the name of the chart's ConfigMap with the values. The names of the ConfigMaps
	// with template sets have templatesName and the name of the set instead.
	environmentsName = "environments"
	templatesName    = "templates-"
)

// PlatformConfigMaps are the ConfigMaps that contain the values and the template sets of an installation.
type PlatformConfigMaps struct {
	// Installation is the ConfigMap with the values, the policy and the rollout rules.
	Installation *corev1.ConfigMap
	// LacksInstallation reports whether the operator's configuration names the ConfigMap Installation, but the
	// ConfigMap does not exist.
	LacksInstallation bool
	// Sets are the ConfigMaps with the template sets.
	Sets []corev1.ConfigMap
}

// overdueAfter is the time after which the status and the command check report that a ConfigMap is missing or differs
// from the list in the installation's values.
const overdueAfter = time.Minute

// Mismatch is a ConfigMap that is missing although the installation refers to it, or a ConfigMap of a template set that
// differs from the list in the installation's values.
type Mismatch struct {
	// Namespace and Name identify the ConfigMap.
	Namespace, Name string
	// IsMissing reports whether the ConfigMap does not exist. If it is false, the ConfigMap has other content than the
	// list.
	IsMissing bool
	// Referrer describes the reference to a missing ConfigMap, such as "the installation's values list it".
	Referrer string
	// StartTime is the time when the mismatch started: the last write of the list or of the ConfigMap. It is zero if
	// that time is not recorded.
	StartTime time.Time
}

// String describes the mismatch.
func (m Mismatch) String() string {
	state := "does not have the content that the installation's values list"
	if m.IsMissing {
		state = "does not exist, but " + m.Referrer
	}
	return fmt.Sprintf("ConfigMap %s/%s %s", m.Namespace, m.Name, state)
}

// IsOverdue reports whether the mismatch has lasted for overdueAfter, so that it must be reported.
func (m Mismatch) IsOverdue(now time.Time) bool { return !now.Before(m.dueTime()) }

// dueTime returns the time from which the mismatch is overdue.
func (m Mismatch) dueTime() time.Time { return m.StartTime.Add(overdueAfter) }

// listedSets returns the list of the Helm release's template sets from the installation's ConfigMap: their digests by
// the names of their ConfigMaps. It returns false if the ConfigMap has no valid list, as when it was written by hand or
// by an earlier chart.
func listedSets(installation *corev1.ConfigMap) (digests map[string]string, ok bool) {
	text, ok := installation.Annotations[meta.AnnotationTemplateSets]
	if !ok || bounded.Values().DecodeJSON([]byte(text), &digests) != nil {
		return nil, false
	}
	return digests, true
}

// setPrefix returns the prefix of the names of the Helm release's ConfigMaps with template sets. installation is the
// name of the installation's ConfigMap.
func setPrefix(installation string) string {
	return strings.TrimSuffix(installation, environmentsName) + templatesName
}

// isReleaseSet reports whether the Helm release of the installation's ConfigMap created the ConfigMap of a template
// set.
func isReleaseSet(installation string, set *corev1.ConfigMap) bool {
	return set.Name == setPrefix(installation)+set.Labels[meta.LabelTemplateSet]
}

// FilterListed returns the ConfigMaps without the template sets of the Helm release that the list in the installation's
// values does not contain. A running helm upgrade creates or deletes these.
func (c PlatformConfigMaps) FilterListed() PlatformConfigMaps {
	digests, ok := listedSets(c.Installation)
	if !ok {
		return c
	}
	c.Sets = slices.DeleteFunc(slices.Clone(c.Sets), func(set corev1.ConfigMap) bool {
		_, isListed := digests[set.Name]
		return isReleaseSet(c.Installation.Name, &set) && !isListed
	})
	return c
}

// Mismatches returns the installation's ConfigMap if it is missing. Otherwise, it returns the template sets of the Helm
// release that are missing or differ from the list in the installation's values, sorted by name.
func (c PlatformConfigMaps) Mismatches() []Mismatch {
	if c.LacksInstallation {
		return []Mismatch{{
			Namespace: c.Installation.Namespace, Name: c.Installation.Name, IsMissing: true,
			Referrer: "the operator reads the installation's values from it (--environments-configmap)",
		}}
	}
	var mismatches []Mismatch
	digests, _ := listedSets(c.Installation)
	listed := meta.AnnotationWrite(c.Installation, meta.AnnotationTemplateSets).Time
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		mismatch := Mismatch{Namespace: c.Installation.Namespace, Name: name, StartTime: listed}
		i := slices.IndexFunc(c.Sets, func(set corev1.ConfigMap) bool { return set.Name == name })
		if i < 0 {
			mismatch.IsMissing, mismatch.Referrer = true, "the installation's values list it"
			mismatches = append(mismatches, mismatch)
			continue
		}
		set := &c.Sets[i]
		if (fleet.Files{Data: set.Data, BinaryData: set.BinaryData}).Checksum() == digests[name] {
			continue
		}
		if written := meta.LastWrite(set); written.After(mismatch.StartTime) {
			mismatch.StartTime = written
		}
		mismatches = append(mismatches, mismatch)
	}
	return mismatches
}

// deletedSets returns the published template sets that were deleted although the values of an environment still name
// them. Mismatches returns the sets that are in the list of the installation's values.
func (c PlatformConfigMaps) deletedSets(published *PlatformConfigMaps) []Mismatch {
	var deleted []Mismatch
	for i := range published.Sets {
		set, name := &published.Sets[i], published.Sets[i].Labels[meta.LabelTemplateSet]
		exists := slices.ContainsFunc(c.Sets, func(present corev1.ConfigMap) bool { return present.Labels[meta.LabelTemplateSet] == name })
		if key := environment.KeyNaming(c.Installation.Data, name); !exists && key != "" {
			deleted = append(deleted, Mismatch{
				Namespace: set.Namespace, Name: set.Name, IsMissing: true,
				Referrer: fmt.Sprintf("key %s of the installation's values uses template set %q", key, name),
			})
		}
	}
	return deleted
}

// hasHandwritten reports whether one of the ConfigMaps is not in a list, because it was written by hand or by an
// earlier release. It is then unknown which versions of the ConfigMaps belong together.
func (c PlatformConfigMaps) hasHandwritten() bool {
	digests, ok := listedSets(c.Installation)
	return !ok || slices.ContainsFunc(c.Sets, func(set corev1.ConfigMap) bool { return digests[set.Name] == "" })
}

// WithoutList returns the annotations of an installation's ConfigMap without the list of template sets. It is needed if
// the template sets are not the ones of the Helm release.
func WithoutList(annotations map[string]string) map[string]string {
	remaining := maps.Clone(annotations)
	delete(remaining, meta.AnnotationTemplateSets)
	return remaining
}

// objectVersion returns a text that identifies one version of a ConfigMap.
func objectVersion(object *corev1.ConfigMap) string {
	return fmt.Sprintf("%s/%s/%s", object.Name, object.UID, object.ResourceVersion)
}

func describeConfigMap(object *corev1.ConfigMap) string {
	return fmt.Sprintf("ConfigMap %s/%s", object.Namespace, object.Name)
}
