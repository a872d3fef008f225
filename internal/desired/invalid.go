// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"errors"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Invalid explains why nothing may be injected. Workloads stay unchanged.
type Invalid struct {
	// Reason is a reason of package meta.
	Reason string
	// Message names the object, the path and the action to take.
	Message string
}

// err returns the message as an error, nil for a nil Invalid.
func (i *Invalid) err() error {
	if i == nil {
		return nil
	}
	return errors.New(i.Message)
}

// Describe names a VectorSidecar in a message.
func Describe(sidecar *v1alpha1.VectorSidecar) string {
	return meta.TitleIn(sidecar.Namespace, sidecar.Name)
}
