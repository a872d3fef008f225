// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package apply writes workloads, companions and the objects that belong to them: OverlaySets, stored
// revisions, validation Jobs, finalizers and the webhook's certificate. No other package writes these objects.
// It applies plans with server-side apply and makes no decisions. It forces only changes of fields that users
// changed by hand, never of fields that a deployment tool or another VectorSidecar owns.
package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// ErrGone means that the workload was deleted, or replaced by another workload of the same name.
var ErrGone = errors.New("the workload was deleted")

// ErrStale means that the object has changed since it was read. A retry with the current object may succeed.
var ErrStale = errors.New("the object has been modified")

// ErrTerminating means that objects cannot be created in a namespace because it is being deleted.
var ErrTerminating = errors.New("the namespace is being deleted")

// ConflictError means that other field managers own fields that the write needs.
type ConflictError struct {
	Err error
	// Siblings is true if field managers of other VectorSidecars own some of these fields.
	Siblings bool
}

func (e *ConflictError) Error() string { return e.Err.Error() }
func (e *ConflictError) Unwrap() error { return e.Err }

// RejectedError means that the API server has rejected the write and would reject it again, for example because the
// object is invalid.
type RejectedError struct{ Err error }

func (e *RejectedError) Error() string { return e.Err.Error() }
func (e *RejectedError) Unwrap() error { return e.Err }

// DeniedError means that admission or authorization denied the write, and may allow it later: a quota, a
// policy, a webhook or RBAC.
type DeniedError struct {
	Err error
	// IsGeneral is true if the cause does not depend on the workload: a webhook cannot be called, or the operator lacks
	// a permission. Writes to other workloads then fail with the same error.
	IsGeneral bool
}

func (e *DeniedError) Error() string { return e.Err.Error() }
func (e *DeniedError) Unwrap() error { return e.Err }

// anotherUID matches the error of a write to a workload that was replaced by another one of the same name.
var anotherUID = regexp.MustCompile(`UID in precondition|uid mismatch`)

// schemaError matches the internal error for an applied object that does not fit the schema of its kind.
var schemaError = regexp.MustCompile(`failed to create (manager for existing fields|typed patch object)`)

// tooLarge matches the error for an object that exceeds the size limit of etcd, or of requests to etcd.
var tooLarge = regexp.MustCompile(`etcdserver: request is too large|trying to send message larger than max`)

// byAdmission matches rejections by webhooks and policies, which may have any status code.
var byAdmission = regexp.MustCompile(`denied (the )?request`)

// general matches errors that are independent of the workload: a webhook that cannot be called, or a missing
// permission.
var general = regexp.MustCompile(`failed calling webhook|cannot (create|delete|patch) resource`)

// Writer writes to a cluster. New creates it.
type Writer struct{ client client.Client }

// New returns a Writer that writes through a client.
func New(c client.Client) *Writer { return &Writer{client: c} }

// WriteResult is the API server's response to a write.
type WriteResult struct {
	// ResourceVersion is the resource version of the workload after the last request of a plan.
	ResourceVersion string
	// Generation is the generation of the workload. It is higher by one than before if a rollout starts.
	Generation int64
}

// ApplyWorkload applies a plan, and returns the version of the workload after the last request. Most plans need only one
// request. If only some of several requests succeed, the next reconcile finds the remaining changes in the workload.
// The error is ErrGone, ErrStale, a *ConflictError, a *RejectedError, a *DeniedError, or transient.
func (w *Writer) ApplyWorkload(ctx context.Context, p *plan.Plan) (WriteResult, error) {
	if !p.Writes() {
		return WriteResult{}, fmt.Errorf("a plan with action %s does not write", p.Action())
	}
	kind := targetGVK(p.Target)
	reply := &metav1.PartialObjectMetadata{}
	reply.SetGroupVersionKind(kind)
	reply.Namespace, reply.Name = p.Target.Namespace, p.Target.Name
	if err := w.patchMounts(ctx, reply, p); err != nil {
		return WriteResult{}, fmt.Errorf("patching %s %s/%s: %w", kind.Kind, p.Target.Namespace, p.Target.Name, classify(err))
	}
	if body := p.Body(); body != nil {
		if err := w.apply(ctx, reply, identifiedBody(body, p.Target), p); err != nil {
			return WriteResult{}, fmt.Errorf("applying to %s %s/%s: %w", kind.Kind, p.Target.Namespace, p.Target.Name, classify(err))
		}
	}
	if err := w.trimEntries(ctx, reply, p); err != nil {
		return WriteResult{}, fmt.Errorf("trimming managedFields of %s %s/%s: %w", kind.Kind, p.Target.Namespace, p.Target.Name, classify(err))
	}
	return WriteResult{ResourceVersion: reply.ResourceVersion, Generation: reply.Generation}, nil
}

// ResultLabel returns the label value for metrics of an error that Writer.ApplyWorkload returned. The label of nil is
// "ok".
func ResultLabel(err error) string {
	var conflict *ConflictError
	var refused *RejectedError
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrGone):
		return "gone"
	case errors.Is(err, ErrStale):
		return "stale"
	case errors.As(err, &conflict):
		return "conflict"
	case errors.As(err, &refused):
		return "rejected"
	}
	return "error"
}

