// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

func aContent() *Content {
	same := Files{Data: map[string]string{"_container.tpl": "{{/* one */}}"}, BinaryData: map[string][]byte{"logo": {0, 1, 255}}}
	return &Content{
		Values: Files{Data: map[string]string{"production.yaml": "sidecar: {logLevel: warn}"}},
		Sets:   map[string]Files{"default": same, "gateway": same},
	}
}

// stored are the ControllerRevisions of a content by name.
func stored(t *testing.T, of *Content) map[string]*appsv1.ControllerRevision {
	t.Helper()
	parts, whole, err := of.Records("vector-system", "values", 3)
	require.NoError(t, err)
	all := map[string]*appsv1.ControllerRevision{whole.Name: whole}
	for i := range parts {
		all[parts[i].Name] = &parts[i]
	}
	return all
}

func from(all map[string]*appsv1.ControllerRevision) func(string) (*appsv1.ControllerRevision, error) {
	return func(name string) (*appsv1.ControllerRevision, error) { return all[name], nil }
}

func TestReadContent_RestoresStoredContent(t *testing.T) {
	for name, content := range map[string]*Content{
		"whole": aContent(), "empty": {Sets: map[string]Files{}}, "of a release that rolls": {Sets: map[string]Files{}, Roll: "1"},
		"with the operator's own templates": {
			Sets: map[string]Files{}, BuiltIn: Files{Data: map[string]string{"Chart.yaml": "name: a"}}, Samples: map[string]string{"default": "0123"},
		},
	} {
		all := stored(t, content)
		read, err := ReadContent("values", content.Revision(), from(all))
		require.NoError(t, err, name)
		require.Equal(t, content, read, name)
		names, err := PartNames("values", all[RecordName("values", content.Revision())])
		require.NoError(t, err)
		require.Len(t, names, len(all)-1, "equal parts are stored once")
		for _, name := range names {
			require.Contains(t, all, name)
		}
	}
	require.Equal(t, aContent().Revision(), (&Content{Values: aContent().Values, Sets: aContent().Sets, BuiltIn: Files{Data: map[string]string{"a": "b"}}}).Revision(), "an upgrade alone is no revision")
	require.Equal(t, int64(3), stored(t, aContent())[RecordName("values", aContent().Revision())].Revision)
}

// A stored revision includes built-in templates. If another client has changed them, the revision is rejected.
func TestReadContent_ChecksStoredBuiltInTemplates(t *testing.T) {
	content := aContent()
	content.BuiltIn, content.Samples = Files{Data: map[string]string{"Chart.yaml": "name: a"}}, map[string]string{"default": "0123"}
	name, part := RecordName("values", content.Revision()), partName("values", content.BuiltIn.textDigest())
	all := stored(t, content)
	require.True(t, content.IsStoredBy(all[name]))
	other := *content
	other.Samples = map[string]string{"default": "4567"}
	require.False(t, other.IsStoredBy(all[name]))

	own := all[part].Data
	all[part].Data = all[partName("values", content.Values.textDigest())].Data
	_, err := ReadContent("values", content.Revision(), from(all))
	require.EqualError(t, err, "stored revision "+content.Revision()+": ControllerRevision "+part+" was changed by another client")
	all[part].Data = own

	samples := all[name].Annotations[meta.AnnotationSamples]
	all[name].Annotations[meta.AnnotationSamples] = "{"
	_, err = ReadContent("values", content.Revision(), from(all))
	var record *RecordError
	require.ErrorAs(t, err, &record)
	require.ErrorContains(t, err, "annotation "+meta.AnnotationSamples)
	all[name].Annotations[meta.AnnotationSamples] = samples

	delete(all, part)
	_, err = ReadContent("values", content.Revision(), from(all))
	require.ErrorAs(t, err, &record)
	require.ErrorContains(t, err, part+" is missing")
}

// The content of the largest possible ConfigMap can be stored within the limit of etcd's requests, 1.5 MiB, and
// restored.
func TestReadContent_RestoresLargestConfigMap(t *testing.T) {
	random := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	for name, files := range map[string]Files{
		"what cannot be compressed": {BinaryData: map[string][]byte{"a.tgz": random}},
		"what JSON escapes":         {Data: map[string]string{"a": strings.Repeat("\x01", 1<<20)}},
	} {
		content := &Content{Values: files, Sets: map[string]Files{}}
		all := stored(t, content)
		for _, one := range all {
			require.Less(t, one.Size(), 3<<19-10_000, name)
		}
		read, err := ReadContent("values", content.Revision(), from(all))
		require.NoError(t, err, name)
		require.Equal(t, content, read, name)
	}
}

