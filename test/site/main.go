// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command site writes the input of the generator of the documentation site into a folder. Its input is the
// repository, whose root is the working directory:
//
//   - docs/, README.md and CHANGELOG.md – pages/, with links that work on the site;
//   - docs/README.md – the navigation, which has the sections and the order of that page;
//   - the CustomResourceDefinitions and the charts' schemas of values – pages/schemas/, JSON schemas for editors;
//   - test/tools/site – the generator's configuration and the theme.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
)

// configuration is the generator's, without the navigation.
const configuration = "test/tools/site/zensical.toml"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site FOLDER")
		os.Exit(2)
	}
	files, err := generate(os.DirFS("."))
	if err == nil {
		err = write(os.Args[1], files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// generate returns the content of each file of the generator's input by its path.
func generate(repository fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(repository, "docs", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return addPage(repository, name, files)
	})
	if err != nil {
		return nil, err
	}
	for name := range moved {
		if err := addPage(repository, name, files); err != nil {
			return nil, err
		}
	}
	if err := addSchemas(repository, files); err != nil {
		return nil, err
	}
	config, err := fs.ReadFile(repository, configuration)
	if err != nil {
		return nil, err
	}
	index, err := fs.ReadFile(repository, "docs/README.md")
	if err != nil {
		return nil, err
	}
	files["zensical.toml"] = append(navigation(string(index)), config...)
	return files, nil
}

// addPage adds a file of the repository to the files of the site.
func addPage(repository fs.FS, name string, files map[string][]byte) error {
	text, err := fs.ReadFile(repository, name)
	if err != nil {
		return err
	}
	if path.Ext(name) == ".md" {
		if text, err = rewriteLinks(repository, name, text); err != nil {
			return err
		}
	}
	to, _ := sitePath(name)
	files[path.Join("pages", to)] = text
	return nil
}

func write(folder string, files map[string][]byte) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, text := range files {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
