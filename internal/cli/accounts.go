// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// accounts reads the ServiceAccounts of a session. It returns the data that the operator would read, and prints a note
// if it has to assume something.
type accounts struct {
	source.Source

	session *session
}

// GetServiceAccount implements desired.ServiceAccountReader.
func (a accounts) GetServiceAccount(ctx context.Context, name types.NamespacedName) (*workload.Account, error) {
	s := a.session
	if s.installation != nil && !s.installation.ReadsAccounts {
		return &workload.Account{Unread: "the operator has no permission to read the ServiceAccount"}, nil
	}
	account, err := a.Source.GetServiceAccount(ctx, name)
	switch {
	case err != nil || account.Unread == "" && s.valuesErr == nil:
	case s.cluster == nil && account.Unread != "":
		s.addNote(fmt.Sprintf("ServiceAccount %s is not in the files: assuming that it has no imagePullSecrets, and that the operator reads it (rbac.optional.serviceAccounts)", name))
		return &workload.Account{}, nil
	case account.IsForbidden:
		s.addNote(fmt.Sprintf("could not read ServiceAccount %s: the result for workloads that use it is unknown", name))
		account.Unread = "you have no permission to read the ServiceAccount"
	case s.valuesErr != nil:
		s.addNote(fmt.Sprintf("assuming that the operator reads ServiceAccounts (rbac.optional.serviceAccounts): %v", s.valuesErr))
	}
	return account, err
}
