// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Document is one document of a file, with its object.
type Document struct {
	// Source is the name of the file. Number is the number of the document in the file, and Line the line on which it
	// starts. Both start at 1.
	Source       string
	Number, Line int
	// Text is the document as written.
	Text []byte
	// Kind is the kind of the object, or "" for an empty document. Object is nil for kinds that the operator does not
	// use. Namespace is the namespace in the text, or "".
	Kind, Namespace string
	Object          client.Object
	// Duplicates is an error that names the keys that the document contains more than once, or nil for none. The last
	// value of such a key is used.
	Duplicates error
}

// Schema is the schema of a custom kind.
type Schema interface {
	// Complete changes an object to the object that the API server would store, and returns the paths of unknown
	// fields.
	Complete(object map[string]any) (unknownPaths []string)
	// Nearest returns the field that an unknown field is likely a typo of, or "" for none.
	Nearest(path string) string
}

// Schemas returns the schema of a kind, or nil if the kind has none. Its Go type then decodes the object.
type Schemas func(kind string) (Schema, error)

// UnknownFieldError reports a field that a kind does not have.
type UnknownFieldError struct {
	Path string
	// Nearest is the field that Path is likely a typo of, or "" for none.
	Nearest string
}

func (e *UnknownFieldError) Error() string {
	text := fmt.Sprintf("unknown field %q", e.Path)
	if e.Nearest != "" {
		text += fmt.Sprintf("; did you mean %s?", e.Nearest)
	}
	return text
}

// Files reads the documents in files and folders. The zero value does not read the standard input.
type Files struct {
	// Stdin is the file named "-".
	Stdin io.Reader
	// Recursive includes subfolders.
	Recursive bool
	// ReadFile replaces os.ReadFile if not nil.
	ReadFile func(name string) ([]byte, error)
	// Schemas decodes custom kinds as the API server does. If it is nil, their Go types decode them.
	Schemas Schemas
}

// Read reads all documents in the named files, and in the manifests of the named folders. The error names file and
// document.
func (f *Files) Read(names ...string) ([]Document, error) {
	var result []Document
	for _, name := range names {
		files, err := f.expandName(name)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := f.readText(file)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", file, err)
			}
			documents, err := Parse(file, text, f.Schemas)
			if err != nil {
				return nil, err
			}
			result = append(result, documents...)
		}
	}
	return result, nil
}

// readText reads a file, or standard input for the name "-".
func (f *Files) readText(file string) ([]byte, error) {
	switch {
	case file == "-" && f.Stdin == nil:
		return nil, nil
	case file == "-":
		return bounded.ReadStream(f.Stdin)
	case f.ReadFile != nil:
		return f.ReadFile(file)
	}
	return ReadFile(file)
}

// ReadFile reads a file that may have many documents.
func ReadFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := bounded.ReadStream(file)
	return text, errors.Join(err, file.Close())
}

// extensions are the file extensions of manifests in folders.
var extensions = []string{".json", ".yaml", ".yml"}

// expandName returns the manifests in a folder, by name, or the file itself. A folder without manifests is an error: the
// name may be mistyped, or the manifests may be in subfolders.
func (f *Files) expandName(name string) ([]string, error) {
	if f.ReadFile != nil {
		return []string{name}, nil
	}
	if !isFolder(name) {
		return []string{name}, nil // Reading it reports the error.
	}
	var files []string
	hint := ""
	err := Walk(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != name && !f.Recursive:
			hint = ", and subfolders are read only with --recursive"
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains(extensions, filepath.Ext(path)):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading folder %s: %w", name, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("reading folder %s: the folder has no manifests; recognized file extensions are %s%s", name, strings.Join(extensions, ", "), hint)
	}
	return files, nil
}

// Walk visits the files below a name from a user, as filepath.WalkDir does. If the name is a link to a folder, Walk
// reads that folder. Links in the folder are not followed.
func Walk(name string, visit fs.WalkDirFunc) error {
	root := name
	if isFolder(name) {
		root += string(filepath.Separator)
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if path == root {
			path = name
		}
		return visit(path, entry, err)
	})
}

// isFolder reports whether a name is a folder. It follows links, and returns false for an error.
func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// Parse reads the documents of a text. The name of the source is for errors, and the Schemas may be nil.
func Parse(source string, text []byte, schemas Schemas) ([]Document, error) {
	var documents []Document
	for _, document := range SplitDocuments(text) {
		document.Source = source
		items, err := document.Decode(schemas)
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", source, document.Number, err)
		}
		documents = append(documents, items...)
	}
	return documents, nil
}

// SplitDocuments splits a text into its documents without parsing them, and drops the empty ones.
func SplitDocuments(text []byte) []Document {
	documents := []Document{{Line: 1}}
	line := 0
	for content := range bytes.Lines(text) {
		line++
		rest, isMark := bytes.CutPrefix(content, []byte("---"))
		if !isMark { // The mark ... ends a document. The next document may start without ---.
			rest, isMark = bytes.CutPrefix(content, []byte("..."))
		}
		if rest = bytes.TrimSpace(rest); isMark && (len(rest) == 0 || rest[0] == '#') {
			documents = append(documents, Document{Line: line + 1})
			continue
		}
		last := &documents[len(documents)-1]
		last.Text = append(last.Text, content...)
	}
	documents = slices.DeleteFunc(documents, func(d Document) bool { return len(bytes.TrimSpace(d.Text)) == 0 })
	for i := range documents {
		documents[i].Number = i + 1
	}
	return documents
}

