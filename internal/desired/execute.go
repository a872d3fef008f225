// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"errors"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// execution is the output of the templates, checked against the policy. Namespaces with the same input share an
// execution, so it must not be changed.
type execution struct {
	// key is the key in the cache, or "" if the result is valid in one namespace only and is not cached.
	key    string
	result *render.Result
	// reserved contains a message for each optional pod annotation that the policy does not allow, and that was
	// therefore removed.
	reserved []string
	// invalid explains why the result must not be injected, or is nil if it may. isTemplateError reports whether a
	// template has returned an error, and isTimedOut whether the templates took too long.
	invalid                     *Invalid
	isTemplateError, isTimedOut bool
}

// execute executes the templates for one workload, or returns a cached execution with the same input, which may be from
// another namespace. It adds a cached execution to the shared values.
func (r *renderer) execute(ctx context.Context, target *workload.View, shared *sharedValues) *execution {
	if cached := findCached[execution](r.cache, r.shared, target); cached != nil {
		shared.add(cached.key, &cached.result.Overlay, 0)
		return cached
	}
	request := r.request
	request.Target = target
	end := r.observer.startStep(ctx, Render)
	result, err := render.Render(ctx, request)
	end(err)
	fresh := &execution{result: result, isTimedOut: errors.Is(err, context.DeadlineExceeded)}
	if err == nil {
		fresh.reserved, err = r.omitReservedAnnotations(&result.Overlay)
	}
	fresh.invalid = r.validateResult(result, target, err)
	if err != nil {
		fresh.isTemplateError = !errors.As(err, new(*render.SidecarError))
		return fresh
	}
	for _, secret := range checkedTemplate(&result.Overlay.Template, target, result.ReadTarget).Spec.ImagePullSecrets {
		result.Overlay.AddedPullSecrets = append(result.Overlay.AddedPullSecrets, secret.Name)
	}
	for i := range result.Companions {
		companion.Label(&result.Companions[i], request.Sidecar.Name)
	}
	if result.IsNamespaceIndependent && r.cache != nil {
		fresh.key = r.cache.keyFor(r.shared, target, result.ReadTarget)
		bytes := bounded.Footprint(fresh)
		r.cache.put(fresh.key, fresh, bytes, string(r.shared))
		shared.add(fresh.key, &result.Overlay, bytes)
	}
	return fresh
}

// omitReservedAnnotations removes the optional pod annotations with a domain that the policy reserves. It returns a
// message for each removed annotation.
func (r *renderer) omitReservedAnnotations(overlay *workload.Overlay) (messages []string, err error) {
	var keys []string
	for _, key := range overlay.OptionalAnnotations {
		if domain := r.policy.Reserves(key, &overlay.Template); domain != "" {
			keys = append(keys, key)
			messages = append(messages, fmt.Sprintf("the sidecar does not set the pod annotation %s: the policy reserves the domain %s (policy.reservedDomains)", key, domain))
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

// validateResult returns the reason why the output of the templates is invalid, or nil if it is valid. err is the error
// of executing the templates, or nil.
func (r *renderer) validateResult(result *render.Result, target *workload.View, err error) *Invalid {
	reason := meta.ReasonInvalidTemplate
	var sidecar *render.SidecarError
	switch {
	case errors.As(err, &sidecar):
		reason = meta.ReasonInvalidSidecar
	case err != nil:
		err = fmt.Errorf("%w%s", err, describeOrigins(err, r.request.Values))
	default:
		err = errors.Join(r.policy.Check(checkedTemplate(&result.Overlay.Template, target, result.ReadTarget), result.Overlay.Mounts), r.policy.CheckEnvInjections(result.Overlay.EnvInjections))
		if err == nil {
			return nil
		}
		reason = meta.ReasonPolicyViolation
		err = fmt.Errorf("%s: rejected by the platform's policy: %w", result.Template, err)
	}
	return &Invalid{reason, fmt.Sprintf("rendering for environment %q: %s", r.request.Environment(), err)}
}
