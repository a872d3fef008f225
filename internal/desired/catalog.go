// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// Catalog turns ConfigMaps into a Platform and remembers the last good version of each part.
// It takes the ConfigMaps as arguments and never reads from a cluster. It is safe for concurrent use.
type Catalog struct {
	builtIn *builtInChart

	mu      sync.Mutex
	version string
	current *Platform
	// charts are the sets as loaded, without the installation's values.
	charts map[string]loadedChart
	policy lastGood[policy.Policy]
	pace   lastGood[fleet.Rules]
}

// lastGood is a part of the installation's ConfigMap, and its last version that could be parsed.
type lastGood[T any] struct {
	// text is what was parsed last; nil if nothing was yet.
	text *string
	// value is from the last good text, nil if there was none, and valueText is that text.
	value     *T
	valueText string
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
		l.value, l.valueText = value, text
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
	own, err := newBuiltInChart(builtin)
	if err != nil {
		return nil, err
	}
	return &Catalog{builtIn: own, charts: map[string]loadedChart{}}, nil
}

// PlatformOf returns a Platform with one chart as the default set, and with what the installation
// provides: the files "ENVIRONMENT.yaml" of a source, and its policy in the file PolicyKey.
func PlatformOf(chart *render.Chart, source string, files map[string]string) *Platform {
	environments := chart.Environments.WithInstallation(source, files)
	only := &Platform{Environments: environments, Roll: chart.Roll}
	only.Add(&TemplateSet{Name: DefaultTemplateSet, Chart: chart, Environments: environments})
	only.Policy, only.PolicyErr = policy.Parse(source+" "+PolicyKey, []byte(files[PolicyKey]))
	only.Rollout, only.RolloutErr = fleet.Parse(source+" "+RolloutKey, []byte(files[RolloutKey]))
	return only
}

// Builtin returns the built-in chart.
func (c *Catalog) Builtin() *render.Chart { return c.builtIn.chart }

// Update takes the current ConfigMaps: the installation's, and those that hold template
// sets. It returns the resulting Platform, and what has changed since the last call. While
// the resource versions stay the same, nothing is loaded again. Sets of the release that its values do not list are ignored.
func (c *Catalog) Update(installation *corev1.ConfigMap, sets []corev1.ConfigMap) (*Platform, []PlatformChange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sets = PlatformConfigMaps{Installation: installation, Sets: sets}.Listed().Sets
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
		rolloutText: c.pace.valueText, Stopped: stopsWrites(installation),
	}
	next.Content = c.content(installation)
	next.Revision, next.Roll = next.Content.Revision(), next.Content.Roll
	c.builtIn.addSets(next, describeConfigMap(installation), installation.Data, c.charts)
	next.Given = fleet.NewGiven(next.Rollout, next.Revision, installation.Annotations)
	c.current = next
	return next, changes
}

// Draft returns the Platform of ConfigMaps that must not be published yet. It is not remembered, and nothing may be written
// by it but removals.
func (c *Catalog) Draft(wait *Wait) *Platform {
	draft := &Catalog{builtIn: c.builtIn, charts: map[string]loadedChart{}}
	platform, _ := draft.Update(wait.Present.Installation, wait.Present.Sets)
	platform.Unpublished = wait.Message
	return platform.Awaiting(wait)
}

// Restore gives the sets and the policy that could not be loaded yet the content of an earlier
// revision, and the rollout rules the text that was in use, for a process that starts while one is broken. content is
// nil if it cannot be read back. It returns whether there were any.
func (c *Catalog) Restore(content *fleet.Content, rollout string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	isRestored := false
	if rules, err := fleet.Parse(RolloutKey, []byte(rollout)); c.pace.value == nil && rollout != "" && err == nil {
		c.pace.value, c.pace.valueText, isRestored = rules, rollout, true
	}
	if content == nil {
		content = &fleet.Content{}
	} else if before, err := policyOf(content); c.policy.value == nil && err == nil {
		c.policy.value, isRestored = before, true
	}
	for name, broken := range c.charts {
		files, isStored := content.Sets[name]
		if broken.chart != nil || !isStored {
			continue
		}
		if before := c.builtIn.load(files); before.err == nil {
			before.version, before.err = broken.version, broken.err
			c.charts[name], isRestored = before, true
		}
	}
	if isRestored {
		c.version = "" // The next Update makes a Platform of it.
	}
	return isRestored
}

