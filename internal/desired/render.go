// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// render returns the rendering for one workload, which fits the workload's grace period.
func (r *renderer) render(ctx context.Context, target *workload.View) *Rendered {
	return r.fitGracePeriod(ctx, r.renderCached(ctx, target), target.GraceSeconds)
}

// renderCached returns the rendering for one workload. It is cached for all workloads that are equal in the
// fields that the templates have read.
func (r *renderer) renderCached(ctx context.Context, target *workload.View) *Rendered {
	if r.cache == nil {
		return r.evaluate(ctx, target)
	}
	var space [1024]byte // Mostly enough, without an allocation.
	for _, reads := range r.cache.readBy(r.common) {
		if cached := getCached(r.cache, r.cache.rendered, r.appendKey(space[:0], target, reads)); cached != nil {
			return cached
		}
	}
	fresh := r.evaluate(ctx, target)
	if ctx.Err() == nil {
		r.cacheResult(target, fresh)
	}
	return fresh
}

// cacheResult caches a rendering unless the templates timed out, because a timeout may depend on the load.
func (r *renderer) cacheResult(target *workload.View, fresh *Rendered) {
	if fresh.TimedOut {
		return
	}
	reads := r.cache.noteRead(r.common, fresh.readTarget)
	fresh.key = string(r.appendKey(nil, target, reads))
	var sharedObjects []any
	bytes := 0
	if fresh.isShared {
		sharedObjects, bytes = []any{fresh.Overlay, fresh.Desired, fresh.Report}, fresh.askedBytes
	}
	bytes += bounded.Footprint(fresh, sharedObjects...)
	if fresh.shares {
		bytes -= bounded.Footprint(fresh.Companions) // The Companions are counted with the rendering that created them.
	}
	r.cache.grow(fresh, bytes)
}

// appendKey appends the cache key for the request and for the values of the workload that the templates read.
func (r *renderer) appendKey(text []byte, target *workload.View, reads []tree.Read) []byte {
	return target.AppendReads(append(text, r.common...), reads)
}

// evaluate renders the sidecar for one workload and checks the result.
func (r *renderer) evaluate(ctx context.Context, target *workload.View) *Rendered {
	request := r.request
	request.Target = target
	result, executed, err := r.execute(ctx, request)
	fresh := &Rendered{
		readTarget: result.ReadTarget, TimedOut: errors.Is(err, context.DeadlineExceeded),
		container: tree.Text(request.Values.Tree, "sidecar", "name"),
	}
	if err == nil {
		fresh.reserved, err = r.omitReservedAnnotations(&result.Overlay)
	}
	if len(fresh.reserved) > 0 {
		executed = nil // The overlay differs from the rendered one.
	}
	if fresh.Invalid = r.validateResult(result, executed, target, err); fresh.Invalid != nil {
		fresh.isTemplateError = err != nil && !errors.As(err, new(*render.SidecarError))
		return fresh
	}
	overlay := &result.Overlay
	for _, secret := range checkedTemplate(&overlay.Template, target, result.ReadTarget).Spec.ImagePullSecrets {
		overlay.AddedPullSecrets = append(overlay.AddedPullSecrets, secret.Name)
	}
	switch {
	case len(overlay.AddedPullSecrets) > 0:
		executed = nil
	case executed != nil:
		overlay = &executed.result.Overlay // It is equal.
	}
	for i := range result.Companions {
		companion.Label(&result.Companions[i], request.Sidecar.Name)
	}
	fresh.Companions, fresh.shares = r.share(result.Companions)
	end := r.observer.startStep(ctx, Check)
	r.conclude(ctx, fresh, overlay, executed)
	end(fresh.Invalid.err())
	return fresh
}

// omitReservedAnnotations removes the optional pod annotations with domains that the policy reserves. It
// returns a message for each removed annotation.
func (r *renderer) omitReservedAnnotations(overlay *workload.Overlay) (messages []string, err error) {
	var keys []string
	for _, key := range overlay.OptionalAnnotations {
		if domain := r.policy.Reserves(key, &overlay.Template); domain != "" {
			keys = append(keys, key)
			messages = append(messages, fmt.Sprintf("does not set the pod annotation %s: the policy reserves %s (reservedDomains)", key, domain))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	reduced, err := overlay.Omit(keys, nil)
	if err == nil {
		*overlay = *reduced
	}
	return messages, err
}

// share returns the companions of an earlier rendering if they are equal, or else the new companions.
func (r *renderer) share(fresh []corev1.ConfigMap) (companions []corev1.ConfigMap, isShared bool) {
	text, _ := json.Marshal(fresh) // Objects of this type always marshal, with sorted keys.
	sum := sha256.Sum256(text)
	r.companions.mu.Lock()
	defer r.companions.mu.Unlock()
	if existing, isMade := r.companions.byDigest[string(sum[:])]; isMade {
		return existing, true
	}
	r.companions.byDigest[string(sum[:])] = fresh
	return fresh, false
}

// validateResult returns the reason why a rendering is invalid, or nil if it is valid. The shared rendering is
// nil if the rendering is only for this namespace.
func (r *renderer) validateResult(result *render.Result, executed *sharedRendering, target *workload.View, err error) *Invalid {
	reason := meta.ReasonInvalidTemplate
	var sidecar *render.SidecarError
	switch {
	case errors.As(err, &sidecar):
		reason = meta.ReasonInvalidSidecar
	case err != nil:
		err = fmt.Errorf("%w%s", err, origins(err, r.request.Values))
	case executed.isPermitted(r.policy.Digest):
		return nil
	default:
		err = errors.Join(r.policy.Check(checkedTemplate(&result.Overlay.Template, target, result.ReadTarget), result.Overlay.Mounts), r.policy.CheckEnvInjections(result.Overlay.EnvInjections))
		if err == nil {
			executed.permit(r.policy.Digest)
			return nil
		}
		reason = meta.ReasonPolicyViolation
		err = fmt.Errorf("%s: rejected by the platform's policy: %w", result.Template, err)
	}
	return &Invalid{reason, fmt.Sprintf("rendering for environment %q: %s", r.request.Environment(), err)}
}
