// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// A Content is stored as ControllerRevisions in the operator's namespace. A small one has the digests of the parts,
// and each part is compressed in its own ControllerRevision. Revisions share parts, so that a changed value does not
// store the template sets again. Data of a ControllerRevision is immutable, so an upgrade of the operator writes its
// changes to annotations of the small one.

// recordFormat is the format of the stored data. A reader rejects other formats, because after a rollback of the
// operator the data may be from a later release.
const recordFormat = 1

// RecordError means that a stored revision cannot be used. A retry does not help.
type RecordError struct {
	Revision string
	Err      error
}

func (e *RecordError) Error() string { return fmt.Sprintf("stored revision %s: %s", e.Revision, e.Err) }
func (e *RecordError) Unwrap() error { return e.Err }

// RecordName returns the name of the ControllerRevision of a revision. The installation is identified by the name of
// the ConfigMap of its values.
func RecordName(installation, revision string) string { return installation + "-" + revision }

// partName returns the name of the ControllerRevision of a part with a digest.
func partName(installation, digest string) string { return installation + "-part-" + digest }

// record is the data of the ControllerRevision of a revision.
type record struct {
	Format int `json:"format"`
	contentDigests
}

// partRecord is the data of the ControllerRevision of a part.
type partRecord struct {
	Format int `json:"format"`
	// Content is the JSON of Files, compressed by gzip.
	Content []byte `json:"content"`
}

// Records returns the ControllerRevisions that store a Content. The parts have to be written first. The
// ControllerRevision of the revision has the number.
func (c *Content) Records(namespace, installation string, number int64) (partObjects []appsv1.ControllerRevision, object *appsv1.ControllerRevision, err error) {
	contentDigests := c.contentDigests()
	filesByDigest := map[string]Files{contentDigests.Values: c.Values}
	for name, digest := range contentDigests.Sets {
		filesByDigest[digest] = c.Sets[name]
	}
	digests := contentDigests.digests()
	if digest := c.BuiltIn.textDigest(); !c.BuiltIn.IsEmpty() && !slices.Contains(digests, digest) {
		filesByDigest[digest], digests = c.BuiltIn, append(digests, digest)
	}
	for _, digest := range digests {
		text, _ := json.Marshal(filesByDigest[digest]) // Maps of strings and bytes always marshal.
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		if _, err := writer.Write(text); err != nil {
			return nil, nil, fmt.Errorf("compressing a revision: %w", err)
		}
		if err := writer.Close(); err != nil {
			return nil, nil, fmt.Errorf("compressing a revision: %w", err)
		}
		partObjects = append(partObjects, newRecord(namespace, partName(installation, digest), meta.LabelRevisionPart, digest, 0, partRecord{recordFormat, packed.Bytes()}))
	}
	revision := contentDigests.revision()
	revisionObject := newRecord(namespace, RecordName(installation, revision), meta.LabelRevision, revision, number, record{recordFormat, *contentDigests})
	revisionObject.Annotations = c.annotations()
	return partObjects, &revisionObject, nil
}

// annotations returns the annotations of the ControllerRevision of the revision.
func (c *Content) annotations() map[string]string {
	if c.BuiltIn.IsEmpty() {
		return nil
	}
	samples, _ := json.Marshal(c.Samples) // Strings always marshal, with sorted keys.
	return map[string]string{meta.AnnotationBuiltIn: c.BuiltIn.textDigest(), meta.AnnotationSamples: string(samples)}
}

// IsStoredBy reports whether the ControllerRevision of the revision records the same built-in templates and samples as
// the content.
func (c *Content) IsStoredBy(object *appsv1.ControllerRevision) bool {
	for key, value := range c.annotations() {
		if object.Annotations[key] != value {
			return false
		}
	}
	return true
}

// newRecord returns a ControllerRevision with a label and a number, and with data as JSON.
func newRecord(namespace, name, label, value string, number int64, data any) appsv1.ControllerRevision {
	text, _ := json.Marshal(data) // Numbers, strings and bytes always marshal.
	return appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{
			label: value, meta.LabelManagedBy: meta.Operator,
		}},
		Data: runtime.RawExtension{Raw: text}, Revision: number,
	}
}

