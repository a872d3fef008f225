// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// objects contains the objects in all files, which are checked together.
type objects struct {
	linter    *Linter
	world     *source.ObjectOverlay
	documents []source.Document
}

// addFile decodes the objects in a file and adds the valid objects. It returns findings for invalid objects.
func (o *objects) addFile(ctx context.Context, file File) []Finding {
	var findings []Finding
	for _, document := range source.SplitDocuments(file.Text) {
		document.Source = file.Name
		read, err := document.Decode(o.linter.schemaFor)
		if err != nil {
			documentFindings := decodeFindings(&document, err)
			if document.Kind == "VectorSidecar" || document.Kind == "ClusterVectorSidecar" {
				rejected := o.rejectionFindings(ctx, &document, unknownFields(documentFindings, err))
				documentFindings = withoutGoErrors(documentFindings, rejected)
				documentFindings = append(documentFindings, rejected...)
			}
			findings = append(findings, documentFindings...)
		}
		for _, objectDocument := range read {
			if objectDocument.Duplicates != nil {
				findings = append(findings, decodeFindings(&document, objectDocument.Duplicates)...)
			}
			o.putDocument(objectDocument)
		}
	}
	return findings
}

// putDocument adds an object to the objects that are checked together. A workload counts as rolled out.
func (o *objects) putDocument(document source.Document) {
	if document.Object == nil {
		return
	}
	switch document.Object.(type) {
	case *corev1.Namespace, *v1alpha1.ClusterVectorSidecar: // These kinds have no namespace.
	default:
		document.Object.SetNamespace(cmp.Or(document.Object.GetNamespace(), metav1.NamespaceDefault))
	}
	if object, ok := workload.ToObject(document.Object); ok {
		workload.SetFinishedStatus(object)
	}
	o.world.Put(document.Object)
	o.documents = append(o.documents, document)
}

// rejectionFindings returns findings for the errors that the API server would report about an object. It leaves out
// errors at the position or with the text of a finding that already exists.
func (o *objects) rejectionFindings(ctx context.Context, document *source.Document, findings []Finding) []Finding {
	schema, err := o.linter.definitionFor(document.Kind)
	if schema == nil || err != nil {
		return nil // The built-in definition is always valid.
	}
	positions := newPositions(document.Text, document.Line)
	var rejected []Finding
	rejections := schema.Validate(ctx, document.Text)
	for _, rejection := range rejections.Create {
		pos := positions.findKey(splitPath(rejection.Field)...)
		isKnown := func(f Finding) bool {
			return f.Line == pos.line && f.Column == pos.column || rejection.Detail != "" && strings.Contains(f.Message, rejection.Detail)
		}
		isRepeated := func(other *field.Error) bool {
			return other.Field != rejection.Field && strings.Contains(rejection.Detail, strconv.Quote(other.Field))
		}
		if slices.ContainsFunc(findings, isKnown) || slices.ContainsFunc(rejected, isKnown) || rejection.Field == "<nil>" && slices.ContainsFunc(rejections.Create, isRepeated) {
			continue
		}
		rejected = append(rejected, newFinding(refusedByAPI, document.Source, rejection.ErrorBody()).withPosition(pos, rejection.Field))
	}
	if text := rejections.ApplyText(); text != "" {
		path := rejections.Apply[0].Field
		rejected = append(rejected, newFinding(notApplicable, document.Source, text).withPosition(positions.findKey(splitPath(path)...), ""))
	}
	return rejected
}

// lintObjects checks every VectorSidecar. It checks every ClusterVectorSidecar in each namespace in the files that it
// selects.
func (o *objects) lintObjects(ctx context.Context) ([]Finding, error) {
	taker := source.Snapshotter{
		Settings: o.linter.Settings, Source: source.Reader{Reader: o.world}, Platform: o.linter.Platform,
	}
	if _, err := o.world.Expand(ctx, ""); err != nil {
		return nil, err
	}
	var findings []Finding
	for _, document := range o.documents {
		for n, sidecar := range o.sidecarsFor(document) {
			sidecarFindings, err := o.lintSidecar(ctx, &taker, document, sidecar)
			if err != nil {
				return nil, err
			}
			if n == 0 {
				findings = append(findings, sidecarFindings...)
				continue
			}
			findings = append(findings, slices.DeleteFunc(sidecarFindings, func(f Finding) bool { return slices.Contains(findings, f) })...)
		}
	}
	return findings, nil
}

