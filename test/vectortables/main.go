// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command vectortables writes the table of all options of Vector's components out of
// what Vector publishes of them: make vector-tables FACTS=DIR. It judges no
// configuration, and nothing of Vector's text gets into the table.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// tables is where the tables are, from the root of the repository.
const tables = "internal/vectorlint/options/data"

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: vectortables DIR [FILE], with the folder of "+optionsFile+" and "+schemaFile+", and the options of a further release")
		os.Exit(2)
	}
	text, err := build(os.Args[1], tables, os.Args[2:]...)
	if err == nil {
		err = os.WriteFile(filepath.Join(tables, "options.txt"), []byte(text), 0o644) //nolint:gosec // a file of the repository
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// build makes the table of the facts in one folder, the lists in another, and files of
// further releases.
func build(facts, lists string, further ...string) (string, error) {
	f, err := readFacts(facts, further...)
	if err != nil {
		return "", err
	}
	denies, err := readDenies(filepath.Join(lists, "denies.tsv"))
	if err != nil {
		return "", err
	}
	exceptions, err := readExceptions(filepath.Join(lists, "exceptions.tsv"))
	if err != nil {
		return "", err
	}
	releases := widened(f, denies, exceptions)
	for _, e := range exceptions {
		if !e.isNeeded {
			return "", fmt.Errorf("the exception %q changes nothing: take it out of the list", e.writtenAs)
		}
	}
	return encode(releases), nil
}