// identifiedBody returns a copy of a body with the kind and name of the workload. It includes the UID, so that the
// body is never applied to a later workload of the same name.
func identifiedBody(body map[string]any, target workload.Ref) map[string]any {
	body = maps.Clone(target.Adapter().MoveTemplate(body))
	kind := targetGVK(target)
	metadata := map[string]any{"name": target.Name, "namespace": target.Namespace, "uid": string(target.UID)}
	if bodyMetadata, ok := body["metadata"].(map[string]any); ok {
		maps.Copy(metadata, bodyMetadata)
	}
	body["apiVersion"], body["kind"], body["metadata"] = kind.GroupVersion().String(), kind.Kind, metadata
	return body
}

// WriteCompanion creates a companion or, if it has a UID, updates its content. The companion has no owner reference,
// because the garbage collector would delete it before the pods that read it. The operator deletes it instead.
// If another object of the same name has been created since, WriteCompanion does not change it. The error may be
// ErrTerminating.
func (w *Writer) WriteCompanion(ctx context.Context, desired *corev1.ConfigMap) error {
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: desired.Namespace, Name: desired.Name,
			Labels: desired.Labels, Annotations: desired.Annotations,
		},
		Immutable: desired.Immutable, Data: desired.Data, BinaryData: desired.BinaryData,
	}
	companion.Mark(object)
	var err error
	if desired.UID == "" {
		err = w.client.Create(ctx, object, client.FieldOwner(meta.Operator))
	} else {
		// The operator owns the whole object and therefore replaces it.
		object.UID, object.ResourceVersion = desired.UID, desired.ResourceVersion
		err = w.client.Update(ctx, object, client.FieldOwner(meta.Operator))
	}
	if err != nil {
		return fmt.Errorf("writing ConfigMap %s/%s: %w", desired.Namespace, desired.Name, classify(err))
	}
	return nil
}

// DeleteCompanion deletes a companion; a missing one is not an error.
func (w *Writer) DeleteCompanion(ctx context.Context, name types.NamespacedName) error {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	if err := client.IgnoreNotFound(w.client.Delete(ctx, object)); err != nil {
		return fmt.Errorf("deleting ConfigMap %s: %w", name, err)
	}
	return nil
}

// apply applies a body. If that fails with a conflict, it applies the body again with force if the plan allows
// this.
func (w *Writer) apply(ctx context.Context, reply client.Object, body map[string]any, p *plan.Plan, options ...client.PatchOption) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	patch := client.RawPatch(types.ApplyPatchType, text)
	options = append(options, client.FieldOwner(p.Manager))
	err = w.client.Patch(ctx, reply, patch, options...)
	if p.NeedsForce(err) {
		err = w.client.Patch(ctx, reply, patch, append(options, client.ForceOwnership)...)
	}
	return err
}

// targetGVK returns the API group, version and kind of a workload.
func targetGVK(target workload.Ref) schema.GroupVersionKind {
	return target.Adapter().GroupVersionKind
}

// classify converts the error of a request to an error type of this package. It returns nil for nil, and all other
// errors unchanged.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrStale):
		return err
	case apierrors.IsNotFound(err):
		return errors.Join(ErrGone, err)
	case hasCause(err, corev1.NamespaceTerminatingCause):
		return errors.Join(ErrTerminating, err)
	case apierrors.IsConflict(err) && hasCause(err, metav1.CauseTypeFieldManagerConflict):
		return &ConflictError{Err: err, Siblings: plan.IsSidecarConflict(err)}
	case apierrors.IsConflict(err) && anotherUID.MatchString(err.Error()):
		return errors.Join(ErrGone, err)
	case apierrors.IsConflict(err):
		return staleError(err)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err), isInternal(err, schemaError):
		return &RejectedError{err}
	case isInternal(err, tooLarge):
		return &RejectedError{fmt.Errorf("%w: with the sidecar, the object exceeds the size limit of etcd (1.5 MiB by default); make the object smaller", err)}
	case general.MatchString(err.Error()):
		return &DeniedError{Err: err, IsGeneral: true}
	case apierrors.IsForbidden(err), byAdmission.MatchString(err.Error()):
		return &DeniedError{Err: err}
	default:
		return err
	}
}

// staleError returns ErrStale for a conflict: the object has changed since it was read. Other errors stay unchanged.
func staleError(err error) error {
	if apierrors.IsConflict(err) {
		return errors.Join(ErrStale, err)
	}
	return err
}

// hasCause reports whether the API server's response contains a cause.
func hasCause(err error, cause metav1.CauseType) bool {
	_, ok := apierrors.StatusCause(err, cause)
	return ok
}

// isInternal reports whether an error is an internal error (500) with a matching text, because these errors
// have no reason. The API server returns one if an applied object does not fit its schema
// (test/envtest.TestApply_ReturnsInternalErrorForInvalidSchema), or is too large.
func isInternal(err error, text *regexp.Regexp) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError && text.MatchString(status.Status().Message)
}