// sidecarsFor returns the VectorSidecar in a document. For a ClusterVectorSidecar, it returns one VectorSidecar
// for each selected namespace, or for the namespace default if no namespace is selected. It returns nil for
// other objects.
func (o *objects) sidecarsFor(document source.Document) []*v1alpha1.VectorSidecar {
	switch object := document.Object.(type) {
	case *v1alpha1.VectorSidecar:
		return []*v1alpha1.VectorSidecar{object}
	case *v1alpha1.ClusterVectorSidecar:
		isOther := func(sidecar *v1alpha1.VectorSidecar) bool {
			return sidecar.Name != meta.ClusterSidecarName(object.Name)
		}
		if sidecars := slices.DeleteFunc(o.world.Sidecars(), isOther); len(sidecars) > 0 {
			return sidecars
		}
		selector, _ := clusterwide.NewSelector(&object.Spec, "")
		return []*v1alpha1.VectorSidecar{selector.NewSidecar(object, metav1.NamespaceDefault, true)}
	}
	return nil
}

// lintSidecar makes the operator's decision about one VectorSidecar and returns the findings.
func (o *objects) lintSidecar(ctx context.Context, taker *source.Snapshotter, document source.Document, sidecar *v1alpha1.VectorSidecar) ([]Finding, error) {
	input, err := taker.Observe(ctx, lastgood.IgnoreRevert(sidecar))
	if err != nil {
		return nil, err
	}
	if specFindings := lintSpec(document, sidecar, &input.Inputs); len(specFindings) > 0 {
		return slices.Concat(specFindings, o.rejectionFindings(ctx, &document, specFindings)), nil
	}
	if err := o.linter.setImageTag(ctx, input); err != nil {
		return nil, err
	}
	if err := addApplication(ctx, input); err != nil {
		return nil, err
	}
	decided, err := decision.Decide(ctx, input, desired.NewCache())
	if err != nil {
		return nil, err
	}
	findings := append(o.decisionFindings(document, decided), VectorFindings(decided.Findings, document, o.documents)...)
	return slices.Concat(findings, o.rejectionFindings(ctx, &document, findings)), nil
}

// lintSpec checks the fields of a spec that are also keys of a values file against the schema of the template
// set. It also checks the namespace selector.
func lintSpec(document source.Document, sidecar *v1alpha1.VectorSidecar, inputs *desired.Inputs) []Finding {
	layer, err := desired.LayerFor(sidecar)
	if err != nil {
		return []Finding{newFinding(tooLarge, document.Source, err.Error()).withPosition(position{line: document.Line}, "spec")}
	}
	positions := newPositions(document.Text, document.Line)
	var findings []Finding
	if invalid := inputs.Scope().Invalid; invalid != "" {
		finding := newFinding(meta.ReasonInvalidSelector, document.Source, invalid)
		findings = append(findings, finding.withPosition(positions.findKey("spec", "namespaceSelector"), "spec.namespaceSelector"))
	}
	environment, _ := inputs.ResolveEnvironment(sidecar, inputs.NamespaceLabels)
	set, err := inputs.Platform.SetFor(sidecar.Spec.TemplateSet, environment)
	if err != nil || set.Environments == nil {
		return findings // The decision reports the error.
	}
	for _, valueFinding := range set.Environments.Check(layer) {
		path := slices.Concat([]string{"spec"}, valueFinding.Path)
		finding := newFinding(meta.ReasonInvalidValues, document.Source, valueFinding.Message)
		findings = append(findings, finding.withPosition(positions.findKey(path...), "spec."+valueFinding.PathText()))
	}
	return findings
}

// reasonPaths contains, by reason, the path of the VectorSidecar's field that the reason concerns.
var reasonPaths = map[string][]string{
	meta.ReasonTooLarge:           {"spec"},
	meta.ReasonInvalidSpec:        {"spec"},
	meta.ReasonInvalidSelector:    {"spec", "selector"},
	meta.ReasonUnknownEnvironment: {"spec", "environment"},
	meta.ReasonConfigMapNotFound:  {"spec", "sidecar", "config", "configMapRef"},
	meta.ReasonInvalidConfig:      {"spec", "sidecar", "config"},
	meta.ReasonInvalidValues:      {"spec"},
	meta.ReasonInvalidTemplate:    {"spec"},
	meta.ReasonInvalidSidecar:     {"spec"},
}

// decisionFindings returns findings for the problems in a decision.
func (o *objects) decisionFindings(document source.Document, decided *decision.Decision) []Finding {
	if invalid := decided.Invalid; invalid != nil {
		if invalid.Reason == meta.ReasonInvalidConfig && len(decided.Findings) > 0 {
			return nil // The findings report each problem.
		}
		if invalid.Reason == meta.ReasonPolicyViolation && len(vectorconfig.Forbidden(decided.Findings)) > 0 {
			return nil
		}
		if invalid.Reason == meta.ReasonConfigMapNotFound && !o.hasConfigMaps(document.Object.GetNamespace()) {
			return nil // The ConfigMaps may be in other files.
		}
		return []Finding{NewFinding(invalid.Reason, invalid.Message, document)}
	}
	var findings []Finding
	for i := range decided.Plans {
		p := &decided.Plans[i]
		findings = slices.Concat(findings, o.storageFindings(document, p), o.windowsFindings(p.Target))
		if p.IsSkipped() || !p.IsStopped() {
			continue
		}
		workloadDocument := o.documentFor(p.Target)
		if workloadDocument.Object == nil {
			workloadDocument = document // The workload is not in the files.
		}
		finding := newFinding(p.Reason(), workloadDocument.Source, p.Target.Kind+" "+p.Target.Namespace+"/"+p.Target.Name+": "+p.Message())
		findings = append(findings, finding.withPosition(newPositions(workloadDocument.Text, workloadDocument.Line).findKey("metadata", "name"), ""))
	}
	return findings
}

