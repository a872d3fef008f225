// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
)

// settlingTest is an installation whose ConfigMaps change, and a clock.
type settlingTest struct {
	t        *testing.T
	settling *Settling
	now      time.Time
	start    time.Time
	maps     map[string]*corev1.ConfigMap
	version  int
}

const (
	valuesName  = "vso-vector-sidecar-operator-environments"
	defaultName = "vso-vector-sidecar-operator-templates-default"
	gatewayName = "vso-vector-sidecar-operator-templates-gateway"
)

func newSettlingTest(t *testing.T) *settlingTest {
	t.Helper()
	start := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	s := &settlingTest{t: t, settling: NewSettling(0), now: start, start: start, maps: map[string]*corev1.ConfigMap{}}
	s.write(valuesName, "", "development.yaml", "{}")
	return s
}

// restart makes a process that has published nothing.
func (s *settlingTest) restart() { s.settling = NewSettling(0) }

func (s *settlingTest) at(after time.Duration) { s.now = s.start.Add(after) }

// write writes a ConfigMap now, as kubectl does: a template set if set is not empty.
func (s *settlingTest) write(name, set, key, text string) *corev1.ConfigMap {
	s.version++
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "vector-system", Name: name, ResourceVersion: strconv.Itoa(s.version),
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "kubectl", Time: &metav1.Time{Time: s.now},
				FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + meta.AnnotationTemplateSets + `":{}}}}`),
			}},
		},
		Data: map[string]string{key: text},
	}
	if set != "" {
		object.Labels = map[string]string{meta.LabelTemplateSet: set}
	}
	if before := s.maps[name]; before != nil {
		object.Annotations = before.Annotations
	}
	s.maps[name] = object
	return object
}

// annotate sets an annotation of the installation's ConfigMap.
func (s *settlingTest) annotate(key, value string) {
	s.version++
	object := s.maps[valuesName].DeepCopy()
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, key, value)
	object.ResourceVersion = strconv.Itoa(s.version)
	s.maps[valuesName] = object
}

// list lists ConfigMaps with some content in the installation's values, as the chart does.
func (s *settlingTest) list(texts map[string]string) {
	digests := map[string]string{}
	for name, text := range texts {
		digests[name] = fleet.Files{Data: map[string]string{"a.tpl": text}}.Checksum()
	}
	text, err := json.Marshal(digests)
	require.NoError(s.t, err)
	s.annotate(meta.AnnotationTemplateSets, string(text))
}

func (s *settlingTest) present() PlatformConfigMaps {
	all := PlatformConfigMaps{Installation: s.maps[valuesName]}
	for name, object := range s.maps {
		if name != valuesName {
			all.Sets = append(all.Sets, *object)
		}
	}
	return all
}

func (s *settlingTest) next() *Settled { return s.settling.Update(s.present(), s.now) }

// published returns the published text of a ConfigMap, "" for none.
func (s *settlingTest) published(name string) string {
	published := s.next().Published
	if published == nil {
		return ""
	}
	for _, object := range append(published.Sets, *published.Installation) {
		if object.Name == name {
			return slices.Collect(maps.Values(object.Data))[0]
		}
	}
	return ""
}

// The ConfigMaps of a release are published together, in whatever order they are written.
func TestSettling_PublishesReleaseAsOneRevision(t *testing.T) {
	installed := func(t *testing.T) *settlingTest {
		t.Helper()
		s := newSettlingTest(t)
		s.write(defaultName, "default", "a.tpl", "one")
		s.list(map[string]string{defaultName: "one"})
		require.Equal(t, "one", s.published(defaultName), "without a delay")
		return s
	}
	values := func(s *settlingTest) { s.write(valuesName, "", "development.yaml", "two") }
	for name, steps := range map[string][]func(*settlingTest){
		"values before the set": {
			func(s *settlingTest) { values(s); s.list(map[string]string{defaultName: "two"}) },
			func(s *settlingTest) { s.write(defaultName, "default", "a.tpl", "two") },
		},
		"the set before values": {
			func(s *settlingTest) { s.write(defaultName, "default", "a.tpl", "two") },
			func(s *settlingTest) { values(s); s.list(map[string]string{defaultName: "two"}) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := installed(t)
			for i, step := range steps {
				step(s)
				s.at(time.Duration(i+1) * time.Hour)
				if i < len(steps)-1 {
					require.Equal(t, "{}", s.published(valuesName))
					require.Equal(t, "one", s.published(defaultName))
				}
			}
			require.Equal(t, "two", s.published(valuesName))
			require.Equal(t, "two", s.published(defaultName))
			require.Nil(t, s.next().Wait)
		})
	}
	t.Run("a new set is ignored until the values list it", func(t *testing.T) {
		s := installed(t)
		s.write(gatewayName, "gateway", "a.tpl", "new")
		require.Empty(t, s.published(gatewayName))
		require.Nil(t, s.next().Wait)
		s.list(map[string]string{defaultName: "one", gatewayName: "new"})
		require.Equal(t, "new", s.published(gatewayName))
	})
	t.Run("a removed set is ignored until it is deleted", func(t *testing.T) {
		s := installed(t)
		s.list(nil)
		require.Empty(t, s.published(defaultName))
		require.Nil(t, s.next().Wait)
	})
	t.Run("a set that was written by hand waits for the quiet period", func(t *testing.T) {
		s := installed(t)
		s.write("by-hand", "own", "a.tpl", "hand")
		require.Empty(t, s.published("by-hand"))
		s.at(5 * time.Second)
		require.Equal(t, "hand", s.published("by-hand"))
	})
	t.Run("a release without sets", func(t *testing.T) {
		s := newSettlingTest(t)
		s.annotate(meta.AnnotationTemplateSets, "{}")
		values(s)
		require.Equal(t, "two", s.published(valuesName))
		s.write(valuesName, "", "development.yaml", "three")
		require.Equal(t, "three", s.published(valuesName))
	})
}

