// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command chartfiles writes the files of the installation chart that other files determine. Its
// input is the repository, whose root is the working directory:
//
//   - the sidecar chart's schema – the definitions in the installation chart's schema, so that helm
//     install rejects values with which no VectorSidecar could be rendered;
//   - the comments of chart/values.yaml – docs/reference/values.md and the chart's README;
//   - the comments of values.yaml – docs/reference/sidecar-values.md;
//   - CHANGELOG.md – the changes that Artifact Hub shows, in Chart.yaml;
//   - LICENSE and values/ – copies for a user who has nothing but the chart's package.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The files that generate reads.
const (
	sidecarSchema = "values.schema.json"
	chartValues   = "chart/values.yaml"
	sidecarValues = "values.yaml"
	changelog     = "CHANGELOG.md"
	license       = "LICENSE"
	environments  = "values/*.yaml"
)

// The files that it returns, besides copies.
const (
	installationSchema = "chart/values.schema.json"
	sidecarNames       = "chart/files/sidecar-keys.json"
	valuesPage         = "docs/reference/values.md"
	sidecarPage        = "docs/reference/sidecar-values.md"
	chartReadme        = "chart/README.md"
	chartMetadata      = "chart/Chart.yaml"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write() error {
	files, err := generate(".")
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the content of each generated file by its path below root.
func generate(root string) (map[string][]byte, error) {
	inputs := map[string][]byte{}
	copied, err := filepath.Glob(filepath.Join(root, environments))
	if err != nil {
		return nil, err
	}
	names := []string{sidecarSchema, sidecarValues, chartValues, changelog, license, installationSchema, chartMetadata}
	for _, file := range copied {
		names = append(names, filepath.Join(filepath.Dir(environments), filepath.Base(file)))
	}
	for _, name := range names {
		if inputs[name], err = os.ReadFile(filepath.Join(root, name)); err != nil {
			return nil, err
		}
	}
	files := map[string][]byte{}
	for _, name := range slices.Concat([]string{license}, names[len(names)-len(copied):]) {
		files[filepath.Join("chart", name)] = inputs[name]
	}
	if files[installationSchema], err = withDefinitions(inputs[installationSchema], inputs[sidecarSchema]); err != nil {
		return nil, fmt.Errorf("%s: %w", installationSchema, err)
	}
	if files[sidecarNames], err = namesFile(inputs[sidecarSchema]); err != nil {
		return nil, err
	}
	table, err := valuesTable(inputs[chartValues], files[installationSchema])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", chartValues, err)
	}
	files[valuesPage], files[chartReadme] = []byte(valuesHeader+table), []byte(readmeHeader+table)
	sidecarTable, err := valuesTable(inputs[sidecarValues], inputs[sidecarSchema], setByOperator...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sidecarValues, err)
	}
	files[sidecarPage] = []byte(sidecarHeader + sidecarTable)
	if files[chartMetadata], err = withChanges(inputs[chartMetadata], releaseChanges(string(inputs[changelog]))); err != nil {
		return nil, fmt.Errorf("%s: %w", chartMetadata, err)
	}
	return files, nil
}