// PartNames returns the names of the part ControllerRevisions that the ControllerRevision of a revision refers to.
func PartNames(installation string, object *appsv1.ControllerRevision) ([]string, error) {
	read, err := readRecord(object)
	if err != nil {
		return nil, &RecordError{object.Labels[meta.LabelRevision], err}
	}
	var names []string
	for _, digest := range read.digests() {
		names = append(names, partName(installation, digest))
	}
	if digest := object.Annotations[meta.AnnotationBuiltIn]; digest != "" {
		names = append(names, partName(installation, digest))
	}
	return names, nil
}

// readRecord decodes the ControllerRevision of a revision.
func readRecord(object *appsv1.ControllerRevision) (*record, error) {
	read := &record{}
	return read, readData(object, &read.Format, read)
}

// readData decodes the data of a ControllerRevision. It returns an error if the decoded format is not recordFormat.
func readData(object *appsv1.ControllerRevision, format *int, into any) error {
	if err := bounded.StoredConfigMap().DecodeJSON(object.Data.Raw, into); err != nil {
		return fmt.Errorf("ControllerRevision %s: %w", object.Name, err)
	}
	if *format != recordFormat {
		return fmt.Errorf("ControllerRevision %s has format %d, and this release reads only format %d: it was stored by another release", object.Name, *format, recordFormat)
	}
	return nil
}

// ReadContent reads the Content of a stored revision. get returns a ControllerRevision by name, or nil if it does not
// exist. Errors of get are returned unchanged. Each other error is a *RecordError.
func ReadContent(installation, revision string, get func(name string) (*appsv1.ControllerRevision, error)) (*Content, error) {
	object, err := get(RecordName(installation, revision))
	if err != nil {
		return nil, err
	}
	if object == nil {
		return nil, &RecordError{revision, errors.New("the ControllerRevision does not exist")}
	}
	stored, err := readRecord(object)
	if err != nil {
		return nil, &RecordError{revision, err}
	}
	byDigest := map[string]Files{}
	for _, digest := range stored.digests() {
		partObject, err := get(partName(installation, digest))
		if err != nil {
			return nil, err
		}
		if partObject == nil {
			return nil, &RecordError{revision, fmt.Errorf("ControllerRevision %s is missing", partName(installation, digest))}
		}
		if byDigest[digest], err = readPart(partObject); err != nil {
			return nil, &RecordError{revision, err}
		}
	}
	content := &Content{Values: byDigest[stored.Values], Sets: map[string]Files{}, Roll: stored.Roll}
	for name, digest := range stored.Sets {
		content.Sets[name] = byDigest[digest]
	}
	if actual := content.Revision(); actual != revision {
		return nil, &RecordError{revision, fmt.Errorf("the ControllerRevision was changed: it has the content of revision %s", actual)}
	}
	if err := content.readBuiltIn(object, installation, get); err != nil {
		return nil, err
	}
	return content, nil
}

// readBuiltIn reads the stored built-in templates and the samples.
func (c *Content) readBuiltIn(object *appsv1.ControllerRevision, installation string, get func(name string) (*appsv1.ControllerRevision, error)) error {
	digest, isStored := object.Annotations[meta.AnnotationBuiltIn]
	if !isStored {
		return nil
	}
	if err := bounded.StoredConfigMap().DecodeJSON([]byte(object.Annotations[meta.AnnotationSamples]), &c.Samples); err != nil {
		return &RecordError{c.Revision(), fmt.Errorf("reading annotation %s of ControllerRevision %s: %w", meta.AnnotationSamples, object.Name, err)}
	}
	partObject, err := get(partName(installation, digest))
	if err != nil {
		return err
	}
	if partObject == nil {
		return &RecordError{c.Revision(), fmt.Errorf("ControllerRevision %s is missing", partName(installation, digest))}
	}
	if c.BuiltIn, err = readPart(partObject); err == nil && c.BuiltIn.textDigest() != digest {
		err = fmt.Errorf("ControllerRevision %s was changed by another client", partObject.Name)
	}
	if err != nil {
		return &RecordError{c.Revision(), err}
	}
	return nil
}

// readPart decodes the files of the ControllerRevision of a part.
func readPart(object *appsv1.ControllerRevision) (Files, error) {
	read, files := partRecord{}, Files{}
	if err := readData(object, &read.Format, &read); err != nil {
		return files, err
	}
	text, err := bounded.StoredConfigMap().Unzip(read.Content)
	if err == nil {
		err = bounded.StoredConfigMap().DecodeJSON(text, &files)
	}
	if err != nil {
		return files, fmt.Errorf("ControllerRevision %s: %w", object.Name, err)
	}
	return files, nil
}
