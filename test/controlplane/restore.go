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

// SnapshotEtcd stops etcd for a moment, copies its data to a folder, which must not exist
// yet, and has it go on.
func (c *ControlPlane) SnapshotEtcd(ctx context.Context, folder string) error {
	if err := c.KillEtcd(ctx); err != nil {
		return err
	}
	if err := os.CopyFS(folder, os.DirFS(c.etcdData())); err != nil {
		return fmt.Errorf("copying the data of etcd: %w", err)
	}
	return c.StartEtcd()
}

// RestoreEtcd puts a snapshot in place of etcd's data, as an operator of a cluster does
// after a disaster: kube-apiserver does not run meanwhile. What was written since the snapshot
// is gone, and resource versions go back to it.
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
