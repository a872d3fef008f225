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

// PolicyKey and RolloutKey are the keys of the installation's ConfigMap with the policy and the
// rollout rules. The other keys are ENVIRONMENT.yaml.
const (
	PolicyKey  = "policy"
	RolloutKey = "rollout"
)

// environmentsName is the suffix of the name of the chart's ConfigMap of values. templatesName
// precedes the name of the set in the names of its ConfigMaps of template sets.
const (
	environmentsName = "environments"
	templatesName    = "templates-"
)

// PlatformConfigMaps are the ConfigMaps with an installation's values and template sets.
type PlatformConfigMaps struct {
	// Installation has the values, the policy and the rollout rules.
	Installation *corev1.ConfigMap
	// LacksInstallation is true if the operator's configuration names the ConfigMap Installation,
	// and it does not exist.
	LacksInstallation bool
	// Sets have the template sets.
	Sets []corev1.ConfigMap
}

// overdueAfter is the time that a template set may differ from the list before status and check
// report it.
const overdueAfter = time.Minute

// Mismatch is a missing ConfigMap to which the configuration of an installation refers, or a
// template set that differs from the list in the installation's values.
type Mismatch struct {
	// Namespace and Name identify the ConfigMap.
	Namespace, Name string
	// IsMissing is true if the ConfigMap does not exist, false if it has other content.
	IsMissing bool
	// Referrer explains the reference to a missing ConfigMap, such as "the installation's values
	// list it".
	Referrer string
	// StartTime is the time when the list or the ConfigMap was last written; zero if it is not
	// recorded.
	StartTime time.Time
}

// String describes the mismatch.
func (m Mismatch) String() string {
	state := "has other content than the installation's values list"
	if m.IsMissing {
		state = "does not exist, but " + m.Referrer
	}
	return fmt.Sprintf("ConfigMap %s/%s %s", m.Namespace, m.Name, state)
}

// IsOverdue reports whether the mismatch has lasted long enough to be reported.
func (m Mismatch) IsOverdue(now time.Time) bool { return !now.Before(m.dueTime()) }

func (m Mismatch) dueTime() time.Time { return m.StartTime.Add(overdueAfter) }

// listedSets returns the digests of the template sets of the release by the names of their
// ConfigMaps, and whether the installation's ConfigMap has a list. A ConfigMap that was written by
// hand, or by an earlier chart, has none. A list that cannot be read counts as none.
func listedSets(installation *corev1.ConfigMap) (digests map[string]string, ok bool) {
	text, ok := installation.Annotations[meta.AnnotationTemplateSets]
	if !ok || bounded.Values().DecodeJSON([]byte(text), &digests) != nil {
		return nil, false
	}
	return digests, true
}

// setPrefix returns the prefix of the names of ConfigMaps with template sets that belong to the release of an
// installation's ConfigMap.
func setPrefix(installation string) string {
	return strings.TrimSuffix(installation, environmentsName) + templatesName
}

// isOfRelease reports whether the release of an installation's ConfigMap makes the ConfigMap of a template set.
func isOfRelease(installation string, set *corev1.ConfigMap) bool {
	return set.Name == setPrefix(installation)+set.Labels[meta.LabelTemplateSet]
}

// FilterListed returns the ConfigMaps without the template sets that belong to the release and that its
// values do not list. An upgrade is about to create or delete these.
func (c PlatformConfigMaps) FilterListed() PlatformConfigMaps {
	digests, ok := listedSets(c.Installation)
	if !ok {
		return c
	}
	c.Sets = slices.DeleteFunc(slices.Clone(c.Sets), func(set corev1.ConfigMap) bool {
		_, isListed := digests[set.Name]
		return isOfRelease(c.Installation.Name, &set) && !isListed
	})
	return c
}

// Mismatches returns the ConfigMap of the values if it is missing. Otherwise it returns the template
// sets of the release that differ from the list in its values, sorted by name.
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

// deletedSets returns the published template sets that do not exist although the values of an
// environment name them. The deletion of a set that a release lists is a mismatch of the list.
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

// hasHandwritten reports whether a ConfigMap does not belong to a release with a list, so that the
// content of the other ConfigMaps that belongs to it is unknown.
func (c PlatformConfigMaps) hasHandwritten() bool {
	digests, ok := listedSets(c.Installation)
	return !ok || slices.ContainsFunc(c.Sets, func(set corev1.ConfigMap) bool { return digests[set.Name] == "" })
}

// WithoutList returns the annotations of an installation's ConfigMap without the list of its
// template sets, for template sets that are not written by a release.
func WithoutList(annotations map[string]string) map[string]string {
	remaining := maps.Clone(annotations)
	delete(remaining, meta.AnnotationTemplateSets)
	return remaining
}

func objectVersion(object *corev1.ConfigMap) string {
	return fmt.Sprintf("%s/%s/%s", object.Name, object.UID, object.ResourceVersion)
}

func describeConfigMap(object *corev1.ConfigMap) string {
	return fmt.Sprintf("ConfigMap %s/%s", object.Namespace, object.Name)
}
