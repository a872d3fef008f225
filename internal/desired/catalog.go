// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// PolicyKey and RolloutKey are the keys of the installation's ConfigMap that hold the policy and
// the pace of rollouts; the other keys are ENVIRONMENT.yaml.
const (
	PolicyKey  = "policy"
	RolloutKey = "rollout"
)

// Catalog turns ConfigMaps into a Platform and remembers the last good version of each part.
// It takes the ConfigMaps as arguments and never reads from a cluster. It is safe for concurrent use.
type Catalog struct {
	files   render.Files
	builtin *render.Chart

	mu      sync.Mutex
	version string
	current *Platform
	// charts are the sets as loaded, without the installation's values.
	charts map[string]loadedChart
	policy lastGood[policy.Policy]
	pace   lastGood[fleet.Rules]
}

// loadedChart is a template set loaded from one version of its ConfigMap.
type loadedChart struct {
	version string
	chart   *render.Chart
	// given is a digest of the ConfigMap's content that chart was loaded from.
	given string
	// files has the digests of that content by key.
	files map[string]any
	err   error
}

// lastGood is a part of the installation's ConfigMap, and its last version that could be parsed.
type lastGood[T any] struct {
	// text is what was parsed last; nil if nothing was yet.
	text *string
	// value is from the last good text, nil if there was none.
	value *T
	// err says what is wrong with text.
	err error
}

// read parses a part if it has changed.
func (l *lastGood[T]) read(installation *corev1.ConfigMap, key, what string, parse func(source string, text []byte) (*T, error)) []PlatformChange {
	text := installation.Data[key]
	if l.text != nil && *l.text == text {
		return nil
	}
	isFirst := l.text == nil
	l.text = &text
	value, err := parse(describeConfigMap(installation)+" "+key, []byte(text))
	if l.err = err; err == nil {
		l.value = value
	}
	if isFirst && err == nil {
		return nil
	}
	return []PlatformChange{{Object: installation, Key: key, What: what, Err: err}}
}

// PlatformChange is a part of the platform that was loaded again.
type PlatformChange struct {
	// Object is the ConfigMap that it comes from.
	Object *corev1.ConfigMap
	// Key is PolicyKey or RolloutKey, "" for a template set.
	Key string
	// What describes it, such as template set "gateway".
	What string
	// Err says why it cannot be used; nil if it can.
	Err error
}

// NewCatalog returns a Catalog that has the built-in chart only.
func NewCatalog(builtin render.Files) (*Catalog, error) {
	chart, err := builtin.Load()
	if err != nil {
		return nil, err
	}
	return &Catalog{files: builtin, builtin: chart, charts: map[string]loadedChart{}}, nil
}

// PlatformOf returns a Platform with one chart as the default set, and with what the installation
// provides: the files "ENVIRONMENT.yaml" of a source, and its policy in the file PolicyKey.
func PlatformOf(chart *render.Chart, source string, files map[string]string) *Platform {
	environments := chart.Environments.WithInstallation(source, files)
	only := &Platform{Environments: environments}
	only.Add(&TemplateSet{Name: DefaultTemplateSet, Chart: chart, Environments: environments})
	only.Policy, only.PolicyErr = policy.Parse(source+" "+PolicyKey, []byte(files[PolicyKey]))
	only.Rollout, only.RolloutErr = fleet.Parse(source+" "+RolloutKey, []byte(files[RolloutKey]))
	return only
}

// Builtin returns the built-in chart.
func (c *Catalog) Builtin() *render.Chart { return c.builtin }

