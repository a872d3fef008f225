// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command download installs released programs instead of building them from the tool modules, and writes the file that
// lists them.
//
//	download [-entries FILE] install PROGRAM
//	download [-entries FILE] fill
//
// install downloads PROGRAM, whose name is that of a tool, if the file has an entry with the pinned version and the
// platform of this machine. Otherwise, it exits with 3. fill writes the entries of all programs whose
// vendor publishes digests.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
)

// modules is the folder of the tool modules, which pin the versions.
const modules = "test/tools"

// errNoEntry is returned by install if the program must be built.
var errNoEntry = errors.New("no entry")

func main() {
	entries := flag.String("entries", modules+"/downloads.tsv", "the file of the entries")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	switch command := flag.Arg(0); {
	case command == "install" && flag.NArg() == 2:
		err = install(ctx, *entries, flag.Arg(1))
	case command == "fill" && flag.NArg() == 1:
		err = fill(ctx, *entries, vendors())
	default:
		flag.Usage()
		os.Exit(2)
	}
	stop()
	switch {
	case errors.Is(err, errNoEntry):
		fmt.Printf("%v; building it\n", err)
		os.Exit(3)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// install downloads a program by its entry in a file.
func install(ctx context.Context, file, program string) error {
	entries, err := readEntries(file)
	if err != nil {
		return err
	}
	name, platform := filepath.Base(program), runtime.GOOS+"/"+runtime.GOARCH
	for _, vendor := range vendors() {
		if vendor.name != name {
			continue
		}
		version, err := vendor.pinnedVersion()
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if entry.name == name && entry.version == version && entry.platform == platform {
				return entry.install(ctx, vendor.member, program)
			}
		}
		return fmt.Errorf("%s %s for %s: %w in %s", name, version, platform, errNoEntry, file)
	}
	return fmt.Errorf("%s: %w, because its vendor publishes no digest", name, errNoEntry)
}