// The revision is a digest of the installation's content. A change of any part of the content changes it.
func TestRevision_ChangesWithEachPartOfContent(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(*Content){
		"nothing":       func(*Content) {},
		"a value":       func(c *Content) { c.Values.Data["production.yaml"] = "{}" },
		"a file":        func(c *Content) { c.Sets["default"] = Files{} },
		"a set":         func(c *Content) { delete(c.Sets, "gateway") },
		"a roll":        func(c *Content) { c.Roll = "1" },
		"a set's name":  func(c *Content) { c.Sets["other"] = c.Sets["gateway"]; delete(c.Sets, "gateway") },
		"binary data":   func(c *Content) { c.Sets["default"] = Files{Data: c.Sets["default"].Data} },
		"a file's name": func(c *Content) { c.Values.Data = map[string]string{"a.yaml": c.Values.Data["production.yaml"]} },
	} {
		content := aContent()
		change(content)
		require.NotContains(t, seen, content.Revision(), name)
		seen[content.Revision()] = name
	}
}

// A stored revision that another client has modified is rejected.
func TestReadContent_RejectsModifiedRecords(t *testing.T) {
	revision := aContent().Revision()
	name, part := RecordName("values", revision), partName("values", aContent().Values.textDigest())
	change := func(of *appsv1.ControllerRevision, change func(map[string]any)) {
		data := map[string]any{}
		require.NoError(t, json.Unmarshal(of.Data.Raw, &data))
		change(data)
		of.Data.Raw, _ = json.Marshal(data)
	}
	packed := func(text string) []byte {
		var to bytes.Buffer
		writer := gzip.NewWriter(&to)
		_, err := writer.Write([]byte(text))
		require.NoError(t, errors.Join(err, writer.Close()))
		return to.Bytes()
	}
	for want, damage := range map[string]func(map[string]*appsv1.ControllerRevision){
		"the ControllerRevision does not exist": func(all map[string]*appsv1.ControllerRevision) { delete(all, name) },
		part + " is missing":                    func(all map[string]*appsv1.ControllerRevision) { delete(all, part) },
		name + " has format 3, and this release reads only format 1: it was stored by another release": func(all map[string]*appsv1.ControllerRevision) {
			change(all[name], func(data map[string]any) { data["format"] = 3 })
		},
		part + " has format 7": func(all map[string]*appsv1.ControllerRevision) {
			change(all[part], func(data map[string]any) { data["format"] = 7 })
		},
		"the ControllerRevision was changed": func(all map[string]*appsv1.ControllerRevision) {
			change(all[part], func(data map[string]any) { data["content"] = packed(`{"data": {"production.yaml": "{}"}}`) })
		},
		part + ": a stored ConfigMap has more than 8388608 bytes unpacked": func(all map[string]*appsv1.ControllerRevision) {
			change(all[part], func(data map[string]any) { data["content"] = packed(strings.Repeat(" ", 8<<20+1)) })
		},
		part + ": gzip: invalid header": func(all map[string]*appsv1.ControllerRevision) {
			change(all[part], func(data map[string]any) { data["content"] = []byte("this is no gzip") })
		},
		part + ": unexpected end of JSON input": func(all map[string]*appsv1.ControllerRevision) {
			change(all[part], func(data map[string]any) { data["content"] = packed("") })
		},
		name + ": invalid character": func(all map[string]*appsv1.ControllerRevision) { all[name].Data.Raw = []byte("?") },
	} {
		all := stored(t, aContent())
		damage(all)
		_, err := ReadContent("values", revision, from(all))
		require.ErrorContains(t, err, want)
		refused := &RecordError{}
		require.ErrorAs(t, err, &refused, "it stays so")
	}
	_, err := ReadContent("values", revision, func(string) (*appsv1.ControllerRevision, error) { return nil, errors.New("timeout") })
	require.EqualError(t, err, "timeout", "the API server's own errors stay what they are")
}
