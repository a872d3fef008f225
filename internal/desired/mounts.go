// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// mountContent contains the paths of the files in one mount of a container.
type mountContent struct {
	path string
	// isKnown reports whether files contains all files of the mount. The content of a Secret, for example, is not
	// known.
	isKnown bool
	files   []string
}

// mountContents returns the files of each mount of the container. The files are known for ConfigMaps that have been
// read, and for volumes that list their items.
func (s *sidecarFiles) mountContents() []mountContent {
	var contents []mountContent
	for _, mount := range s.container.VolumeMounts {
		content := mountContent{path: path.Clean(mount.MountPath)}
		i := slices.IndexFunc(s.spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == mount.Name })
		if i < 0 || mount.SubPathExpr != "" {
			contents = append(contents, content)
			continue
		}
		files, isKnown := s.filesOfVolume(&s.spec.Volumes[i])
		content.isKnown = isKnown
		for _, file := range files {
			if relative, isBelow := relativePath(path.Clean(file), mount.SubPath); isBelow {
				content.files = append(content.files, path.Join(content.path, relative))
			}
		}
		contents = append(contents, content)
	}
	return contents
}

// filesOfVolume returns the files of a volume that are known. isKnown reports whether the volume has no other files.
func (s *sidecarFiles) filesOfVolume(volume *corev1.Volume) (files []string, isKnown bool) {
	switch {
	case volume.ConfigMap != nil:
		return s.filesOfConfigMap(volume.ConfigMap.Name, volume.ConfigMap.Items)
	case volume.Secret != nil:
		return itemPaths(volume.Secret.Items), len(volume.Secret.Items) > 0
	case volume.DownwardAPI != nil:
		return downwardPaths(volume.DownwardAPI.Items), true
	case volume.Projected == nil:
		return nil, false
	}
	isKnown = true
	for i := range volume.Projected.Sources {
		sourceFiles, isSourceKnown := s.filesOfProjection(&volume.Projected.Sources[i])
		files, isKnown = append(files, sourceFiles...), isKnown && isSourceKnown
	}
	return files, isKnown
}

// filesOfProjection returns the files of one source of a projected volume that are known. isKnown reports whether the
// source has no other files.
func (s *sidecarFiles) filesOfProjection(projection *corev1.VolumeProjection) (files []string, isKnown bool) {
	switch {
	case projection.ConfigMap != nil:
		return s.filesOfConfigMap(projection.ConfigMap.Name, projection.ConfigMap.Items)
	case projection.Secret != nil:
		return itemPaths(projection.Secret.Items), len(projection.Secret.Items) > 0
	case projection.DownwardAPI != nil:
		return downwardPaths(projection.DownwardAPI.Items), true
	case projection.ServiceAccountToken != nil:
		return []string{projection.ServiceAccountToken.Path}, true
	}
	return nil, false
}

// filesOfConfigMap returns the files of a mounted ConfigMap that are known. isKnown reports whether these
// are all of its files.
func (s *sidecarFiles) filesOfConfigMap(name string, items []corev1.KeyToPath) (files []string, isKnown bool) {
	if len(items) > 0 {
		return itemPaths(items), true
	}
	for _, object := range s.config.appendTo(s.companions) {
		if object.Name == name {
			return allKeys(&object), true
		}
	}
	return nil, false
}

// itemPaths returns the paths of the items of a volume.
func itemPaths(items []corev1.KeyToPath) []string {
	var paths []string
	for _, item := range items {
		paths = append(paths, item.Path)
	}
	return paths
}

// downwardPaths returns the paths of the items of a downward API volume.
func downwardPaths(items []corev1.DownwardAPIVolumeFile) []string {
	var paths []string
	for _, item := range items {
		paths = append(paths, item.Path)
	}
	return paths
}

// missingSources returns the files and directories that Vector's command line names but that do not exist in the
// container. isPartial is true if Vector may read files with unknown content.
func (s *sidecarFiles) missingSources() (absent []vectorflags.Source, isPartial bool) {
	if s.line == nil {
		return nil, false
	}
	textFiles := map[string]bool{}
	for _, object := range s.config.appendTo(s.companions) {
		for file, key := range mountedFiles(s.container, s.spec, &object) {
			_, isText := object.Data[key]
			textFiles[file] = isText
		}
	}
	contents := s.mountContents()
	for _, source := range s.line.Sources {
		exists, isKnown := s.sourceExists(source, contents)
		if !exists && isKnown {
			absent = append(absent, source)
		}
		hasUnreadFile := slices.ContainsFunc(contents, func(content mountContent) bool {
			return slices.ContainsFunc(content.files, func(file string) bool {
				_, isRead := source.Matches(file, s.container.WorkingDir)
				return isRead && !textFiles[file]
			})
		})
		isPartial = isPartial || !isKnown || hasUnreadFile
	}
	return absent, isPartial && s.hasConfigArguments()
}

// sourceExists reports whether the container contains a file or directory that a source of the command line names.
// isKnown reports whether all files that the source may name are known.
func (s *sidecarFiles) sourceExists(source vectorflags.Source, contents []mountContent) (exists, isKnown bool) {
	if source.Path.IsOpen || source.IsDefault && !vectorconfig.HasNoConfiguration(s.container.Image) {
		return false, false // The image may have arguments that name other files.
	}
	pattern := source.Absolute(s.container.WorkingDir)
	fixed := pattern
	if i := strings.IndexAny(pattern, "*?["); i >= 0 {
		fixed = path.Dir(pattern[:i] + "x")
	}
	isMounted := false
	isKnown = true
	for _, content := range contents {
		_, covers := relativePath(fixed, content.path)
		_, isInside := relativePath(content.path, fixed)
		isMounted = isMounted || covers || content.path == "/"
		canContain := covers || isInside && (fixed != pattern || source.IsDirectory)
		isKnown = isKnown && (content.isKnown || !canContain)
		for _, file := range append(slices.Clip(content.files), content.path) {
			exists = exists || source.Covers(file, s.container.WorkingDir)
		}
	}
	if !isMounted {
		isKnown = isKnown && fixed == pattern && vectorconfig.HasNoConfiguration(s.container.Image) &&
			(path.IsAbs(source.Path.Value) || s.container.WorkingDir != "")
	}
	return exists, isKnown
}
