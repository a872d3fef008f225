// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// BinVariable names the environment variable that may hold the absolute path of the folder with the built tools.
// The default is the repository's bin.
const BinVariable = "CONTROLPLANE_BIN"

// Bin returns the path of one of the repository's built tools: kubectl, helm, helm-unittest, operator and the
// control plane's programs. Its error names the tool and the command that builds it.
func Bin(name string) (string, error) {
	dir, err := binDir()
	if err != nil {
		return "", err
	}
	return findBinary(dir, name)
}

func findBinary(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("finding program %q in %s: it is not there; run \"make tools build\" first: %w", name, dir, os.ErrNotExist)
	}
	return path, nil
}

func binDir() (string, error) {
	if dir := os.Getenv(BinVariable); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("reading %s: %q is not an absolute path", BinVariable, dir)
		}
		return dir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "bin"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("finding the repository: no go.mod here or above; set " + BinVariable)
		}
		dir = parent
	}
}

// binariesFor finds all programs that options need, so that one error names all missing ones.
func binariesFor(options Options) (map[string]string, error) {
	names := []string{"etcd", "kube-apiserver"}
	if options.Controllers {
		names = append(names, "kube-controller-manager")
	}
	if options.Nodes > 0 || options.Scheduler {
		names = append(names, "kube-scheduler")
	}
	if options.Nodes > 0 {
		names = append(names, "kwok")
	}
	dir, err := binDir()
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	var missing []string
	for _, name := range names {
		path, err := findBinary(dir, name)
		if err != nil {
			missing = append(missing, name)
			continue
		}
		paths[name] = path
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("finding %s in %s: not there; run \"make tools\" first: %w", strings.Join(missing, ", "), dir, os.ErrNotExist)
	}
	return paths, nil
}