// At returns what the platform was with a stored revision: sets, values and policy are those of
// the revision, and so are the operator's own templates as far as they are stored with it. See
// Platform.Under. A set that cannot be loaded any more has an error. The error is a *fleet.RecordError
// if that holds for the operator's own, or the policy, or if a set is not rendered as it was then; or the
// context's.
func (c *Catalog) At(ctx context.Context, content *fleet.Content) (*Platform, error) {
	rules, err := policyOf(content)
	of := c.builtIn
	if err == nil {
		of, err = c.builtIn.of(content)
	}
	if err != nil {
		return nil, &fleet.RecordError{Revision: content.Revision(), Err: err}
	}
	c.mu.Lock()
	charts := maps.Clone(c.charts)
	c.mu.Unlock()
	maps.DeleteFunc(charts, func(name string, _ loadedChart) bool { _, isThen := content.Sets[name]; return !isThen })
	for name, files := range content.Sets {
		now := charts[name]
		if was := of.load(files); of != c.builtIn || was.given != now.given || now.chart == nil || now.err != nil {
			charts[name] = was
		}
	}
	then := &Platform{Content: content, Revision: content.Revision(), Roll: content.Roll, Policy: rules}
	of.addSets(then, "revision "+then.Revision+" of the installation's values", content.Values.Data, charts)
	if err := then.compareSamples(ctx); err != nil {
		return nil, err
	}
	return then, nil
}

// policyOf returns the policy of a revision.
func policyOf(content *fleet.Content) (*policy.Policy, error) {
	return policy.ParseBeyond(PolicyKey, []byte(content.Values.Data[PolicyKey]))
}

// content is what the ConfigMaps have now, or had when they were last good.
func (c *Catalog) content(installation *corev1.ConfigMap) *fleet.Content {
	now := &fleet.Content{Values: fleet.Files{Data: map[string]string{}}, Sets: map[string]fleet.Files{}, Roll: c.builtIn.chart.Roll}
	maps.Copy(now.Values.Data, installation.Data)
	maps.DeleteFunc(now.Values.Data, func(key, _ string) bool { return key == PolicyKey || key == RolloutKey })
	if rules := c.policy.value; rules != nil && len(rules.Beyond) > 0 {
		// Without defaults: another release may change them, which alone must not be a revision.
		text, _ := json.MarshalIndent(rules.Beyond, "", "  ") // It was made from JSON.
		now.Values.Data[PolicyKey] = string(text)
	}
	for name, set := range c.charts {
		if set.chart != nil {
			now.Sets[name] = set.content
		}
	}
	return now
}

// stopsWrites reports whether the installation's ConfigMap says so. A misspelt value counts:
// somebody who sets the annotation wants a stop.
func stopsWrites(installation *corev1.ConfigMap) bool {
	value, isGiven := installation.Annotations[meta.AnnotationStopWrites]
	return isGiven && value != "false"
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
	version, object := now.version, objects[0]
	now = c.builtIn.load(fleet.Files{Data: object.Data, BinaryData: object.BinaryData})
	err := now.err
	if len(objects) > 1 {
		err = fmt.Errorf("%s defines it too: delete one of them", describeConfigMap(objects[1]))
	}
	if err != nil {
		now = before // The last good one, if any.
		now.err = fmt.Errorf("template set %q, %s: %w", name, describeConfigMap(object), err)
	}
	now.version = version
	return now
}