// Update takes the current ConfigMaps: the installation's, and those that hold template
// sets. It returns the resulting Platform, and what has changed since the last call. While
// the resource versions stay the same, nothing is loaded again.
func (c *Catalog) Update(installation *corev1.ConfigMap, sets []corev1.ConfigMap) (*Platform, []PlatformChange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortFunc(sets, func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	versions := []string{versionOf(installation)}
	for i := range sets {
		versions = append(versions, versionOf(&sets[i]))
	}
	version := strings.Join(versions, " ")
	if c.current != nil && c.version == version {
		return c.current, nil
	}
	c.version = version
	changes := slices.Concat(
		c.policy.read(installation, PolicyKey, "the policy", policy.Parse),
		c.pace.read(installation, RolloutKey, "the pace of rollouts", fleet.Parse),
		c.readSets(sets),
	)
	next := &Platform{
		Policy: c.policy.value, PolicyErr: c.policy.err, Rollout: c.pace.value, RolloutErr: c.pace.err,
		Stopped: stopsWrites(installation),
	}
	c.addSets(next, installation)
	next.Given = fleet.Given{
		Rules: next.Rollout, Revision: c.revision(installation),
		Retry: installation.Annotations[meta.AnnotationRetryRollout], Promoted: installation.Annotations[meta.AnnotationPromoteRollout],
	}
	c.current = next
	return next, changes
}

func versionOf(object *corev1.ConfigMap) string {
	return fmt.Sprintf("%s/%s/%s", object.Name, object.UID, object.ResourceVersion)
}

// stopsWrites reports whether the installation's ConfigMap says so. A misspelt value counts:
// somebody who sets the annotation wants a stop.
func stopsWrites(installation *corev1.ConfigMap) bool {
	value, isGiven := installation.Annotations[meta.AnnotationStopWrites]
	return isGiven && value != "false"
}

// revisionLength is that of a revision in hexadecimal digits.
const revisionLength = 10

// revision is a digest of the values and of the template sets in use. What only paces or
// bounds sidecars is not part of it.
func (c *Catalog) revision(installation *corev1.ConfigMap) string {
	hash := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(installation.Data)) {
		if key != PolicyKey && key != RolloutKey {
			fmt.Fprintf(hash, "%q: %q\n", key, installation.Data[key])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.charts)) {
		fmt.Fprintf(hash, "set %q: %q\n", name, c.charts[name].given)
	}
	return hex.EncodeToString(hash.Sum(nil))[:revisionLength]
}

// readSets loads the sets that have changed and forgets those that were deleted.
func (c *Catalog) readSets(sets []corev1.ConfigMap) []PlatformChange {
	byName := map[string][]*corev1.ConfigMap{}
	for i := range sets {
		if name := sets[i].Labels[meta.LabelTemplateSet]; name != "" {
			byName[name] = append(byName[name], &sets[i])
		}
	}
	var changes []PlatformChange
	charts := map[string]loadedChart{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		before := c.charts[name]
		now := c.load(name, byName[name], before)
		charts[name] = now
		isNew := now.version != before.version
		if isNew && (now.err != nil || c.current != nil) {
			changes = append(changes, PlatformChange{Object: byName[name][0], What: fmt.Sprintf("template set %q", name), Err: now.err})
		}
	}
	c.charts = charts
	return changes
}

// load loads a set unless this version of it is already loaded.
func (c *Catalog) load(name string, objects []*corev1.ConfigMap, before loadedChart) loadedChart {
	now := loadedChart{}
	for _, object := range objects {
		now.version += versionOf(object) + " "
	}
	if now.version == before.version {
		return before
	}
	object := objects[0]
	files, err := c.files.With(object.Data, object.BinaryData)
	if err == nil {
		now.chart, err = files.Load()
		now.given, now.files = companion.Digest(object), plan.ConfigMapDigests(object)
	}
	if len(objects) > 1 {
		err = fmt.Errorf("%s defines it too: delete one of them", describeConfigMap(objects[1]))
	}
	if err != nil {
		now.chart, now.given, now.files = before.chart, before.given, before.files // The last good one, if any.
		now.err = fmt.Errorf("template set %q, %s: %w", name, describeConfigMap(object), err)
	}
	return now
}

// addSets gives each set the installation's values and the names of all known environments.
func (c *Catalog) addSets(next *Platform, installation *corev1.ConfigMap) {
	source := describeConfigMap(installation)
	withValues := func(chart *render.Chart) *environment.Set {
		known := chart.Environments.WithNames(c.builtin.Environments.Names()...)
		return known.WithInstallation(source, installation.Data)
	}
	next.Environments = withValues(c.builtin)
	next.Add(&TemplateSet{Name: DefaultTemplateSet, Chart: c.builtin, Environments: next.Environments})
	for name, from := range c.charts {
		set := &TemplateSet{Name: name, Chart: from.chart, Given: from.given, Files: from.files, Err: from.err}
		if from.chart != nil {
			set.Environments = withValues(from.chart)
		}
		next.Add(set)
	}
	if own, _ := next.Set(""); own.Environments != nil {
		next.Environments = own.Environments
	}
}

func describeConfigMap(object *corev1.ConfigMap) string {
	return fmt.Sprintf("ConfigMap %s/%s", object.Namespace, object.Name)
}
