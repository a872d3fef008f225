// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarchart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Bounds of a packaged chart, unpacked.
const (
	maxUnpacked = 4 << 20
	maxEntries  = 1000
)

// unpack reads a chart as `helm package` writes it: one folder with the chart's
// files in it.
func unpack(archive []byte) (Files, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("unpacking the chart: %w", err)
	}
	files := Files{}
	left := int64(maxUnpacked)
	reader := tar.NewReader(io.LimitReader(zipped, 2*maxUnpacked))
	for n := 0; ; n++ {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) && n > 0 {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("unpacking the chart: %w", err)
		}
		if n >= maxEntries {
			return nil, fmt.Errorf("the chart has more than %d files", maxEntries)
		}
		if header.Typeflag != tar.TypeReg {
			continue // Folders; and nothing is read through a link.
		}
		_, name, inFolder := strings.Cut(header.Name, "/")
		if !inFolder || !fs.ValidPath(name) {
			return nil, fmt.Errorf("the chart has a file %q, which does not lie in its folder", header.Name)
		}
		content, err := io.ReadAll(io.LimitReader(reader, left+1))
		if err != nil {
			return nil, fmt.Errorf("unpacking %q: %w", header.Name, err)
		}
		if left -= int64(len(content)); left < 0 {
			return nil, fmt.Errorf("the chart is larger than %d bytes when unpacked", maxUnpacked)
		}
		files[name] = content
	}
}
