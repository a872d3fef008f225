// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// vendor says where a tool is published. URLs have placeholders: {version} and {arch}.
type vendor struct {
	name      string // of the tool
	module    string // the Go module that has its version, in the tool module of folder
	folder    string
	url       string
	checksums string // the URL of the published digest, or of a list with it
	member    string // the name of the program, if url is that of an archive
}

// architectures are those of the entries. Their system is Linux.
var architectures = []string{"amd64", "arm64"}

// vendors lists the tools whose vendor publishes programs with digests. All others are built.
func vendors() []vendor {
	const (
		helm = "https://get.helm.sh/helm-{version}-linux-{arch}.tar.gz"
		etcd = "https://github.com/etcd-io/etcd/releases/download/{version}/"
		kind = "https://github.com/kubernetes-sigs/kind/releases/download/{version}/kind-linux-{arch}"
	)
	all := []vendor{
		{"etcd", "go.etcd.io/etcd/server/v3", "etcd", etcd + "etcd-{version}-linux-{arch}.tar.gz", etcd + "SHA256SUMS", "etcd"},
		{"helm", "helm.sh/helm/v3", "helm", helm, helm + ".sha256sum", "helm"},
		{"helm4", "helm.sh/helm/v4", "helm4", helm, helm + ".sha256sum", "helm"},
		{"kind", "sigs.k8s.io/kind", "kind", kind, kind + ".sha256sum", ""},
	}
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler", "kubectl", "kubelet"} {
		url := "https://dl.k8s.io/{version}/bin/linux/{arch}/" + name
		all = append(all, vendor{name, "k8s.io/kubernetes", "kubernetes", url, url + ".sha512", ""})
	}
	return all
}

// pinnedVersion returns the version that the tool module requires.
func (v vendor) pinnedVersion() (string, error) {
	file := filepath.Join(modules, v.folder, "go.mod")
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	match := regexp.MustCompile(`(?m)^(?:require)?\s*` + regexp.QuoteMeta(v.module) + ` (v\S+)`).FindSubmatch(text)
	if match == nil {
		return "", fmt.Errorf("reading %s: no requirement of %s", file, v.module)
	}
	return string(match[1]), nil
}

// entry returns the entry of a version and an architecture with the digest that the vendor publishes.
func (v vendor) entry(ctx context.Context, version, arch string) (entry, error) {
	fill := strings.NewReplacer("{version}", version, "{arch}", arch).Replace
	made := entry{name: v.name, version: version, platform: "linux/" + arch, url: fill(v.url)}
	text, err := fetch(ctx, fill(v.checksums))
	if err != nil {
		return made, err
	}
	if made.digest, err = publishedDigest(string(text), path.Base(made.url)); err != nil {
		return made, fmt.Errorf("reading %s: %w", fill(v.checksums), err)
	}
	return made, nil
}

// publishedDigest returns the digest of a file. The text is a bare digest, or has lines with digest and file.
func publishedDigest(text, file string) (string, error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 1 && (len(fields) != 2 || strings.TrimPrefix(fields[1], "*") != file) {
			continue
		}
		digest := strings.ToLower(fields[0])
		switch decoded, err := hex.DecodeString(digest); {
		case err == nil && len(decoded) == 32:
			return "sha256:" + digest, nil
		case err == nil && len(decoded) == 64:
			return "sha512:" + digest, nil
		}
	}
	return "", fmt.Errorf("no digest of %s", file)
}

// fill writes the entries of all vendors to a file. If a vendor cannot be reached, the entry of the same version stays,
// and fill returns an error.
func fill(ctx context.Context, file string, vendors []vendor) error {
	before, err := readEntries(file)
	if err != nil {
		return err
	}
	var entries []string
	var errs []error
	for _, v := range vendors {
		version, err := v.pinnedVersion()
		if err != nil {
			return err
		}
		for _, arch := range architectures {
			made, err := v.entry(ctx, version, arch)
			if err != nil {
				errs = append(errs, err)
				at := slices.IndexFunc(before, func(e entry) bool {
					return e.name == made.name && e.version == made.version && e.platform == made.platform && e.url == made.url
				})
				if at < 0 {
					continue
				}
				made = before[at]
			}
			entries = append(entries, made.String()+"\n")
		}
	}
	slices.Sort(entries)
	if err := os.WriteFile(file, []byte(header+strings.Join(entries, "")), 0o644); err != nil {
		return err
	}
	fmt.Printf("%s has %d entries\n", file, len(entries))
	return errors.Join(errs...)
}

// header is the beginning of the file of the entries.
const header = `# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# Released programs that TOOLS=download installs. A tool without an entry is built. make downloads writes this file from
# the digests that the vendors publish.
#
# name	version	platform	URL	digest
`
