// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// DryRunTemplate sends a dry-run create of a pod template in a namespace. It returns the API server's reason if it
// rejects the template, otherwise "".
func (w *Writer) DryRunTemplate(ctx context.Context, namespace string, template *corev1.PodTemplateSpec) (refusal string, err error) {
	trial := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{GenerateName: "vectorsidecar-trial-", Namespace: namespace}, Template: *template}
	err = w.DryRunCreate(ctx, trial)
	switch {
	case err == nil:
		return "", nil
	case hasCause(err, corev1.NamespaceTerminatingCause):
		return "the namespace is being deleted", nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err), apierrors.IsRequestEntityTooLargeError(err):
		return err.Error(), nil
	}
	return "", fmt.Errorf("dry-running a pod template in namespace %s: %w", namespace, err)
}

// IsDenied reports whether the API server rejected a write because of its content: validation, a webhook or a
// policy.
func IsDenied(err error) bool {
	var refused *RejectedError
	return errors.As(err, &refused) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), "denied")
}

// WriteOverlaySet writes the OverlaySet of a namespace. It creates the OverlaySet if it has no resource version, and
// updates that version otherwise. The error is ErrStale if the OverlaySet has another version.
func (w *Writer) WriteOverlaySet(ctx context.Context, desired *v1alpha1.OverlaySet) error {
	var err error
	if desired.ResourceVersion == "" {
		err = w.client.Create(ctx, desired, client.FieldOwner(meta.Operator))
	} else {
		err = w.client.Update(ctx, desired, client.FieldOwner(meta.Operator))
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		err = fmt.Errorf("%w: %w", ErrStale, err)
	}
	if err != nil {
		return fmt.Errorf("writing OverlaySet %s/%s: %w", desired.Namespace, desired.Name, classify(err))
	}
	return nil
}

// DeleteOverlaySet deletes the OverlaySet of a namespace. A missing OverlaySet is not an error. If a foreground
// deletion of the OverlaySet is waiting, DeleteOverlaySet ends it.
func (w *Writer) DeleteOverlaySet(ctx context.Context, namespace string) error {
	object := &v1alpha1.OverlaySet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: meta.OverlaySet}}
	if err := client.IgnoreNotFound(w.client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))); err != nil {
		return fmt.Errorf("deleting OverlaySet %s/%s: %w", namespace, meta.OverlaySet, classify(err))
	}
	return nil
}
