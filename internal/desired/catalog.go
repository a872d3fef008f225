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

	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// Catalog converts the ConfigMaps of an installation to a Platform, and keeps the last known good version of each part
// of it. Callers pass the ConfigMaps, and the Catalog makes no API calls. It is safe for concurrent use.
type Catalog struct {
	builtIn *builtInChart

	mu      sync.Mutex
	version string
	current *Platform
	// charts are the loaded template sets by name, without the installation's values.
	charts map[string]loadedChart
	policy lastGood[policy.Policy]
	pace   lastGood[fleet.Rules]
}

// lastGood is one part of the installation's ConfigMap, such as the policy, and its last known good version.
type lastGood[T any] struct {
	// text is the text that was parsed last, or nil if none was parsed.
	text *string
	// value is the parsed form of the last valid text, which is valueText. It is nil if no text was valid.
	value     *T
	valueText string
	// err explains why the current text is invalid, or is nil if it is valid.
	err error
}

// read parses the text of the part if it has changed since the last call. It returns the changes to report: a new
// error, or a valid text that is not the first one.
func (l *lastGood[T]) read(installation *corev1.ConfigMap, key, description string, parse func(source string, text []byte) (*T, error)) []PlatformChange {
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
	return []PlatformChange{{Object: installation, Key: key, Description: description, Err: err}}
}

// PlatformChange reports that the Catalog has loaded a new version of one part of the platform.
type PlatformChange struct {
	// Object is the ConfigMap that contains the part.
	Object *corev1.ConfigMap
	// Key is PolicyKey or RolloutKey, or "" for a template set.
	Key string
	// Description describes the part in messages, for example: template set "gateway".
	Description string
	// Err explains why the part is invalid, or is nil if it is valid.
	Err error
}

// NewCatalog returns a Catalog that contains only the built-in chart.
func NewCatalog(builtin render.Files) (*Catalog, error) {
	chart, err := newBuiltInChart(builtin)
	if err != nil {
		return nil, err
	}
	return &Catalog{builtIn: chart, charts: map[string]loadedChart{}}, nil
}

// NewPlatform returns a Platform with one chart as its default template set. The files are the data of the
// installation's ConfigMap: its values (ENVIRONMENT.yaml), its policy (PolicyKey) and its rollout rules (RolloutKey).
func NewPlatform(chart *render.Chart, source string, files map[string]string) *Platform {
	environments := chart.Environments.WithInstallation(source, files)
	platform := &Platform{Environments: environments, Roll: chart.Roll}
	platform.Add(&TemplateSet{Name: DefaultTemplateSet, Chart: chart, Environments: environments})
	platform.Policy, platform.PolicyErr = policy.Parse(source+" "+PolicyKey, []byte(files[PolicyKey]))
	platform.Rollout, platform.RolloutErr = fleet.Parse(source+" "+RolloutKey, []byte(files[RolloutKey]))
	return platform
}

// Builtin returns the built-in chart.
func (c *Catalog) Builtin() *render.Chart { return c.builtIn.chart }