// ConfigMaps that the values do not list are published when they have not changed for some seconds.
func TestSettling_PublishesUnlistedConfigMapsAfterDelay(t *testing.T) {
	s := newSettlingTest(t)
	s.at(time.Hour)
	require.Equal(t, "{}", s.published(valuesName))
	write := func(after time.Duration, text string) {
		s.at(time.Hour + after)
		s.write(valuesName, "", "development.yaml", text)
		s.next()
	}
	write(0, "two")
	require.Equal(t, s.start.Add(time.Hour+5*time.Second), s.settling.NextChange())
	s.at(time.Hour + 4*time.Second)
	s.annotate(meta.AnnotationStopWrites, "true")
	require.Equal(t, "true", s.next().Published.Installation.Annotations[meta.AnnotationStopWrites], "annotations take effect at once")
	require.Equal(t, "{}", s.published(valuesName))
	s.at(time.Hour + 5*time.Second)
	require.Equal(t, "two", s.published(valuesName), "an annotation is no content")
	published := s.next()
	require.Same(t, published, s.next(), "as long as nothing changes")

	write(time.Minute, "three")
	write(time.Minute+time.Second, "two")
	require.Nil(t, s.next().Wait, "what is published already waits for nothing")

	for i := range 20 {
		write(time.Hour+time.Duration(i)*3*time.Second, "four "+strconv.Itoa(i))
	}
	s.at(2*time.Hour + 60*time.Second)
	require.Equal(t, "four 19", s.published(valuesName), "at most a minute")
	require.Zero(t, s.settling.NextChange())
}

// At its start, the operator publishes ConfigMaps at once if they have not changed for some seconds. Otherwise, it
// waits.
func TestSettling_WaitsAtStartIfJustChanged(t *testing.T) {
	t.Run("that have been quiet", func(t *testing.T) {
		s := newSettlingTest(t)
		s.at(5 * time.Second)
		require.Equal(t, "{}", s.published(valuesName))
	})
	t.Run("that have just changed", func(t *testing.T) {
		s := newSettlingTest(t)
		s.at(2 * time.Second)
		settled := s.next()
		require.Nil(t, settled.Published)
		require.NotEmpty(t, settled.Wait.Message)
		require.Equal(t, s.start.Add(5*time.Second), s.settling.NextChange())
		s.at(5 * time.Second)
		require.Equal(t, "{}", s.published(valuesName))
	})
	t.Run("that are as they were published last", func(t *testing.T) {
		s := newSettlingTest(t)
		s.maps[valuesName].Data[PolicyKey] = "images: {requireTag: true}"
		s.maps[valuesName].Data[RolloutKey] = "halt: {}"
		require.Nil(t, s.next().Published)
		s.settling.Restore(&fleet.Content{Values: fleet.Files{Data: map[string]string{
			"development.yaml": "{}", PolicyKey: "{\n  \"images\": {\n    \"requireTag\": true\n  }\n}",
		}}}, s.present())
		settled := s.next()
		require.Nil(t, settled.Wait)
		require.Equal(t, s.maps[valuesName], settled.Published.Installation)
	})
	t.Run("that are not as they were published last", func(t *testing.T) {
		s := newSettlingTest(t)
		s.maps[valuesName].Data[RolloutKey] = "halt: {}"
		require.Nil(t, s.next().Published)
		s.settling.Restore(&fleet.Content{
			Values: fleet.Files{Data: map[string]string{"development.yaml": "before"}},
			Sets:   map[string]fleet.Files{"gateway": {Data: map[string]string{"a.tpl": "stored"}}},
		}, s.present())
		settled := s.next()
		require.NotNil(t, settled.Wait)
		require.Equal(t, map[string]string{"development.yaml": "before", RolloutKey: "halt: {}"}, settled.Published.Installation.Data)
		require.Equal(t, "stored", s.published(gatewayName))
		s.at(5 * time.Second)
		require.Nil(t, s.next().Wait)
	})
}

