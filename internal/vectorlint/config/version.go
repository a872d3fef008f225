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

// newestMinor is the newest 0.x in data/. oldestMinor is the oldest 0.x that data/ has completely.
const newestMinor, oldestMinor = 58, 45

// assumedMinor is the assumed version if the version is not known.
const assumedMinor = 57

// version is a version of Vector. All versions up to now are 0.x.
type version struct {
	minor   int
	isKnown bool
}

var tagOfVector = regexp.MustCompile(`^v?0\.(\d{1,3})(?:[.-]|$)`)

// parseImageVersion reads the version from the tag of an image. A tag before a digest is read as well, because the tag of
// NAME:TAG@sha256 names the intended version.
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

// isCovered reports whether data/ is complete for a version: anything that is not in data/ does not exist.
func (v version) isCovered() bool {
	return v.isKnown && v.minor <= newestMinor && v.minor >= oldestMinor
}

// isTabled reports whether the options of a version are known. If so, an option that is not in the table does not
// exist.
func (v version) isTabled() bool {
	return v.isKnown && v.minor >= vectoroptions.Oldest && v.minor <= vectoroptions.Newest
}

func (v version) String() string {
	if !v.isKnown {
		return "unknown"
	}
	return fmt.Sprintf("0.%d", v.minor)
}

// parseMinor reads "0.41", "<=0.20" and "0.58 use mezmo"; 0 for "-".
func parseMinor(text string) (minor int, note string) {
	text, note, _ = strings.Cut(strings.TrimPrefix(text, "<="), " ")
	minor, _ = strconv.Atoi(strings.TrimPrefix(text, "0."))
	return minor, note
}

// DifferentVersions returns the versions of Vector of two images, such as 0.57, and whether both are known and differ.
func DifferentVersions(imageA, imageB string) (versionA, versionB string, areDifferent bool) {
	a, b := parseImageVersion(imageA), parseImageVersion(imageB)
	return a.String(), b.String(), a.isKnown && b.isKnown && a.minor != b.minor
}

var imageOfVector = regexp.MustCompile(`(^|/)(timberio|vectordotdev)/vector:\d+\.\d+\.\d+-(alpine|debian|distroless-libc|distroless-static)(@|$)`)

// bareSince is the first 0.x with images that do not have a configuration.
const bareSince = 56

// HasNoConfiguration reports whether an image is one of Vector's images without a configuration.
func HasNoConfiguration(image string) bool {
	return imageOfVector.MatchString(image) && parseImageVersion(image).minor >= bareSince
}