// Decode returns the document with its object, or the items of a List as documents. The Schemas may be nil.
func (d *Document) Decode(schemas Schemas) ([]Document, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Items      []any  `json:"items"`
	}
	if err := bounded.Object().DecodeYAML(d.Text, &head); err != nil {
		return nil, simplifyError(err)
	}
	d.Kind = head.Kind
	if d.Object = newObject(head.APIVersion, d.Kind); d.Object == nil {
		if item, isList := strings.CutSuffix(d.Kind, "List"); isList && (item == "" || newObject(head.APIVersion, item) != nil) {
			return d.decodeItems(head.Items, schemas)
		}
		return []Document{*d}, nil
	}
	var schema Schema
	if schemas != nil {
		found, err := schemas(d.Kind)
		if err != nil {
			return nil, err
		}
		schema = found
	}
	if err := d.decode(schema); err != nil {
		return nil, fmt.Errorf("%s: %w", d.Kind, err)
	}
	if content, ok := workload.Read(d.Object); ok && content.Unread.Text() != "" {
		return nil, fmt.Errorf("%s: %s", d.Kind, content.Unread.Text())
	}
	d.Namespace = d.Object.GetNamespace()
	return []Document{*d}, nil
}

// newObject returns an empty object of a kind, or nil if the kind is not used. A kind of another group may have the
// same name as a kind of the operator.
func newObject(apiVersion, kind string) client.Object {
	switch kind {
	case "ConfigMap":
		return &corev1.ConfigMap{}
	case "ServiceAccount":
		return &corev1.ServiceAccount{}
	case "Namespace":
		return &corev1.Namespace{}
	case "VectorSidecar":
		return &v1alpha1.VectorSidecar{}
	case "ClusterVectorSidecar":
		return &v1alpha1.ClusterVectorSidecar{}
	}
	workloadKind := workload.KindByName(kind)
	if workloadKind != nil && (!workloadKind.Traits.OptionalAPI || strings.HasPrefix(apiVersion, workloadKind.Group+"/")) {
		return workloadKind.New()
	}
	return nil
}

// decode decodes the text into the object. The error reports all unknown fields, each with its path.
func (d *Document) decode(schema Schema) error {
	if schema == nil {
		document, err := bounded.Object().ReadDocument(d.Text)
		if err != nil {
			return err
		}
		return decodeStrictly(document, d.Object)
	}
	document, duplicates, err := bounded.Object().ReadLastKeys(d.Text)
	if err != nil {
		return err
	}
	var object map[string]any
	if _, err := document.DecodeStrictly(&object); err != nil {
		return err
	}
	var errs []error
	for _, path := range schema.Complete(object) {
		errs = append(errs, &UnknownFieldError{path, schema.Nearest(path)})
	}
	completed, err := bounded.Encode(object)
	if err != nil {
		return err
	}
	d.Duplicates = duplicates
	return errors.Join(append(errs, decodeStrictly(completed, d.Object))...)
}

// decodeStrictly reports all unknown fields, each with its path.
func decodeStrictly(document *bounded.Document, into any) error {
	if lenient, isLenient := into.(interface{ Strict() any }); isLenient {
		into = lenient.Strict()
	}
	findings, err := document.DecodeStrictly(into)
	return errors.Join(append(findings, err)...)
}

// simplifyError returns an error about apiVersion, kind and metadata without the prefix of a library, and without Go
// types.
func simplifyError(err error) error {
	var wrong *bounded.WrongTypeError
	if errors.As(err, &wrong) {
		actual := map[string]string{"array": "a list", "bool": "a boolean", "object": "an object"}[wrong.Value]
		if actual == "" { // Messages show a number with its digits.
			actual = "a " + wrong.Value
		}
		switch {
		case wrong.Field != "":
			expected := "a string"
			if wrong.Field == "items" {
				expected = "a list"
			}
			return fmt.Errorf("field %s: expected %s, got %s", wrong.Field, expected, actual)
		case wrong.Value == "array":
			return errors.New("expected an object with apiVersion, kind and metadata, got a list: write each object as a separate document (---), or all objects as items of kind: List")
		}
		return fmt.Errorf("expected an object with apiVersion, kind and metadata, got %s", actual)
	}
	if text, isLibrary := strings.CutPrefix(err.Error(), "error converting YAML to JSON: "); isLibrary {
		return errors.New(text)
	}
	return err
}

// decodeItems decodes the items of a Kubernetes List. Each has the source, the number and the line of the List.
func (d *Document) decodeItems(list []any, schemas Schemas) ([]Document, error) {
	var documents []Document
	for _, item := range list {
		text, err := yaml.Marshal(item)
		if err != nil {
			return nil, err
		}
		inner := Document{Source: d.Source, Number: d.Number, Line: d.Line, Text: text}
		decoded, err := inner.Decode(schemas)
		if err != nil {
			return nil, err
		}
		documents = append(documents, decoded...)
	}
	return documents, nil
}
