// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// newestMinor is the newest minor version of Vector 0.x in data/. oldestMinor is the oldest minor version for
// which data/ is complete.
const newestMinor, oldestMinor = 58, 45

// assumedMinor is the minor version that is assumed for an image with an unknown version.
const assumedMinor = 57

// version is a version of Vector. All versions so far are 0.x.
type version struct {
	minor   int
	isKnown bool
}

var tagOfVector = regexp.MustCompile(`^v?0\.(\d{1,3})(?:[.-]|$)`)

// parseImageVersion returns the version in the tag of an image. It also reads the tag of an image with a
// digest, NAME:TAG@sha256, because the tag names the intended version.
func parseImageVersion(image string) version {
	name, _, _ := strings.Cut(image, "@")
	name = name[strings.LastIndexByte(name, '/')+1:]
	_, tag, _ := strings.Cut(name, ":")
	match := tagOfVector.FindStringSubmatch(tag)
	if match == nil {
		return version{minor: assumedMinor}
	}
	minor, _ := strconv.Atoi(match[1])
	return version{minor: minor, isKnown: true}
}

// isCovered reports whether data/ is complete for a version. If so, a type that is not in data/ does not exist.
func (v version) isCovered() bool {
	return v.isKnown && v.minor <= newestMinor && v.minor >= oldestMinor
}

// hasTable reports whether the tables contain all options of a version. If so, an option that is not in the
// tables does not exist.
func (v version) hasTable() bool {
	return v.isKnown && v.minor >= vectoroptions.Oldest && v.minor <= vectoroptions.Newest
}

func (v version) String() string {
	if !v.isKnown {
		return "unknown"
	}
	return fmt.Sprintf("0.%d", v.minor)
}

// parseMinor parses a cell of a table, such as "0.41", "<=0.20" or "0.58 use mezmo". It returns the minor
// version, or 0 for "-", and the note after the version.
func parseMinor(text string) (minor int, note string) {
	text, note, _ = strings.Cut(strings.TrimPrefix(text, "<="), " ")
	minor, _ = strconv.Atoi(strings.TrimPrefix(text, "0."))
	return minor, note
}

// DifferentVersions returns the Vector versions of two images, such as 0.57. It also reports whether both
// versions are known and differ.
func DifferentVersions(imageA, imageB string) (versionA, versionB string, areDifferent bool) {
	a, b := parseImageVersion(imageA), parseImageVersion(imageB)
	return a.String(), b.String(), a.isKnown && b.isKnown && a.minor != b.minor
}

var imageOfVector = regexp.MustCompile(`(^|/)(timberio|vectordotdev)/vector:\d+\.\d+\.\d+-(alpine|debian|distroless-libc|distroless-static)(@|$)`)

// bareSince is the first minor version of Vector 0.x with images that do not contain a configuration file.
const bareSince = 56

// HasNoConfiguration reports whether an image is an official Vector image that does not contain a configuration
// file.
func HasNoConfiguration(image string) bool {
	return imageOfVector.MatchString(image) && parseImageVersion(image).minor >= bareSince
}