// Update returns the Platform for the current ConfigMaps: the ConfigMap of the installation's values, and the
// ConfigMaps of template sets. It also returns the changes since the last call. If no resource version has changed, it
// returns the same Platform. It ignores template sets of the Helm release that the installation's values do not list.
func (c *Catalog) Update(installation *corev1.ConfigMap, sets []corev1.ConfigMap) (*Platform, []PlatformChange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sets = PlatformConfigMaps{Installation: installation, Sets: sets}.FilterListed().Sets
	slices.SortFunc(sets, func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	versions := []string{objectVersion(installation)}
	for i := range sets {
		versions = append(versions, objectVersion(&sets[i]))
	}
	version := strings.Join(versions, " ")
	if c.current != nil && c.version == version {
		return c.current, nil
	}
	c.version = version
	changes := slices.Concat(
		c.policy.read(installation, PolicyKey, "the policy", policy.Parse),
		c.pace.read(installation, RolloutKey, "the rollout settings", fleet.Parse),
		c.readSets(sets),
	)
	platform := &Platform{
		Policy: c.policy.value, PolicyErr: c.policy.err, Rollout: c.pace.value, RolloutErr: c.pace.err,
		rolloutText: c.pace.valueText, Stop: FindStop(installation), AboutURL: installation.Annotations[meta.AnnotationAboutURL],
	}
	platform.Content = c.content(installation)
	platform.Revision, platform.Roll = platform.Content.Revision(), platform.Content.Roll
	c.builtIn.addSets(platform, describeConfigMap(installation), installation.Data, c.charts)
	platform.Target = fleet.NewTarget(platform.Rollout, platform.Revision, installation.Annotations)
	c.current = platform
	return platform, changes
}

// Draft returns a Platform for ConfigMaps that must not be published yet, from which the operator writes only removals.
// The Catalog does not store it.
func (c *Catalog) Draft(wait *Wait) *Platform {
	draft := &Catalog{builtIn: c.builtIn, charts: map[string]loadedChart{}}
	platform, _ := draft.Update(wait.ConfigMaps.Installation, wait.ConfigMaps.Sets)
	platform.Unpublished = wait.Message
	return platform.Awaiting(wait)
}

// Restore restores the parts that have had no valid version since the process started. content is an earlier revision,
// for the template sets and the policy, or nil if that revision cannot be read. rollout is the last valid text of the
// rollout rules. Restore returns true if it has restored a part.
func (c *Catalog) Restore(content *fleet.Content, rollout string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	isRestored := false
	if rules, err := fleet.Parse(RolloutKey, []byte(rollout)); c.pace.value == nil && rollout != "" && err == nil {
		c.pace.value, c.pace.valueText, isRestored = rules, rollout, true
	}
	if content == nil {
		content = &fleet.Content{}
	} else if restored, err := parsePolicy(content); c.policy.value == nil && err == nil {
		c.policy.value, isRestored = restored, true
	}
	for name, broken := range c.charts {
		files, isStored := content.Sets[name]
		if broken.chart != nil || !isStored {
			continue
		}
		if restored := c.builtIn.load(files); restored.err == nil {
			restored.version, restored.err = broken.version, broken.err
			c.charts[name], isRestored = restored, true
		}
	}
	if isRestored {
		c.version = "" // The next Update builds a Platform with the restored parts.
	}
	return isRestored
}

// PlatformAt returns the Platform of a stored revision: its template sets, values and policy, and its built-in
// templates if the revision stores them. Platform.WithCurrent adds the current settings. A template set that can no
// longer be loaded has an error.
//
// The error is a *fleet.RecordError in two cases: the built-in templates or the policy cannot be loaded, or a template
// set renders differently than when the revision was published. All other errors are the context's error.
func (c *Catalog) PlatformAt(ctx context.Context, content *fleet.Content) (*Platform, error) {
	rules, err := parsePolicy(content)
	builtIn := c.builtIn
	if err == nil {
		builtIn, err = c.builtIn.chartFor(content)
	}
	if err != nil {
		return nil, &fleet.RecordError{Revision: content.Revision(), Err: err}
	}
	c.mu.Lock()
	charts := maps.Clone(c.charts)
	c.mu.Unlock()
	maps.DeleteFunc(charts, func(name string, _ loadedChart) bool { _, isStored := content.Sets[name]; return !isStored })
	for name, files := range content.Sets {
		current := charts[name]
		if stored := builtIn.load(files); builtIn != c.builtIn || stored.contentDigest != current.contentDigest || current.chart == nil || current.err != nil {
			charts[name] = stored
		}
	}
	platform := &Platform{Content: content, Revision: content.Revision(), Roll: content.Roll, Policy: rules}
	builtIn.addSets(platform, "revision "+platform.Revision+" of the installation's values", content.Values.Data, charts)
	if err := platform.compareSamples(ctx); err != nil {
		return nil, err
	}
	return platform, nil
}

// parsePolicy parses the policy of a stored revision.
func parsePolicy(content *fleet.Content) (*policy.Policy, error) {
	return policy.ParseExplicit(PolicyKey, []byte(content.Values.Data[PolicyKey]))
}

// content returns the content of the ConfigMaps that a revision publishes. An invalid part has its last known good
// content.
func (c *Catalog) content(installation *corev1.ConfigMap) *fleet.Content {
	content := &fleet.Content{Values: fleet.Files{Data: map[string]string{}}, Sets: map[string]fleet.Files{}, Roll: c.builtIn.chart.Roll}
	maps.Copy(content.Values.Data, installation.Data)
	maps.DeleteFunc(content.Values.Data, func(key, _ string) bool { return key == PolicyKey || key == RolloutKey || key == declared.Key })
	if rules := c.policy.value; rules != nil && len(rules.Explicit) > 0 {
		// Without defaults: another release may change them, which alone must not be a revision.
		text, _ := json.MarshalIndent(rules.Explicit, "", "  ") // The rules were parsed from JSON.
		content.Values.Data[PolicyKey] = string(text)
	}
	for name, set := range c.charts {
		if set.chart != nil {
			content.Sets[name] = set.content
		}
	}
	return content
}

// FindStop returns the reason why all writes of the installation are stopped, which its ConfigMap contains. Any value
// of the annotation except "false" stops writes, because a user who sets the annotation intends to stop them.
func FindStop(installation *corev1.ConfigMap) WriteStop {
	switch value, ok := installation.Annotations[meta.AnnotationStopWrites]; {
	case ok && value != "false":
		return StoppedByAnnotation
	case installation.Annotations[meta.AnnotationWrites] == meta.WritesStopped:
		return StoppedByValues
	}
	return NotStopped
}

// readSets loads the template sets that have changed, and drops those that were deleted. It returns the changes to
// report.
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
		previous := c.charts[name]
		loaded := c.load(name, byName[name], previous)
		charts[name] = loaded
		isNew := loaded.version != previous.version
		if isNew && (loaded.err != nil || c.current != nil) {
			changes = append(changes, PlatformChange{Object: byName[name][0], Description: fmt.Sprintf("template set %q", name), Err: loaded.err})
		}
	}
	c.charts = charts
	return changes
}

// load returns a loaded template set. It returns the previous result if no version has changed. A set that is invalid
// now keeps its last known good version and gets an error.
func (c *Catalog) load(name string, objects []*corev1.ConfigMap, previous loadedChart) loadedChart {
	loaded := loadedChart{}
	for _, object := range objects {
		loaded.version += objectVersion(object) + " "
	}
	if loaded.version == previous.version {
		return previous
	}
	version, object := loaded.version, objects[0]
	loaded = c.builtIn.load(fleet.Files{Data: object.Data, BinaryData: object.BinaryData})
	err := loaded.err
	if len(objects) > 1 {
		err = fmt.Errorf("%s also defines the template set; delete one of the two ConfigMaps", describeConfigMap(objects[1]))
	}
	if err != nil {
		loaded = previous // The last known good set, if any.
		loaded.err = fmt.Errorf("template set %q, %s: %w", name, describeConfigMap(object), err)
	}
	loaded.version = version
	return loaded
}
