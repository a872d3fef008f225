// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const (
	// sampleName is the namespace and the name of the VectorSidecar for which samples are rendered. sampleVersion is
	// the version of its API server. They are the same in all releases and clusters, so that digests of samples can be
	// compared.
	sampleName    = "sample"
	sampleVersion = "v1.33.0"
	// maxSampleEnvironments is the maximum number of environments in which the sample of a template set is rendered.
	maxSampleEnvironments = 32
)

// StoredContent returns the platform's content in the form in which a revision stores it: with the built-in templates,
// and with digests of sample renderings. The error is the context's error.
func (p *Platform) StoredContent(ctx context.Context) (*fleet.Content, error) {
	samples, err := p.samples(ctx)
	if err != nil {
		return nil, err
	}
	content := *p.Content
	content.BuiltIn, content.Samples = storedFiles(p.builtIn), samples
	return &content, nil
}

// samples returns a digest of sample renderings for each template set: renderings in its environments for an empty
// VectorSidecar and the chart's sample workload. Releases that render the same templates and values in the same way
// return the same digests. Sets that cannot be loaded or that timed out are left out. The error is the context's error.
func (p *Platform) samples(ctx context.Context) (map[string]string, error) {
	digests := map[string]string{}
	for _, set := range p.Sets() {
		if set.Chart == nil {
			continue
		}
		digest, err := set.sample(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			digests[set.Name] = digest
		}
	}
	return digests, nil
}

// sample returns a digest of the set's sample renderings in its environments. It returns an error if the templates
// timed out.
func (s *TemplateSet) sample(ctx context.Context) (string, error) {
	type rendering struct { // In one environment.
		Environment string                  `json:"environment"`
		Overlay     string                  `json:"overlay,omitempty"`
		Injections  []workload.EnvInjection `json:"tells,omitempty"`
		Companions  []corev1.ConfigMap      `json:"companions,omitempty"`
	}
	var renderings []rendering
	names := s.Environments.Names()
	for _, name := range names[:min(len(names), maxSampleEnvironments)] {
		result, err := s.renderSample(ctx, name)
		if errors.Is(err, context.DeadlineExceeded) {
			return "", err
		}
		item := rendering{Environment: name}
		if err == nil { // The texts of errors may differ from release to release.
			item.Overlay, item.Injections, item.Companions = result.Overlay.Hash, result.Overlay.EnvInjections, result.Companions
		}
		renderings = append(renderings, item)
	}
	text, _ := json.Marshal(renderings) // Objects of these types always marshal.
	return meta.Digest(text, 8), ctx.Err()
}

// renderSample renders the sample in one environment.
func (s *TemplateSet) renderSample(ctx context.Context, environment string) (*render.Result, error) {
	values, err := s.Environments.Values(environment)
	if err != nil {
		return nil, err
	}
	return render.Render(ctx, render.Request{
		Chart: s.Chart, Values: values, KubeVersion: sampleVersion, Sidecar: types.NamespacedName{Namespace: sampleName, Name: sampleName},
	})
}

// compareSamples returns a *fleet.RecordError if a template set renders its sample differently than in the release that
// published the revision. Sets without a stored sample are skipped. All other errors are the context's error.
func (p *Platform) compareSamples(ctx context.Context) error {
	stored := p.Content.Samples
	if len(stored) == 0 {
		return nil
	}
	current, err := p.samples(ctx)
	if err != nil {
		return err
	}
	var changed []string
	for name, digest := range current {
		if previous := stored[name]; previous != "" && previous != digest {
			changed = append(changed, name)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	return &fleet.RecordError{Revision: p.Revision, Err: fmt.Errorf(
		"template set %s renders differently in this release than when the revision was published; promote the VectorSidecar to the current revision, or roll back the operator",
		strings.Join(changed, ", "))}
}
