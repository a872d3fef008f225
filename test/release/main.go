// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command release completes a folder with the files of a release: release notes, the manifest of the plugin for krew,
// an in-toto statement about where the files come from, which is checked against its schema, and SHA256SUMS. Equal
// files and arguments give equal results.
//
//	go run ./test/release -version VERSION -commit COMMIT FOLDER IMAGE=LAYOUT...
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/google/go-containerregistry/pkg/v1/layout"
)

const (
	repository = "https://github.com/kontroloop-ai/vector-sidecar-operator"
	sumsFile   = "SHA256SUMS"
	notesFile  = "notes.md"
)

// release describes a release.
type release struct {
	version, commit string
	// folder has the files of the release.
	folder string
	// images are the layouts of images, NAME=FOLDER each.
	images []string
}

func main() {
	var r release
	flag.StringVar(&r.version, "version", "", "the version, without v")
	flag.StringVar(&r.commit, "commit", "", "the commit from which the files were built")
	flag.Parse()
	if r.version == "" || r.commit == "" || flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	r.folder, r.images = flag.Arg(0), flag.Args()[1:]
	if err := r.complete(); err != nil {
		fmt.Fprintf(os.Stderr, "completing release %s: %v\n", r.version, err)
		os.Exit(1)
	}
}

// complete writes the remaining files of the release.
func (r *release) complete() error {
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	notes, err := notesOf(string(changelog), r.version)
	if err != nil {
		return err
	}
	krew, err := os.ReadFile(".krew.yaml")
	if err != nil {
		return err
	}
	manifest, err := r.krewManifest(string(krew))
	if err != nil {
		return fmt.Errorf("filling .krew.yaml: %w", err)
	}
	if err := r.write("vectorsidecar.yaml", manifest); err != nil {
		return err
	}
	provenance, err := r.provenance()
	if err != nil {
		return err
	}
	if err := r.write("provenance.intoto.json", provenance); err != nil {
		return err
	}
	if err := r.write(notesFile, notes); err != nil {
		return err
	}
	sums, err := r.sums()
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, sum := range sums {
		fmt.Fprintf(&text, "%s  %s\n", sum.digest, sum.name)
	}
	return r.write(sumsFile, text.String())
}

func (r *release) write(name, text string) error {
	return os.WriteFile(filepath.Join(r.folder, name), []byte(text), 0o644) //nolint:gosec // The maintainer names the folder.
}

// fileSum is the SHA-256 digest of a file.
type fileSum struct{ name, digest string }

// sums returns the digests of all files, by name.
func (r *release) sums() ([]fileSum, error) {
	entries, err := os.ReadDir(r.folder)
	if err != nil {
		return nil, err
	}
	var sums []fileSum
	for _, entry := range entries {
		if entry.Name() == sumsFile {
			continue
		}
		digest, err := r.digest(entry.Name())
		if err != nil {
			return nil, err
		}
		sums = append(sums, fileSum{entry.Name(), digest})
	}
	return sums, nil
}

// digest returns the SHA-256 digest of a file.
func (r *release) digest(name string) (string, error) {
	content, err := os.ReadFile(filepath.Join(r.folder, name))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

// krewManifest fills the template of the plugin's manifest as krew-release-bot does, with the archives of the folder.
func (r *release) krewManifest(text string) (string, error) {
	parsed, err := template.New(".krew.yaml").Option("missingkey=error").Funcs(template.FuncMap{
		"addURIAndSha": func(uri, tag string) (string, error) {
			uri = strings.ReplaceAll(uri, "{{ .TagName }}", tag)
			digest, err := r.digest(filepath.Base(uri))
			return "uri: " + uri + "\nsha256: " + digest, err
		},
		"indent": func(n int, text string) string {
			return strings.TrimSpace(strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", n)))
		},
	}).Parse(text)
	if err != nil {
		return "", err
	}
	var filled strings.Builder
	err = parsed.Execute(&filled, map[string]string{"TagName": "v" + r.version})
	return filled.String(), err
}

// imageDigests returns the digests of the images, by name.
func (r *release) imageDigests() (map[string]string, error) {
	digests := map[string]string{}
	for _, image := range r.images {
		name, folder, _ := strings.Cut(image, "=")
		index, err := layout.ImageIndexFromPath(folder)
		if err != nil {
			return nil, fmt.Errorf("reading image %s: %w", name, err)
		}
		manifest, err := index.IndexManifest()
		if err != nil {
			return nil, fmt.Errorf("reading image %s: %w", name, err)
		}
		if len(manifest.Manifests) != 1 {
			return nil, fmt.Errorf("reading image %s: the layout has %d images; expected one", name, len(manifest.Manifests))
		}
		digests[name] = manifest.Manifests[0].Digest.Hex
	}
	return digests, nil
}

// notesOf returns the section of a version in the changelog, or that of the next release, with absolute links.
func notesOf(changelog, version string) (string, error) {
	for _, heading := range []string{"## [" + version + "]", "## [Unreleased]"} {
		_, section, ok := strings.Cut(changelog, "\n"+heading)
		if !ok {
			continue
		}
		_, section, _ = strings.Cut(section, "\n") // The heading may have a date.
		section, _, _ = strings.Cut(section, "\n## ")
		return strings.ReplaceAll(strings.TrimSpace(section), "](docs/", "]("+repository+"/blob/v"+version+"/docs/") + "\n", nil
	}
	return "", errors.New("CHANGELOG.md has no section of this version, and none of unreleased changes")
}
