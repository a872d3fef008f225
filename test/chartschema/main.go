// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command chartschema writes into the installation chart's schema what the sidecar chart's
// says of the values that an installation gives, so that helm install refuses what no
// VectorSidecar could be rendered with. It is run in the repository's root.
package main

import (
	"fmt"
	"os"
)

// The files that it reads and writes.
const (
	sidecarSchema      = "values.schema.json"
	installationSchema = "chart/values.schema.json"
	sidecarNames       = "chart/files/sidecar-keys.json"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write() error {
	sidecar, err := os.ReadFile(sidecarSchema)
	if err != nil {
		return err
	}
	installation, err := os.ReadFile(installationSchema)
	if err != nil {
		return err
	}
	schema, err := withDefinitions(installation, sidecar)
	if err != nil {
		return fmt.Errorf("%s: %w", installationSchema, err)
	}
	names, err := namesFile(sidecar)
	if err != nil {
		return err
	}
	if err := os.WriteFile(installationSchema, schema, 0o644); err != nil { //nolint:gosec // the name is above
		return err
	}
	return os.WriteFile(sidecarNames, names, 0o644) //nolint:gosec // the name is above
}
