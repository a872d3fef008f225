// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// scopeInterval is the interval for checking the namespaces that the operator does not watch.
const scopeInterval = 10 * time.Second

// unwatchedNamespaces are the namespaces in the options that the operator does not watch, because it cannot read them.
// They were deleted together with their Role, or do not exist yet.
type unwatchedNamespaces struct {
	names []string
	live  client.Reader
}

// excludeUnreadableNamespaces removes the namespaces that cannot be read from the options, because an informer without
// permission to list one would block all others. It removes none if it would have to remove all,
// because an empty list stands for the whole cluster.
func excludeUnreadableNamespaces(ctx context.Context, config *rest.Config, options *Options) (*unwatchedNamespaces, error) {
	m := &unwatchedNamespaces{}
	if len(options.WatchNamespaces) < 2 {
		return m, nil
	}
	var err error
	if m.live, err = client.New(config, client.Options{Scheme: newScheme()}); err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	var watched []string
	for _, name := range options.WatchNamespaces {
		switch err := m.checkNamespace(ctx, name); {
		case err == nil:
			watched = append(watched, name)
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
			m.names = append(m.names, name)
		default:
			return nil, fmt.Errorf("getting namespace %s of --watch-namespaces: %w", name, err)
		}
	}
	if len(watched) == 0 {
		return &unwatchedNamespaces{}, nil
	}
	for _, name := range m.names {
		telemetry.Warn(ctrl.Log, "a namespace of --watch-namespaces is not watched: it cannot be read, because the namespace or its Role does not exist; "+
			"remove the namespace from watchNamespaces, or create the namespace and upgrade the release", "namespace", name)
	}
	options.WatchNamespaces = watched
	return m, nil
}

// checkNamespace returns an error if a namespace does not exist or may not be read.
func (m *unwatchedNamespaces) checkNamespace(ctx context.Context, name string) error {
	return m.live.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{})
}

// check returns an error when one of the namespaces can be read. The error ends the operator, because a cache cannot
// add a namespace after its start.
func (m *unwatchedNamespaces) check(ctx context.Context) error {
	for _, name := range m.names {
		if m.checkNamespace(ctx, name) == nil {
			return fmt.Errorf("namespace %s of --watch-namespaces can be read now; restarting to watch it", name)
		}
	}
	return nil
}
