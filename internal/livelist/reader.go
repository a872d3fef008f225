// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package livelist

import (
	"context"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reader returns a client.Reader for code that reads from caches and files, too. It lists page by page, but keeps all
// objects whole, so list with it only what tenants cannot write: objects in the operator's namespace.
func (c *Client) Reader() client.Reader { return wholeReader{c} }

type wholeReader struct{ *Client }

// List implements client.Reader.
func (r wholeReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	items, err := Collect(ctx, r.Client, list, func(object client.Object) (runtime.Object, bool) { return object, true }, options...)
	if err != nil {
		return err
	}
	if err := apimeta.SetList(list, items); err != nil {
		return fmt.Errorf("copying a list: %w", err)
	}
	return nil
}
