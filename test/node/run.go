// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Runs is the folder that has a folder for each run, which is the record of it: named
// after its id, with a lock that the kernel holds as long as a process of the run lives.
const Runs = "/var/tmp/vector-sidecar-operator-node"

// Prefix begins the name of each run's cgroups; its id follows.
const Prefix = "vso-node-"

// removalTimeout is how long the kernel may take to end a run's last processes.
const removalTimeout = 30 * time.Second

// Run is a run of a node, by what it may leave: a folder, and cgroups.
type Run struct {
	// ID is in the name of everything that the run makes outside of its namespaces.
	ID string
	// Process is the first one in these, by its number on the machine.
	Process int
	lock    *os.File
}

// NewRun makes a run's record, before anything else of it is there.
func NewRun() (*Run, error) {
	random := make([]byte, 4)
	_, _ = rand.Read(random) // It never fails.
	r := &Run{ID: hex.EncodeToString(random)}
	release, err := alone()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := os.MkdirAll(r.Dir(), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of run %s: %w", r.ID, err)
	}
	if held, err := r.acquire(); err != nil || !held {
		return nil, errors.Join(fmt.Errorf("locking run %s", r.ID), err)
	}
	return r, nil
}

// alone keeps others from looking at runs, and from removing their folder, while one is
// made or runs are looked for.
func alone() (release func(), err error) {
	for {
		if err := os.Mkdir(Runs, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("making the folder of runs: %w", err)
		}
		runs, err := os.Open(Runs)
		if errors.Is(err, os.ErrNotExist) {
			continue // The last of the others has just removed it.
		}
		if err != nil {
			return nil, fmt.Errorf("opening the folder of runs: %w", err)
		}
		if err := syscall.Flock(int(runs.Fd()), syscall.LOCK_EX); err != nil {
			return nil, errors.Join(fmt.Errorf("locking the folder of runs: %w", err), runs.Close())
		}
		locked, err := runs.Stat()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("looking at the folder of runs: %w", err), runs.Close())
		}
		// Who waited for the lock may have got that of a folder which is there no more.
		if there, err := os.Stat(Runs); err == nil && os.SameFile(locked, there) {
			return func() { _ = runs.Close() }, nil
		}
		_ = runs.Close()
	}
}

// Dir is the run's folder.
func (r *Run) Dir() string { return filepath.Join(Runs, r.ID) }

// Cgroup is the name of the run's cgroup in each hierarchy.
func (r *Run) Cgroup() string { return Prefix + r.ID }

// acquire reports whether no other process holds the run.
func (r *Run) acquire() (bool, error) {
	lock, err := os.OpenFile(filepath.Join(r.Dir(), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, fmt.Errorf("opening the lock of run %s: %w", r.ID, err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return false, fmt.Errorf("locking run %s: %w", r.ID, err)
	}
	r.lock = lock
	return true, nil
}

// Remove removes everything that is left of a run without processes. With the last run, it
// also removes the directory of the runs.
func (r *Run) Remove() error {
	release, err := alone()
	if err != nil {
		return err
	}
	defer release()
	return r.remove()
}

func (r *Run) remove() error {
	if err := removeCgroups(r.Cgroup()); err != nil {
		return fmt.Errorf("removing the cgroups of run %s: %w", r.ID, err)
	}
	if err := os.RemoveAll(r.Dir()); err != nil {
		return fmt.Errorf("removing the folder of run %s: %w", r.ID, err)
	}
	_ = os.Remove(Runs) // As long as there are others, it stays.
	return r.lock.Close()
}

// RemoveDead removes what killed runs left, and returns their ids. Of what lives, and of
// what has no record, it touches nothing.
func RemoveDead() ([]string, error) {
	release, err := alone()
	if err != nil {
		return nil, err
	}
	defer release()
	entries, err := os.ReadDir(Runs)
	if err != nil {
		return nil, fmt.Errorf("looking for runs of before: %w", err)
	}
	var removed []string
	for _, entry := range entries {
		r := &Run{ID: entry.Name()}
		dead, err := r.acquire()
		if errors.Is(err, os.ErrNotExist) {
			continue // It has just removed itself.
		}
		if err != nil {
			return removed, err
		}
		if !dead {
			continue
		}
		if err := r.remove(); err != nil {
			return removed, err
		}
		removed = append(removed, r.ID)
	}
	return removed, nil
}
