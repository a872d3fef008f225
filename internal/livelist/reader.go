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

// Reader returns a client.Reader that gets live objects. Its List returns an error, because it would not list page by
// page.
func (c *Client) Reader() client.Reader { return getter{c} }

// getter is a client.Reader that only gets objects.
type getter struct{ *Client }

// List returns an error. It implements client.Reader.
func (getter) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errWholeList
}
