// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// renderer renders the sidecar of one variant for several workloads.
type renderer struct {
	cache    *Cache
	request  render.Request
	config   configReference
	policy   *policy.Policy
	observer Observer
	// validatesAlways is the field ValidatesAlways of the inputs.
	validatesAlways bool
	// requested is the requested input of the request.
	requested requestedInputs
	// writtenBy is the installation of the operator that is recorded on written objects, and oldest is the oldest
	// kubelet of the cluster.
	writtenBy string
	oldest    Kubelet
	// aboutURL is the platform team's page about sidecars, or "" for none.
	aboutURL string
	// common is the cache key of all inputs except the workload. shared is the cache key of all inputs except the
	// workload and the namespace.
	common, shared []byte
}

// newRenderer returns a renderer for a request. values is the digest of the request's values.
func newRenderer(cache *Cache, request render.Request, values []byte, config configReference, inputs *Inputs, requested requestedInputs) *renderer {
	policy := inputs.Platform.Policy
	shared := sharedKey(&request, values, policy)
	text, _ := json.Marshal([]any{
		shared, request.Sidecar.Namespace, config.digest,
		inputs.WrittenBy, inputs.OldestKubelet, inputs.Version, inputs.ValidatesAlways, inputs.Platform.AboutURL, requested,
	})
	sum := sha256.Sum256(text)
	return &renderer{
		cache: cache, request: request, config: config, policy: policy, observer: inputs.Observer, validatesAlways: inputs.ValidatesAlways,
		requested: requested, writtenBy: inputs.WrittenBy, oldest: inputs.OldestKubelet, aboutURL: inputs.Platform.AboutURL, common: sum[:], shared: shared,
	}
}

// sharedKey returns the cache key of a request without its workload and its namespace. values is the digest of the
// request's values.
func sharedKey(request *render.Request, values []byte, policy *policy.Policy) []byte {
	text, _ := json.Marshal([]any{
		request.Chart.Digest, values, request.Sidecar.Name, request.KubeVersion, request.Cluster, policy.Digest,
	})
	sum := sha256.Sum256(text)
	return sum[:]
}

// notes returns the annotations that describe the sidecar: its installation, and the text for application teams.
func (r *renderer) notes() plan.Notes {
	notes := plan.Notes{AboutText: aboutText(r.request.Sidecar.Name, r.aboutURL)}
	if r.writtenBy != "" {
		notes.Marks = map[string]string{meta.AnnotationWrittenBy(meta.Manager(r.request.Sidecar.Name)): r.writtenBy}
	}
	return notes
}

// aboutText returns the text for application teams about the sidecar of a VectorSidecar. It does not contain the
// namespace, because namespaces share renderings.
func aboutText(sidecar, url string) string {
	text := fmt.Sprintf("The Vector Sidecar Operator injected the sidecar of %s. To see why, run kubectl vectorsidecar explain. "+
		"To opt out, annotate the workload with %s=false.", meta.Title(sidecar), meta.AnnotationInject)
	if url != "" {
		text += " Platform team: " + url
	}
	return text
}
