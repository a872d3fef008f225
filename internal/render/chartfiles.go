// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/ignore"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
)

// Files are the files of a chart by their path from the root of the chart.
type Files map[string][]byte

// testsFolder is the directory with the tests of a chart, which are not rendered.
const testsFolder = "tests"

// ReadFiles reads the files of a chart, except its tests and the files that .helmignore excludes.
func ReadFiles(source fs.FS) (Files, error) {
	ignored, err := readIgnoreRules(source)
	if err != nil {
		return nil, fmt.Errorf("reading the sidecar chart: %w", err)
	}
	files, err := bounded.Chart().ReadFolder(source, func(name string, entry fs.DirEntry) bool {
		info, err := entry.Info()
		return name == testsFolder || err == nil && ignored.Ignore(name, info)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the sidecar chart: %w", err)
	}
	return files, nil
}

// readIgnoreRules returns the ignore rules that Helm applies to a chart.
func readIgnoreRules(source fs.FS) (*ignore.Rules, error) {
	rules := ignore.Empty()
	text, err := bounded.Chart().ReadFile(source, ignore.HelmIgnore)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if rules, err = ignore.Parse(bytes.NewReader(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", ignore.HelmIgnore, err)
		}
	}
	rules.AddDefaults()
	return rules, nil
}

// WithConfigMap returns the files overlaid with the files of a ConfigMap. A key is a path with "__" for each slash. A key
// without "__" is a file in templates/, except for Chart.yaml, values.yaml and values.schema.json. The ConfigMap
// replaces all original files if it contains a whole chart: a key Chart.yaml with more than annotations, or a
// packaged chart in a key that ends in .tgz.
func (f Files) WithConfigMap(text map[string]string, binary map[string][]byte) (Files, error) {
	files := Files{}
	base := f
	card, hasCard := text[chartFile]
	isWhole := hasCard && IsWholeChart([]byte(card))
	if isWhole {
		base = Files{}
	} else {
		text = maps.Clone(text)
		delete(text, chartFile)
	}
	for _, key := range slices.Sorted(maps.Keys(binary)) {
		if !strings.HasSuffix(key, ".tgz") {
			files[chartPath(key)] = binary[key]
			continue
		}
		archive, err := bounded.Chart().ReadArchive(binary[key])
		if err != nil {
			return nil, fmt.Errorf("%s: unpacking: %w", key, err)
		}
		base, isWhole = archive, true
	}
	if !isWhole { // The contract of a whole chart is checked when the chart is loaded.
		if err := checkContract(contracts, readContract([]byte(card))); err != nil {
			return nil, err
		}
	}
	for key, content := range text {
		files[chartPath(key)] = []byte(content)
	}
	if len(files)+len(binary) == 0 {
		return nil, errors.New("no files; add the files that differ from the built-in chart, such as podtemplate.yaml")
	}
	return base.overlayFiles(files)
}

// overlayFiles returns the files overlaid with changed files.
func (f Files) overlayFiles(changed Files) (Files, error) {
	files := maps.Clone(f)
	for path, content := range changed {
		if !fs.ValidPath(path) {
			return nil, fmt.Errorf("%q is not a valid file path", path)
		}
		files[path] = content
	}
	return files, nil
}

// WithDirectory returns the files overlaid with the files of a directory that is not a whole chart. A file at the
// root of the directory is read as a key of a ConfigMap (see WithConfigMap). So the directory gives the same result
// as a ConfigMap made from it. A file in a subdirectory keeps its path.
func (f Files) WithDirectory(source fs.FS) (Files, error) {
	files, err := ReadFiles(source)
	if err != nil {
		return nil, err
	}
	text, binary, nested := map[string]string{}, map[string][]byte{}, Files{}
	for name, content := range files {
		switch {
		case strings.Contains(name, "/"):
			nested[name] = content
		case strings.HasSuffix(name, ".tgz"):
			binary[name] = content
		default:
			text[name] = string(content)
		}
	}
	for name := range text {
		if _, isTwice := nested[chartPath(name)]; isTwice {
			return nil, fmt.Errorf("reading the sidecar chart: files %s and %s are the same file of the chart; remove one of them", name, chartPath(name))
		}
	}
	if len(text)+len(binary) == 0 && len(nested) > 0 {
		return f.overlayFiles(nested)
	}
	combined, err := f.WithConfigMap(text, binary)
	if err != nil {
		return nil, fmt.Errorf("reading the sidecar chart: %w", err)
	}
	return combined.overlayFiles(nested)
}

// FS returns the files as a file system.
func (f Files) FS() (fs.FS, error) {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		file, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", name, err)
		}
		if _, err := file.Write(f[name]); err != nil {
			return nil, fmt.Errorf("packing %s: %w", name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("packing the sidecar chart: %w", err)
	}
	return zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
}

const chartFile = "Chart.yaml"

// chartPath returns the path in a chart for the key of a ConfigMap.
func chartPath(key string) string {
	switch {
	case key == chartFile, key == "values.yaml", key == "values.schema.json":
		return key
	case strings.Contains(key, "__"):
		return strings.ReplaceAll(key, "__", "/")
	}
	return "templates/" + key
}

// bufferedFiles returns the files in the type of Helm's loader, sorted by path.
func (f Files) bufferedFiles() []*loader.BufferedFile {
	var files []*loader.BufferedFile
	for _, name := range slices.Sorted(maps.Keys(f)) {
		files = append(files, &loader.BufferedFile{Name: name, Data: f[name]})
	}
	return files
}

// digest returns a digest of all names and contents.
func (f Files) digest() string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(sum, "%d %s %d\n", len(name), name, len(f[name]))
		sum.Write(f[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}
