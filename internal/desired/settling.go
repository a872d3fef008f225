// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
)

// DefaultQuiet is the default quiet period: handwritten ConfigMaps are published after they have not changed for this
// time.
const DefaultQuiet = 5 * time.Second

// maxQuietPeriods is the number of quiet periods after which handwritten ConfigMaps are published although they keep
// changing.
const maxQuietPeriods = 12

// Settling decides which versions of an installation's ConfigMaps are published. One change, such as a helm upgrade,
// writes several ConfigMaps, and an intermediate state must not be published. ConfigMaps of a Helm release belong
// together if the template sets have the digests in the installation's list. Handwritten ConfigMaps belong together if
// they have not changed for a quiet period, or have been changing for maxQuietPeriods quiet periods. Settling is not
// safe for concurrent use.
type Settling struct {
	quiet time.Duration

	// version identifies the ConfigMaps for which lastResult was computed. nextChange is the time when the result
	// changes without a change of a ConfigMap, or zero for never.
	version    string
	nextChange time.Time
	lastResult *Settled

	// published are the published ConfigMaps, or nil if none were published yet. publishedDigest is the digest of their
	// content.
	published       *PlatformConfigMaps
	publishedDigest string
	// annotations are the last known annotations of the installation's ConfigMap, which stay in use after it is
	// deleted.
	annotations map[string]string
	// digest is the digest of the current content, and changed is the time when the content last changed. pending is
	// the time since when the content has differed from the published content, or zero if it does not differ.
	digest           string
	changed, pending time.Time
	// mismatched contains the start times of mismatches by the names of their ConfigMaps.
	mismatched map[string]time.Time
}

// Settled is the result of Settling.Update: the ConfigMaps to use, and the reason if they are not the current ones.
type Settled struct {
	// Published are the ConfigMaps to use, with the current annotations. It is nil if nothing has been published yet.
	Published *PlatformConfigMaps
	// Wait explains why Published differs from the current ConfigMaps, or is nil if it does not differ.
	Wait *Wait
}

// Wait explains why the current ConfigMaps of an installation are not published.
type Wait struct {
	// ConfigMaps are the current ConfigMaps, which wait to be published.
	ConfigMaps PlatformConfigMaps
	// Overdue are the ConfigMaps that have been missing, or have differed from the list, for at least overdueAfter.
	Overdue []Mismatch
	// Message is a text for users that names the condition for the publication.
	Message string
}

// NewSettling returns a Settling with a quiet period, or with DefaultQuiet if it is 0.
func NewSettling(quiet time.Duration) *Settling {
	return &Settling{quiet: cmp.Or(quiet, DefaultQuiet)}
}

// Update returns the ConfigMaps to use. configMaps are the current ones at the time now. It returns the same pointer
// until the result changes.
func (s *Settling) Update(configMaps PlatformConfigMaps, now time.Time) *Settled {
	version := configMaps.version()
	if s.lastResult != nil && version == s.version && (s.nextChange.IsZero() || now.Before(s.nextChange)) {
		return s.lastResult
	}
	configMaps = configMaps.FilterListed()
	s.observe(configMaps, now)
	s.version, s.nextChange = version, time.Time{}
	if wait := s.wait(configMaps, now); wait != nil {
		s.lastResult = &Settled{Published: s.publishedUnder(configMaps), Wait: wait}
		return s.lastResult
	}
	s.published, s.publishedDigest, s.pending = &configMaps, s.digest, time.Time{}
	s.lastResult = &Settled{Published: s.published}
	return s.lastResult
}

// NextChange returns the time when the result of Update changes without a change of a ConfigMap, or zero for never.
func (s *Settling) NextChange() time.Time { return s.nextChange }

// Restore publishes the content of a stored revision if nothing has been published yet. configMaps are the ConfigMaps
// of the last Update. They provide the rollout rules, which a revision does not store.
func (s *Settling) Restore(content *fleet.Content, configMaps PlatformConfigMaps) {
	if s.published != nil {
		return
	}
	stored := storedConfigMaps(content, configMaps.Installation)
	s.published, s.publishedDigest = &stored, stored.contentDigest()
	s.version = ""
}

// observe records the current annotations and content, and the time when the content last changed. In the first call,
// that time is the last write of a ConfigMap, because the content may be older than the process.
func (s *Settling) observe(configMaps PlatformConfigMaps, now time.Time) {
	digest := configMaps.contentDigest()
	if !configMaps.LacksInstallation {
		s.annotations = configMaps.Installation.Annotations
	}
	switch {
	case s.lastResult == nil:
		s.changed = configMaps.lastWrite()
		if s.changed.After(now) {
			s.changed = now
		}
		s.pending = s.changed
	case digest != s.digest:
		s.changed = now
	}
	if s.digest = digest; s.pending.IsZero() {
		s.pending = now
	}
}

// wait returns the reason why the current ConfigMaps must not be published yet, or nil if they may be published.
func (s *Settling) wait(configMaps PlatformConfigMaps, now time.Time) *Wait {
	if mismatches := s.mismatches(configMaps, now); len(mismatches) > 0 {
		s.pending = time.Time{} // The quiet period starts after the mismatches have ended.
		wait := &Wait{ConfigMaps: configMaps, Message: describeMismatches(mismatches)}
		for _, mismatch := range mismatches {
			if mismatch.IsOverdue(now) {
				wait.Overdue = append(wait.Overdue, mismatch)
			} else if s.nextChange.IsZero() || mismatch.dueTime().Before(s.nextChange) {
				s.nextChange = mismatch.dueTime()
			}
		}
		return wait
	}
	if s.published != nil && s.digest == s.publishedDigest {
		return nil
	}
	deadline := s.changed.Add(s.quiet)
	if latest := s.pending.Add(maxQuietPeriods * s.quiet); latest.Before(deadline) {
		deadline = latest
	}
	if !configMaps.hasHandwritten() || !now.Before(deadline) {
		return nil
	}
	s.nextChange = deadline
	return &Wait{ConfigMaps: configMaps, Message: fmt.Sprintf("waiting until the ConfigMaps of the installation have not changed for %s", s.quiet)}
}

