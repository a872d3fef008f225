// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package draingate

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Source is a `file` source of Vector's configuration: the options that determine which files it
// reads, and which of their lines.
type Source struct {
	Include     []string    `json:"include"`
	Exclude     []string    `json:"exclude"`
	Fingerprint Fingerprint `json:"fingerprint"`
	// MaxLineBytes is the size of the longest line that Vector does not drop.
	MaxLineBytes int64 `json:"max_line_bytes"`
	// IgnoreOlderSecs is the age in seconds from which files are ignored, nil for no limit.
	IgnoreOlderSecs *int64 `json:"ignore_older_secs"`
}

// Fingerprint configures how the source distinguishes files.
type Fingerprint struct {
	// Strategy is checksum or device_and_inode. The checksum covers the first Lines lines after
	// IgnoredHeaderBytes bytes.
	Strategy           string `json:"strategy"`
	Lines              int    `json:"lines"`
	IgnoredHeaderBytes int64  `json:"ignored_header_bytes"`
}

const (
	// byChecksum and byDeviceAndInode are Vector's names of the fingerprint strategies.
	byChecksum       = "checksum"
	byDeviceAndInode = "device_and_inode"
	// defaultLineBytes is Vector's default of max_line_bytes, 100 KiB.
	defaultLineBytes = 100 << 10
)

// ReadSources reads sources by name from JSON. It returns an error if the files of a source cannot
// be checked.
func ReadSources(text []byte) (map[string]Source, error) {
	var entries map[string]struct {
		Source

		Type          string          `json:"type"`
		DataDir       string          `json:"data_dir"`
		LineDelimiter string          `json:"line_delimiter"`
		Encoding      json.RawMessage `json:"encoding"`
		ReadFrom      string          `json:"read_from"`
	}
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("decoding the file sources of Vector: %w", err)
	}
	sources := map[string]Source{}
	for name, entry := range entries {
		isOther := entry.Type != "file" || entry.DataDir != "" || entry.Encoding != nil ||
			entry.LineDelimiter != "" && entry.LineDelimiter != "\n" || entry.ReadFrom != "" && entry.ReadFrom != "beginning"
		if isOther {
			return nil, fmt.Errorf("source %q: source cannot be checked; the drain gate supports file sources that read UTF-8 lines from the beginning and use Vector's global data_dir", name)
		}
		source := entry.Source
		if err := source.setDefaults(); err != nil {
			return nil, fmt.Errorf("source %q: %w", name, err)
		}
		sources[name] = source
	}
	return sources, nil
}

// setDefaults sets missing options to Vector's defaults. The error is for an unknown fingerprint strategy.
func (s *Source) setDefaults() error {
	if s.MaxLineBytes == 0 {
		s.MaxLineBytes = defaultLineBytes
	}
	if s.Fingerprint.Strategy == "" {
		s.Fingerprint.Strategy = byChecksum
	}
	if s.Fingerprint.Lines == 0 {
		s.Fingerprint.Lines = 1
	}
	if strategy := s.Fingerprint.Strategy; strategy != byChecksum && strategy != byDeviceAndInode {
		return fmt.Errorf("unknown fingerprint strategy %q; use %s or %s", strategy, byChecksum, byDeviceAndInode)
	}
	return nil
}

// listFiles returns the paths of the files that Vector reads. With an error, it returns the paths found
// so far.
func (s *Source) listFiles() ([]string, error) {
	var paths []string
	var findings []error
	visited := map[string]bool{}
	for _, pattern := range s.Include {
		candidates, err := expandGlob(pattern)
		if err != nil {
			findings = append(findings, fmt.Errorf("listing files of pattern %s: %w", pattern, err))
		}
		for _, path := range candidates {
			if !visited[path] && !s.excludes(path) {
				paths = append(paths, path)
			}
			visited[path] = true
		}
	}
	return paths, errors.Join(findings...)
}

// excludes reports whether a pattern of Exclude matches a path.
func (s *Source) excludes(path string) bool {
	for _, pattern := range s.Exclude {
		if matches([]rune(pattern), []rune(path)) {
			return true
		}
	}
	return false
}

// findRemainder compares files with their checkpoints, which it reads only if they are needed. If
// several files have the same fingerprint, Vector reads the file that was modified last.
func (s *Source) findRemainder(paths []string, read func() (checkpoints, error), started time.Time) Remainder {
	var remainder Remainder
	newest := map[fingerprint]*file{}
	for _, path := range paths {
		opened, err := s.openFile(path)
		if err != nil {
			remainder.Unchecked = append(remainder.Unchecked, fmt.Errorf("reading %s: %w", path, err))
		}
		if opened == nil {
			continue
		}
		if previous := newest[opened.fingerprint]; previous == nil || previous.modified.Before(opened.modified) {
			newest[opened.fingerprint] = opened
		}
	}
	if len(newest) == 0 {
		return remainder
	}
	positions, err := read()
	if err != nil {
		remainder.Unchecked = append(remainder.Unchecked, err)
		return remainder
	}
	for id, candidate := range newest {
		position, isKnown := positions[id]
		if !isKnown && s.IgnoreOlderSecs != nil && candidate.modified.Before(started.Add(-time.Duration(*s.IgnoreOlderSecs)*time.Second)) {
			continue
		}
		isBehind, err := candidate.hasLines(position, s.MaxLineBytes)
		if err != nil {
			remainder.Unchecked = append(remainder.Unchecked, fmt.Errorf("reading %s: %w", candidate.path, err))
		}
		if isBehind {
			remainder.Files = append(remainder.Files, candidate.path)
		}
	}
	return remainder
}
