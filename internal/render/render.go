// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package render executes a sidecar chart, which is an ordinary Helm chart, with values and a target workload. It
// returns the overlay that is merged into the workload, and the companion ConfigMaps. It checks that the output can
// only add to a pod. It makes no API calls.
package render

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Request contains all inputs of a rendering.
type Request struct {
	Chart  *Chart
	Values environment.Values
	// Sidecar is the name of the VectorSidecar, which templates read as .Release. For a ClusterVectorSidecar it is
	// meta.ObjectName.
	Sidecar types.NamespacedName
	// Target is the workload, which templates read as .Values.target. If it is nil, the sample in the values of the
	// chart is used.
	Target *workload.View
	// KubeVersion of the API server, such as "v1.36.0".
	KubeVersion string
	// Cluster contains the other properties of the cluster.
	Cluster Cluster
}

// Result is the result of a rendering.
type Result struct {
	Overlay workload.Overlay
	// Template is the name of the template that rendered the overlay.
	Template string
	// ReadTarget lists the reads of the target by the templates. All targets with equal reads have the same result,
	// or the same error.
	ReadTarget []tree.Read
	// IsNamespaceIndependent reports whether the result is the same in every namespace, except for the namespace of the companions
	// (see CompanionsFor).
	IsNamespaceIndependent bool
	// Companions are applied in the namespace of the workload. Each is immutable and named by its content, unless
	// Vector reloads its configuration (sidecar.reload).
	Companions []corev1.ConfigMap
}

// SidecarError means that the templates rendered something that must not be injected.
type SidecarError struct{ Err error }

func (e *SidecarError) Error() string { return e.Err.Error() }
func (e *SidecarError) Unwrap() error { return e.Err }

// Render executes the chart and checks its output. If the output is invalid, the error is a *SidecarError. Other
// errors come from the templates. With an error, the result has only ReadTarget.
func Render(ctx context.Context, request Request) (*Result, error) {
	output, err := executeChart(ctx, request)
	failed := &Result{ReadTarget: output.ReadTarget}
	if err != nil {
		return failed, err
	}
	result, err := parseOutput(output, request)
	if err != nil {
		return failed, &SidecarError{err}
	}
	return result, nil
}

// executeChart executes the chart of a request, with the cluster and the target added to the values.
func executeChart(ctx context.Context, request Request) (Output, error) {
	values := maps.Clone(request.Values.Tree)
	values["cluster"] = request.Cluster.templateValues(request.KubeVersion)
	if request.Target != nil {
		values["target"] = request.Target.Values()
	}
	release := Release{Name: meta.ObjectName(request.Sidecar.Name), Namespace: request.Sidecar.Namespace}
	return request.Chart.Execute(ctx, release, values, request.KubeVersion)
}

// parseOutput parses the rendered files.
func parseOutput(output Output, request Request) (*Result, error) {
	result := &Result{ReadTarget: output.ReadTarget, IsNamespaceIndependent: !output.ReadsNamespace}
	for _, name := range slices.Sorted(maps.Keys(output.Files)) {
		if path.Base(name) == "NOTES.txt" {
			continue
		}
		if err := result.addDocuments(name, output.Files[name], request); err != nil {
			return nil, fmt.Errorf("%s: %w%s", name, err, templatePosition(request.Chart, err))
		}
	}
	if result.Template == "" {
		return nil, errors.New("no template renders a PodTemplate; add a template with the PodTemplate to merge into the workload")
	}
	return result, nil
}

// templatePosition returns the template line that an invalid line of rendered YAML comes from, as a text in
// parentheses. Users see only the templates. The result is "" if the line is unknown.
func templatePosition(chart *Chart, err error) string {
	var bad *yamlLineError
	if !errors.As(err, &bad) {
		return ""
	}
	if location := chart.templatePosition(bad.line); location != "" {
		return " (written at " + location + ")"
	}
	return ""
}

// addDocuments adds the YAML documents of one file.
func (r *Result) addDocuments(name, text string, request Request) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = r.addDocument(name, string(document), request)
		}
		if err != nil {
			return err
		}
	}
}

// addDocument adds one YAML document: the PodTemplate, or a companion. A document with only comments is ignored.
func (r *Result) addDocument(name, text string, request Request) error {
	document, err := bounded.Rendering().ReadDocument([]byte(text))
	if err != nil {
		return yamlError(text, err)
	}
	kind, err := documentKind(document)
	switch {
	case err != nil || kind == "":
		return err
	case kind == "PodTemplate" && r.Template != "":
		return fmt.Errorf("second PodTemplate: the first one is in %s; a chart may have only one", r.Template)
	case kind == "PodTemplate":
		r.Template = name
		r.Overlay, err = newOverlay(document, &request)
		return err
	case kind == "ConfigMap":
		return r.addConfigMap(document, request)
	}
	return fmt.Errorf("kind %s is neither a PodTemplate nor a ConfigMap", kind)
}

// documentKind returns the kind of a rendered document, "" if the document has only comments.
func documentKind(document *bounded.Document) (string, error) {
	var object any
	if err := document.Decode(&object); err != nil {
		return "", fmt.Errorf("parsing the rendered YAML: %w", err)
	}
	switch object := object.(type) {
	case nil:
		return "", nil
	case map[string]any:
		if kind, ok := object["kind"].(string); ok && kind != "" {
			return kind, nil
		}
		return "", errors.New("rendered an object without a kind; expected a PodTemplate or a ConfigMap")
	case []any:
		return "", errors.New("rendered a list; expected a PodTemplate or a ConfigMap")
	}
	return "", fmt.Errorf("rendered a string, %.40q; expected a PodTemplate or a ConfigMap; the name of a file that only defines templates must start with _", strings.TrimSpace(fmt.Sprint(object)))
}

// addConfigMap adds a rendered ConfigMap to the companions, in the namespace of the sidecar.
func (r *Result) addConfigMap(document *bounded.Document, request Request) error {
	sidecar := request.Sidecar
	var object corev1.ConfigMap
	if err := decodeStrictly(document, &object); err != nil {
		return err
	}
	switch {
	case object.Name == "":
		return errors.New("metadata.name is empty")
	case object.Namespace != "" && object.Namespace != sidecar.Namespace:
		return fmt.Errorf("metadata.namespace is %q, but a VectorSidecar writes only to its own namespace, %q", object.Namespace, sidecar.Namespace)
	case (object.Immutable == nil || !*object.Immutable) && !request.Reloads():
		return errors.New("immutable is not true; set immutable and name the ConfigMap by its content, unless sidecar.reload is Live")
	}
	r.IsNamespaceIndependent = r.IsNamespaceIndependent && object.Namespace == "" // An explicit namespace is valid for that namespace only.
	object.Namespace = sidecar.Namespace
	r.Companions = append(r.Companions, object)
	return nil
}

// CompanionsFor returns a copy, for one namespace, of the companions of a result that is for all namespaces.
func (r *Result) CompanionsFor(namespace string) []corev1.ConfigMap {
	companions := make([]corev1.ConfigMap, len(r.Companions))
	for i := range r.Companions {
		r.Companions[i].DeepCopyInto(&companions[i])
		companions[i].Namespace = namespace
	}
	return companions
}

// Environment returns the name of the environment of the values.
func (r *Request) Environment() string {
	name, _ := r.Values.Tree["environment"].(string)
	return name
}

// Reloads reports whether Vector reloads its configuration without a restart.
func (r *Request) Reloads() bool {
	sidecar, _ := r.Values.Tree["sidecar"].(map[string]any)
	return sidecar["reload"] == "Live"
}
