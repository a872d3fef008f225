// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"errors"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Invalid explains why the operator must not inject sidecars. The workloads stay unchanged.
type Invalid struct {
	// Reason is a condition reason of package meta.
	Reason string
	// Message names the object and the path of the error, and the action of the user.
	Message string
}

// err returns the message as an error, or nil for a nil Invalid.
func (i *Invalid) err() error {
	if i == nil {
		return nil
	}
	return errors.New(i.Message)
}

// Describe returns the kind, namespace and name of a VectorSidecar for messages.
func Describe(sidecar *v1alpha1.VectorSidecar) string {
	return meta.TitleIn(sidecar.Namespace, sidecar.Name)
}
