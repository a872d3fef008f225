// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package livelist

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errWholeList is the error of a list that would keep its objects whole.
var errWholeList = errors.New("listing: this reader only gets objects; use livelist.Collect, Contains or Find")

// Reader returns a client.Reader for code that gets objects from caches and files, too. Its List returns an error.
func (c *Client) Reader() client.Reader { return getter{c} }

type getter struct{ *Client }

// List implements client.Reader.
func (getter) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errWholeList
}