// VectorFindings converts findings about Vector configuration and adds their positions. The position is in the
// text of the VectorSidecar or of a ConfigMap in the documents. Otherwise, it is the position of the
// VectorSidecar's field that refers to the text. If the VectorSidecar is not from a file, its document has only
// a Source.
func VectorFindings(findings []vectorconfig.Finding, sidecar source.Document, documents []source.Document) []Finding {
	var lintFindings []Finding
	positions := newPositions(sidecar.Text, sidecar.Line)
	for _, vectorFinding := range findings {
		document, pos := sidecar, positions.findKey("spec", "sidecar", "config", "inline")
		switch configMap, key := findConfigMap(documents, vectorFinding.Source); {
		case configMap != nil:
			document = *configMap
			pos = newPositions(document.Text, document.Line).findKey("data", key)
			pos = position{line: pos.line + vectorFinding.Line}
		case strings.HasSuffix(vectorFinding.Source, " spec.sidecar.config.inline"):
			pos = position{line: pos.line + vectorFinding.Line}
		case strings.HasSuffix(vectorFinding.Source, " spec.sidecar.config.raw"):
			pos = positions.findKey(append([]string{"spec", "sidecar", "config", "raw"}, splitPath(vectorFinding.Path)...)...)
		case vectorFinding.Source == vectorconfig.ArgumentsSource, vectorFinding.Source == vectorconfig.VariablesSource:
			pos = positions.findKey(containerPath(sidecar.Object, vectorFinding)...)
		case strings.HasPrefix(vectorFinding.Path, "sinks."):
			pos = positions.findKey(append([]string{"spec", "sidecar"}, splitPath(vectorFinding.Path)...)...)
		}
		if len(document.Text) == 0 {
			pos = position{}
		}
		lintFindings = append(lintFindings, newVectorFinding(vectorFinding, document.Source, pos))
	}
	return lintFindings
}

// containerPath returns the path of the sidecar's argument or environment variable that a finding concerns.
func containerPath(object any, vectorFinding vectorconfig.Finding) []string {
	spec := &v1alpha1.SidecarSpec{}
	switch object := object.(type) {
	case *v1alpha1.VectorSidecar:
		spec = cmp.Or(object.Spec.Sidecar, spec)
	case *v1alpha1.ClusterVectorSidecar:
		spec = cmp.Or(object.Spec.Sidecar, spec)
	}
	path, i := []string{"spec", "sidecar", "args"}, slices.IndexFunc(spec.Args, func(argument string) bool { return strings.HasPrefix(argument, vectorFinding.Path) })
	if vectorFinding.Source == vectorconfig.VariablesSource {
		path[2], i = "env", slices.IndexFunc(spec.Env, func(variable corev1.EnvVar) bool { return variable.Name == vectorFinding.Path })
	}
	if i < 0 {
		return path
	}
	return append(path, strconv.Itoa(i))
}

// findConfigMap returns the document and the key for the source of a finding, such as "ConfigMap shop/shipping
// agent.toml". The document is nil if the documents do not contain the ConfigMap.
func findConfigMap(documents []source.Document, source string) (document *source.Document, key string) {
	fields := strings.Fields(source)
	if len(fields) != 3 || fields[0] != "ConfigMap" {
		return nil, ""
	}
	for i := range documents {
		object, ok := documents[i].Object.(*corev1.ConfigMap)
		if ok && object.Namespace+"/"+object.Name == fields[1] {
			return &documents[i], fields[2]
		}
	}
	return nil, ""
}

// hasConfigMaps reports whether the files contain a ConfigMap of a namespace.
func (o *objects) hasConfigMaps(namespace string) bool {
	return slices.ContainsFunc(o.documents, func(d source.Document) bool {
		_, ok := d.Object.(*corev1.ConfigMap)
		return ok && d.Object.GetNamespace() == namespace
	})
}

// documentFor returns the document of a workload, or an empty document if the workload is not in the files.
func (o *objects) documentFor(ref workload.Ref) source.Document {
	for _, document := range o.documents {
		object, ok := workload.ToObject(document.Object)
		if ok && workload.NewRef(object) == ref {
			return document
		}
	}
	return source.Document{}
}
