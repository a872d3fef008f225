// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// SnapshotEtcd stops etcd, copies its data to a folder, which must not exist yet, and starts it again.
func (c *ControlPlane) SnapshotEtcd(ctx context.Context, folder string) error {
	if err := c.KillEtcd(ctx); err != nil {
		return err
	}
	if err := os.CopyFS(folder, os.DirFS(c.etcdData())); err != nil {
		return fmt.Errorf("copying the data of etcd: %w", err)
	}
	return c.StartEtcd()
}

// RestoreEtcd replaces etcd's data by a snapshot, as a cluster administrator does after a disaster, while
// kube-apiserver does not run. Writes after the snapshot are lost, and resource versions decrease to it.
func (c *ControlPlane) RestoreEtcd(ctx context.Context, folder string) error {
	if err := errors.Join(c.KillAPIServer(ctx), c.KillEtcd(ctx)); err != nil {
		return err
	}
	if err := os.RemoveAll(c.etcdData()); err != nil {
		return fmt.Errorf("removing the data of etcd: %w", err)
	}
	if err := os.CopyFS(c.etcdData(), os.DirFS(folder)); err != nil {
		return fmt.Errorf("restoring the data of etcd: %w", err)
	}
	if err := c.StartEtcd(); err != nil {
		return err
	}
	return c.StartAPIServer()
}

func (c *ControlPlane) etcdData() string { return filepath.Join(c.dir, "etcd") }
