// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// renderer renders one request for several targets.
type renderer struct {
	cache    *Cache
	request  render.Request
	config   config
	policy   *policy.Policy
	observer Observer
	// asksVector is that of the inputs.
	asksVector bool
	// asked is what the request was made from.
	asked asked
	// writtenBy is that of the inputs, and oldest the OldestKubelet.
	writtenBy string
	oldest    Kubelet
	// common is the key of everything but the target, and shared that of the request alone, without
	// target and namespace.
	common, shared []byte
	// valuesBefore are those of the predecessor.
	valuesBefore func() (environment.Values, error)

	// made are the companions that the renderings share.
	made *madeCompanions
}

// madeCompanions are companions of renderings by digest: they are often the same, and
// the large part of a rendering.
type madeCompanions struct {
	mu       sync.Mutex
	byDigest map[string][]corev1.ConfigMap
}

func newRenderer(cache *Cache, request render.Request, config config, inputs *Inputs, asked asked) *renderer {
	policy, shared := inputs.Platform.Policy, sharedBy(&request)
	text, _ := json.Marshal([]any{
		shared, request.Sidecar.Namespace, config.digest, policy.Digest,
		inputs.WrittenBy, inputs.OldestKubelet, inputs.Version, inputs.AsksVector, asked,
	})
	sum := sha256.Sum256(text)
	return &renderer{
		made:  &madeCompanions{byDigest: map[string][]corev1.ConfigMap{}},
		cache: cache, request: request, config: config, policy: policy, observer: inputs.Observer, asksVector: inputs.AsksVector,
		asked: asked, writtenBy: inputs.WrittenBy, oldest: inputs.OldestKubelet, common: sum[:], shared: shared,
	}
}

// conclude checks the configuration of an overlay, and sets what to apply if it passes. executed is
// what the overlay is of, nil if it is of this namespace alone.
func (r *renderer) conclude(ctx context.Context, of *Rendered, rendered *workload.Overlay, executed *execution) {
	r.check(ctx, rendered, of)
	if of.Invalid = refused(of.Report, of.forbidden, r.request.Values); of.Invalid != nil {
		return
	}
	of.rendered, of.Overlay = rendered, rendered
	version := ""
	if len(of.Companions) > 0 {
		version = companion.Digest(&of.Companions[0])
	}
	if r.config.object != nil {
		uses := usesOf(rendered, of.container, r.config.object)
		if of.Copied, of.Overlay, of.Invalid = copyOf(&r.config, &r.request, rendered, uses, of.Report, of.isReadUnseen); of.Invalid != nil {
			return
		}
	}
	if of.Copied != nil {
		version = of.Copied.Digest
	}
	asked := plan.Asked{Digest: r.asked.digest(of.Copied), Keys: of.readOf(), Inputs: r.asked.changeInputs(of.Copied)}
	if executed != nil && of.Copied == nil {
		common := executed.desired(of.Overlay, r.request.Sidecar.Name, of.container, version, r.marks())
		of.Desired, of.sharedBytes = common.For(asked), common.bytes
	} else {
		of.Desired = plan.NewDesired(of.Overlay, r.request.Sidecar.Name, of.container, version, r.marks()).For(asked)
	}
	of.stranded = r.oldest.strands(of.Overlay)
	of.collects = collectionOf(of.Report, of.Overlay.Container(of.container), of.Desired)
}

// check checks the configuration that a rendered sidecar reads. It parses the
// configuration even if checks are off.
func (r *renderer) check(ctx context.Context, overlay *workload.Overlay, of *Rendered) {
	spec, container := &overlay.Template.Spec, overlay.Container(of.container)
	options := vectorconfig.Options{Image: tree.Text(r.request.Values.Tree, "sidecar", "image")}
	if container != nil {
		options = vectorconfig.Options{Image: container.Image, Container: vectorContainer(container, spec)}
	}
	if container != nil {
		options.Container.IPFamily = r.request.IPFamily()
	}
	if r.config.object != nil && container != nil {
		options.Beside = slices.Sorted(maps.Keys(mountedFiles(container, spec, r.config.object)))
	}
	files := filesOf(r.request.Values, r.config, of.Companions, container, spec)
	seen := r.config.with(of.Companions)
	of.Report, of.forbidden = r.judgeFiles(ctx, files, options, func(rules *vectorconfig.Permitted) []string {
		return unseen(rules, files, seen, container, spec)
	})
	of.isReadUnseen = readsUnseen(r.config, of.Companions, container, spec)
	if container != nil && len(files) > 0 && (r.asksVector || asksInJob(r.request.Values)) {
		of.Validation = validationOf(&r.request, files, of.Report.DataDir, container, spec)
	}
}

// marks are those for what is written for the VectorSidecar.
func (r *renderer) marks() map[string]string {
	if r.writtenBy == "" {
		return nil
	}
	return map[string]string{meta.AnnotationWrittenBy(meta.Manager(r.request.Sidecar.Name)): r.writtenBy}
}

// checkAlone checks the user's configuration while no workload runs it. It says why it
// must not reach a pod, nil if it may.
func (r *renderer) checkAlone(ctx context.Context) (*vectorconfig.Report, *Invalid) {
	values := r.request.Values
	files := filesOf(values, r.config, nil, nil, nil)
	if inline := tree.Text(values.Tree, "sidecar", "config", "inline"); len(files) == 0 && inline != "" {
		files = []vectorconfig.File{{Name: inlineName(inline), Source: inlineSource(values), Text: inline}}
	}
	if len(files) == 0 {
		return &vectorconfig.Report{}, nil
	}
	options := vectorconfig.Options{Image: tree.Text(values.Tree, "sidecar", "image")}
	report, forbidden := r.judgeFiles(ctx, files, options, func(*vectorconfig.Permitted) []string { return nil })
	return report, refused(report, forbidden, values)
}