// mismatches returns the ConfigMaps that are missing or differ from the installation's list, with the time when each
// mismatch started. In the first call, that time may be before the start of the process.
func (s *Settling) mismatches(configMaps PlatformConfigMaps, now time.Time) []Mismatch {
	mismatches, mismatched := configMaps.Mismatches(), map[string]time.Time{}
	if len(mismatches) == 0 && s.published != nil {
		mismatches = configMaps.deletedSets(s.published)
	}
	for i := range mismatches {
		mismatch := &mismatches[i]
		if start, ok := s.mismatched[mismatch.Name]; ok {
			mismatch.StartTime = start
		} else if s.lastResult != nil {
			mismatch.StartTime = now
		}
		mismatched[mismatch.Name] = mismatch.StartTime
	}
	s.mismatched = mismatched
	return mismatches
}

// publishedUnder returns the published ConfigMaps with the current annotations, because annotations take effect
// immediately. If the installation's ConfigMap was deleted, it uses the last annotations, so that the deletion does not
// end a stop of writes.
func (s *Settling) publishedUnder(configMaps PlatformConfigMaps) *PlatformConfigMaps {
	if s.published == nil {
		return nil
	}
	installation := s.published.Installation.DeepCopy()
	list, isListed := installation.Annotations[meta.AnnotationTemplateSets] // The published list belongs to the published sets.
	installation.Annotations = WithoutList(s.annotations)
	if isListed {
		metav1.SetMetaDataAnnotation(&installation.ObjectMeta, meta.AnnotationTemplateSets, list)
	}
	installation.ResourceVersion += "+" + configMaps.Installation.ResourceVersion
	return &PlatformConfigMaps{Installation: installation, Sets: s.published.Sets}
}

// describeMismatches returns a text for users that lists the mismatches.
func describeMismatches(mismatches []Mismatch) string {
	var texts []string
	for _, mismatch := range mismatches {
		texts = append(texts, mismatch.String())
	}
	return "waiting for ConfigMaps of the installation: " + strings.Join(texts, "; ")
}

// version returns a text that identifies the versions of all ConfigMaps.
func (c PlatformConfigMaps) version() string {
	versions := []string{objectVersion(c.Installation)}
	for i := range c.Sets {
		versions = append(versions, objectVersion(&c.Sets[i]))
	}
	slices.Sort(versions[1:])
	return strings.Join(versions, " ")
}

// lastWrite returns the time of the last write to one of the ConfigMaps.
func (c PlatformConfigMaps) lastWrite() time.Time {
	latest := meta.LastWrite(c.Installation)
	for i := range c.Sets {
		if written := meta.LastWrite(&c.Sets[i]); written.After(latest) {
			latest = written
		}
	}
	return latest
}

// contentDigest returns a digest of the content of all ConfigMaps. Policies that differ only in their layout or in
// explicit defaults have the same digest.
func (c PlatformConfigMaps) contentDigest() string {
	values := maps.Clone(c.Installation.Data)
	delete(values, declared.Key) // Declared VectorSidecars are applied at once, and are not part of a revision.
	if rules, err := policy.Parse(PolicyKey, []byte(values[PolicyKey])); err == nil {
		delete(values, PolicyKey)
		if len(rules.Explicit) > 0 {
			values[PolicyKey] = rules.ExplicitDigest
		}
	}
	sets := map[string][]fleet.Files{}
	byName := slices.SortedFunc(slices.Values(c.Sets), func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	for _, set := range byName {
		name := set.Labels[meta.LabelTemplateSet]
		sets[name] = append(sets[name], fleet.Files{Data: set.Data, BinaryData: set.BinaryData})
	}
	text, _ := json.Marshal(map[string]any{"values": values, "sets": sets}) // Strings and bytes always marshal.
	return meta.Digest(text, contentDigestLength)
}

// contentDigestLength is the length of a digest of ConfigMaps in bytes.
const contentDigestLength = 16

// storedConfigMaps converts the content of a stored revision to ConfigMaps. installation is the current ConfigMap of
// the installation, which provides the metadata and the rollout rules.
func storedConfigMaps(content *fleet.Content, installation *corev1.ConfigMap) PlatformConfigMaps {
	stored := installation.DeepCopy()
	stored.ResourceVersion = "stored-" + content.Revision()
	stored.Annotations = WithoutList(stored.Annotations) // The list does not name the sets of the revision.
	stored.Data = maps.Clone(content.Values.Data)
	if stored.Data == nil {
		stored.Data = map[string]string{}
	}
	if rollout, ok := installation.Data[RolloutKey]; ok {
		stored.Data[RolloutKey] = rollout
	}
	configMaps := PlatformConfigMaps{Installation: stored}
	for _, name := range slices.Sorted(maps.Keys(content.Sets)) {
		configMaps.Sets = append(configMaps.Sets, corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: stored.Namespace, Name: setPrefix(stored.Name) + name, ResourceVersion: stored.ResourceVersion,
				Labels: map[string]string{meta.LabelTemplateSet: name},
			},
			Data: content.Sets[name].Data, BinaryData: content.Sets[name].BinaryData,
		})
	}
	return configMaps
}