// A listed template set that is missing, or has other content than listed, is reported after a minute.
func TestSettling_ReportsMissingTemplateSets(t *testing.T) {
	s := newSettlingTest(t)
	s.write(defaultName, "default", "a.tpl", "one")
	s.list(map[string]string{defaultName: "one"})
	s.next()
	s.at(time.Hour)
	s.list(map[string]string{defaultName: "two", gatewayName: "new"})
	settled := s.next()
	require.Empty(t, settled.Wait.Overdue)
	require.Equal(t, "one", s.published(defaultName))
	require.Equal(t, s.start.Add(time.Hour+time.Minute), s.settling.NextChange())
	for _, key := range []string{meta.AnnotationStopWrites, meta.AnnotationUndoRollout, meta.AnnotationPromoteRollout, meta.AnnotationRetryRollout} {
		s.annotate(key, "text")
		require.Equal(t, "text", s.next().Published.Installation.Annotations[key], "annotations take effect at once")
		require.Equal(t, "one", s.published(defaultName))
	}

	s.at(time.Hour + time.Minute)
	overdue := s.next().Wait.Overdue
	require.Len(t, overdue, 2)
	require.Equal(t, "ConfigMap vector-system/"+defaultName+" does not have the content that the installation's values list", overdue[0].String())
	require.Equal(t, "ConfigMap vector-system/"+gatewayName+" does not exist, but the installation's values list it", overdue[1].String())
	require.Zero(t, s.settling.NextChange(), "only another write changes that")

	s.restart()
	require.Nil(t, s.next().Published, "a list that does not fit publishes nothing")
	s.write(defaultName, "default", "a.tpl", "two")
	s.write(gatewayName, "gateway", "a.tpl", "new")
	require.Equal(t, "new", s.published(gatewayName))
}

