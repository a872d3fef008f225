// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed" // the schema
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaText is the JSON schema of a Statement of in-toto with a Provenance of SLSA.
//
//go:embed provenance.schema.json
var schemaText []byte

type digestSet map[string]string

// descriptor is the ResourceDescriptor of in-toto.
type descriptor struct {
	Name   string    `json:"name,omitempty"`
	URI    string    `json:"uri,omitempty"`
	Digest digestSet `json:"digest,omitempty"`
}

// statement is the Statement of in-toto about the files and images of a release.
type statement struct {
	Type          string       `json:"_type"`
	Subject       []descriptor `json:"subject"`
	PredicateType string       `json:"predicateType"`
	Predicate     predicate    `json:"predicate"`
}

// predicate is the Provenance of SLSA. It has no times and no machine, so each build of a commit makes an equal one.
type predicate struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		ResolvedDependencies []descriptor      `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID      string            `json:"id"`
			Version map[string]string `json:"version"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// provenance returns the statement about the files that the folder has now, and about the images.
func (r *release) provenance() (string, error) {
	made := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	sums, err := r.sums()
	if err != nil {
		return "", err
	}
	for _, sum := range sums {
		made.Subject = append(made.Subject, descriptor{Name: sum.name, Digest: digestSet{"sha256": sum.digest}})
	}
	images, err := r.imageDigests()
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(images)) {
		made.Subject = append(made.Subject, descriptor{Name: name, Digest: digestSet{"sha256": images[name]}})
	}
	build := &made.Predicate.BuildDefinition
	build.BuildType = repository + "/blob/main/docs/contribute/release.md"
	build.ExternalParameters = map[string]string{"version": r.version}
	build.ResolvedDependencies = []descriptor{{URI: "git+" + repository + "@refs/tags/v" + r.version, Digest: digestSet{"gitCommit": r.commit}}}
	made.Predicate.RunDetails.Builder.ID = repository + "/blob/main/Makefile"
	made.Predicate.RunDetails.Builder.Version = map[string]string{"go": runtime.Version()}
	text, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return "", err
	}
	return string(text) + "\n", validate(text)
}

// validate checks a statement against its schema.
func validate(text []byte) error {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	if err != nil {
		return fmt.Errorf("reading provenance.schema.json: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	const name = "provenance.schema.json"
	if err := compiler.AddResource(name, schema); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return fmt.Errorf("compiling %s: %w", name, err)
	}
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("reading the provenance: %w", err)
	}
	if err := compiled.Validate(content); err != nil {
		return fmt.Errorf("checking the provenance: %w", err)
	}
	return nil
}
