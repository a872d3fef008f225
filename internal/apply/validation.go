// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// CreateValidation creates a Job and the ConfigMap that the Job mounts. A VectorSidecar owns both, but a
// ClusterVectorSidecar does not. Existing objects are not an error. The error may be ErrTerminating.
func (w *Writer) CreateValidation(ctx context.Context, owner *v1alpha1.VectorSidecar, job *batchv1.Job, files *corev1.ConfigMap) error {
	var reference []metav1.OwnerReference
	if !meta.IsOfCluster(owner.Name) {
		reference = append(reference, *metav1.NewControllerRef(owner, v1alpha1.GroupVersion.WithKind("VectorSidecar")))
	}
	job, files = job.DeepCopy(), files.DeepCopy()
	job.OwnerReferences, files.OwnerReferences = reference, reference
	for _, object := range []client.Object{files, job} {
		err := w.client.Create(ctx, object, client.FieldOwner(meta.Operator))
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating Job %s/%s or its ConfigMap: %w", job.Namespace, job.Name, classify(err))
		}
	}
	return nil
}

// DeleteValidation deletes a Job, its pods and its ConfigMap. Missing objects are not an error.
func (w *Writer) DeleteValidation(ctx context.Context, name types.NamespacedName) error {
	named := metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}
	for _, object := range []client.Object{&batchv1.Job{ObjectMeta: named}, &corev1.ConfigMap{ObjectMeta: named}} {
		err := w.client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting Job %s or its ConfigMap: %w", name, err)
		}
	}
	return nil
}