// Deleted ConfigMaps are not published as empty ones.
func TestSettling_KeepsDeletedConfigMaps(t *testing.T) {
	missing := func(s *settlingTest) *Settled {
		s.version++
		gone := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "vector-system", Name: valuesName}}
		return s.settling.Update(PlatformConfigMaps{Installation: gone, LacksInstallation: true, Sets: s.present().Sets}, s.now)
	}
	t.Run("of the values", func(t *testing.T) {
		s := newSettlingTest(t)
		s.annotate(meta.AnnotationStopWrites, "true")
		s.at(time.Minute)
		require.Equal(t, "{}", s.published(valuesName))
		s.at(time.Hour)
		require.Empty(t, missing(s).Wait.Overdue)
		s.at(2 * time.Hour)
		settled := missing(s)
		require.Equal(t, map[string]string{"development.yaml": "{}"}, settled.Published.Installation.Data)
		require.Equal(t, "true", settled.Published.Installation.Annotations[meta.AnnotationStopWrites], "the stop stays")
		require.Len(t, settled.Wait.Overdue, 1)
		require.Equal(t, "ConfigMap vector-system/"+valuesName+" does not exist, but the operator reads the installation's values from it (--environments-configmap)",
			settled.Wait.Overdue[0].String())
		require.Zero(t, s.settling.NextChange())

		s.write(valuesName, "", "development.yaml", "sidecar: {}")
		require.NotNil(t, s.next().Wait, "until it is quiet")
		s.at(2*time.Hour + DefaultQuiet)
		require.Equal(t, "sidecar: {}", s.published(valuesName))
	})
	t.Run("of the values, before a start", func(t *testing.T) {
		s := newSettlingTest(t)
		settled := missing(s)
		require.Nil(t, settled.Published)
		require.Contains(t, settled.Wait.Message, "does not exist")
		s.at(time.Hour)
		require.Nil(t, missing(s).Published)
	})
	t.Run("of the values, while a list waits", func(t *testing.T) {
		s := newSettlingTest(t)
		s.at(time.Minute)
		s.next()
		s.list(map[string]string{defaultName: "one"})
		s.annotate(meta.AnnotationStopWrites, "true")
		require.NotNil(t, s.next().Wait)
		require.Equal(t, "true", missing(s).Published.Installation.Annotations[meta.AnnotationStopWrites])
	})
	t.Run("of a template set that an environment uses", func(t *testing.T) {
		s := newSettlingTest(t)
		s.write("gateway", "gateway", "a.tpl", "one")
		s.write(valuesName, "", "development.yaml", "templateSet: gateway")
		s.at(time.Minute)
		require.Equal(t, "one", s.published("gateway"))
		delete(s.maps, "gateway")
		s.at(time.Hour)
		require.Equal(t, "one", s.published("gateway"))
		s.at(2 * time.Hour)
		require.Equal(t, `ConfigMap vector-system/gateway does not exist, but key development.yaml of the installation's values uses template set "gateway"`,
			s.next().Wait.Overdue[0].String())

		s.write(valuesName, "", "development.yaml", "{}")
		s.next()
		s.at(2*time.Hour + DefaultQuiet)
		require.Nil(t, s.next().Wait, "nothing uses it")
		require.Empty(t, s.published("gateway"))
	})
	t.Run("of a template set that moved to another ConfigMap", func(t *testing.T) {
		s := newSettlingTest(t)
		s.write("gateway", "gateway", "a.tpl", "one")
		s.write(valuesName, "", "development.yaml", "templateSet: gateway")
		s.at(time.Minute)
		s.next()
		delete(s.maps, "gateway")
		s.write("other", "gateway", "a.tpl", "one")
		require.Nil(t, s.next().Wait)
	})
	t.Run("of a template set that nothing uses", func(t *testing.T) {
		s := newSettlingTest(t)
		s.write("gateway", "gateway", "a.tpl", "one")
		s.at(time.Minute)
		require.Equal(t, "one", s.published("gateway"))
		delete(s.maps, "gateway")
		require.Equal(t, "one", s.published("gateway"), "until it is quiet")
		s.at(time.Minute + DefaultQuiet)
		require.Empty(t, s.published("gateway"))
	})
}

// An upgrade removes a template set from the list. The set stays published until all other ConfigMaps of the upgrade
// are written.
func TestSettling_KeepsRemovedSetsUntilUpgradeEnds(t *testing.T) {
	s := newSettlingTest(t)
	s.write(defaultName, "default", "a.tpl", "one")
	s.write(gatewayName, "gateway", "a.tpl", "gateway")
	s.list(map[string]string{defaultName: "one", gatewayName: "gateway"})
	require.Len(t, s.next().Published.FilterListed().Sets, 2)
	s.list(map[string]string{defaultName: "two"})
	settled := s.next()
	require.NotNil(t, settled.Wait)
	require.Len(t, settled.Published.FilterListed().Sets, 2)
	s.restart()
	require.Nil(t, s.next().Published)
	s.settling.Restore(&fleet.Content{Sets: map[string]fleet.Files{"default": {}, "gateway": {}}}, s.present())
	require.Len(t, s.next().Published.FilterListed().Sets, 2)
	s.write(defaultName, "default", "a.tpl", "two")
	require.Nil(t, s.next().Wait)
	require.Len(t, s.next().Published.FilterListed().Sets, 1)
}

// A stricter policy applies before its revision is published. A looser policy applies only with its revision.
func TestPlatform_AwaitingAppliesStricterPolicy(t *testing.T) {
	for name, test := range map[string]struct{ published, present, want string }{
		"stricter": {"", "users: {min: 1000}", "min"},
		"looser":   {"users: {min: 1000}", "", "min"},
		"other":    {"users: {min: 1000}", "users: {max: 2000}", "max min"},
		"broken":   {"users: {min: 1000}", "users: {max: x}", "min"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSystem(t)
			s.install(map[string]string{PolicyKey: test.published})
			now, _ := s.update()
			s.install(map[string]string{PolicyKey: test.present})
			waiting := now.Awaiting(&Wait{ConfigMaps: PlatformConfigMaps{Installation: s.installation}})
			require.Equal(t, test.want, bounds(waiting))
			require.Equal(t, test.want, bounds(now.WithCurrent(waiting)))
		})
	}
}

// bounds names the bounds of users that some policy in force has.
func bounds(platform *Platform) string {
	var names []string
	_ = platform.Policy.CheckEach(func(rules *policy.Policy) error {
		if rules.Users.Min != nil {
			names = append(names, "min")
		}
		if rules.Users.Max != nil {
			names = append(names, "max")
		}
		return nil
	})
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}
