// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command functions prints the table of the functions that VRL has in each release of Vector,
// out of the sources in two Git repositories: names, arguments with their kinds, closures and
// results, and nothing of their text: make vrl-functions VECTOR_REPOSITORY=DIR VRL_REPOSITORY=DIR
package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldest and newest are the releases 0.MINOR that are read.
const oldest, newest = 45, 57

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: functions VECTOR VRL, with the folders of both Git repositories")
		os.Exit(2)
	}
	text, err := table(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
}

// table has a line for a function that is the same from one release to another.
func table(vector, vrl string) (string, error) {
	since := map[string]int{}
	var lines []string
	end := func(line string, last int) {
		name, rest, _ := strings.Cut(line, "\t")
		lines = append(lines, fmt.Sprintf("%s\t%d\t%d\t%s", name, since[line], last, rest))
		delete(since, line)
	}
	for minor := oldest; minor <= newest; minor++ {
		functions, err := read(vector, vrl, minor)
		if err != nil {
			return "", fmt.Errorf("reading the release 0.%d: %w", minor, err)
		}
		for line := range since {
			if !slices.Contains(functions, line) {
				end(line, minor-1)
			}
		}
		for _, line := range functions {
			if since[line] == 0 {
				since[line] = minor
			}
		}
	}
	for line := range since {
		end(line, newest)
	}
	slices.Sort(lines)
	return "# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors\n# SPDX-License-Identifier: Apache-2.0\n" + strings.Join(lines, "\n") + "\n", nil
}

// read returns the lines of a release, without their releases.
func read(vector, vrl string, minor int) ([]string, error) {
	tag, err := newestTag(vector, minor)
	if err != nil {
		return nil, err
	}
	lock, err := git(vector, "show", tag+":Cargo.lock")
	if err != nil {
		return nil, err
	}
	revision, err := revisionOf(lock)
	if err != nil {
		return nil, err
	}
	language, err := files(vrl, revision, "src/stdlib")
	if err != nil {
		return nil, err
	}
	own, err := files(vector, tag, "lib")
	if err != nil {
		return nil, err
	}
	return append(functionsOf(language, listed(language["src/stdlib/mod.rs"])), functionsOf(own, nil)...), nil
}

// newestTag is that of the last patch of a release.
func newestTag(repository string, minor int) (string, error) {
	text, err := git(repository, "tag", "--list", fmt.Sprintf("v0.%d.*", minor), "--sort=-version:refname")
	if err == nil && text == "" {
		err = fmt.Errorf("%q has no tag of it", repository)
	}
	tag, _, _ := strings.Cut(text, "\n")
	return tag, err
}

var locked = regexp.MustCompile(`name = "vrl"\nversion = "([^"]+)"\nsource = "[^"#]*#?([0-9a-f]*)"`)

// revisionOf is the revision of VRL that a lock file names.
func revisionOf(lock string) (string, error) {
	match := locked.FindStringSubmatch(lock)
	switch {
	case match == nil:
		return "", fmt.Errorf("its lock file does not name vrl")
	case match[2] != "":
		return match[2], nil
	default:
		return "v" + match[1], nil
	}
}

// files are the Rust sources in a folder, by their path.
func files(repository, revision, folder string) (map[string]string, error) {
	names, err := git(repository, "grep", "-l", "-E", "impl Function for|: Parameter|fn all|-> TypeDef", revision, "--", folder+"/*.rs")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, name := range strings.Fields(names) {
		text, err := git(repository, "show", name)
		if err != nil {
			return nil, err
		}
		all[strings.TrimPrefix(name, revision+":")] = text
	}
	return all, nil
}

func git(repository string, arguments ...string) (string, error) {
	text, err := exec.Command("git", append([]string{"-C", repository}, arguments...)...).Output() //nolint:gosec // the folder is given by who runs it
	if err != nil {
		return "", fmt.Errorf("running git %s in %q: %w", strconv.Quote(strings.Join(arguments, " ")), repository, err)
	}
	return string(text), nil
}
