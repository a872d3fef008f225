// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// absent is the value of a missing key. Templates may test it and assign it to a variable. Any other use is an
// error, with absent as the message.
type absent struct {
	// holder is the expression of the container in which the key is missing.
	holder    string
	container any
	key       string
	// watch records that an error lists the existing keys of the container. It is nil if no values are watched.
	watch *watch
}

// Error returns a message that names the missing key.
func (a *absent) Error() string {
	return fmt.Sprintf("%s has no key %q", shorten(a.holder), shorten(a.key))
}

// optionalHint is the hint for an error about a key that is null or missing, because values may omit it.
const optionalHint = "if the key is optional, test it with if, with or default"

// asError returns the error for a use of the missing key. Its hint lists the existing keys, because the author
// may have meant a key with a similar name.
func (a *absent) asError() error {
	if a.watch != nil {
		a.watch.recordWhole(a.container)
	}
	keys := keyNames(a.container)
	if near := nearest(a.key, keys); near != "" {
		return withHint(a, fmt.Sprintf("did you mean %q?", near))
	}
	return withHint(a, listKeys(keys)+"; "+optionalHint)
}

// requirePresent returns an error for a missing value, and nil for all other values.
func requirePresent(value any) error {
	if missing, ok := value.(*absent); ok {
		return missing.asError()
	}
	return nil
}

// valueOrNil returns nil for a missing value, and all other values unchanged.
func valueOrNil(value any) any {
	if _, ok := value.(*absent); ok {
		return nil
	}
	return value
}

// keyNames returns the sorted keys of a map, or the sorted names of the exported fields of a struct.
func keyNames(value any) []string {
	var keys []string
	if tree, ok := value.(map[string]any); ok {
		for key := range tree {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		return keys
	}
	v := reflect.Indirect(reflect.ValueOf(value))
	switch v.Kind() {
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if key.Kind() == reflect.String {
				keys = append(keys, key.String())
			}
		}
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(v.Type()) {
			if field.IsExported() {
				keys = append(keys, field.Name)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// listKeys returns a text with the first keys and the number of the other keys.
func listKeys(keys []string) string {
	const maxListed = 8
	switch {
	case len(keys) == 0:
		return "existing names: none"
	case len(keys) == 1:
		return "existing name: " + joinShort(keys)
	case len(keys) > maxListed:
		return fmt.Sprintf("existing names: %s and %d more", joinShort(keys[:maxListed]), len(keys)-maxListed)
	}
	return "existing names: " + joinShort(keys)
}

// joinShort joins shortened keys by commas.
func joinShort(keys []string) string {
	short := make([]string, len(keys))
	for i, key := range keys {
		short[i] = shorten(key)
	}
	return strings.Join(short, ", ")
}

// nearest returns the candidate that is most similar to a name, or "" for none. Unlike humanize.Nearest, it is fast for
// untrusted names of any length and number.
func nearest(name string, candidates []string) string {
	const longest, maxCandidates = 100, 1000
	if len(name) > longest {
		return ""
	}
	short := make([]string, 0, min(len(candidates), maxCandidates))
	for _, candidate := range candidates[:min(len(candidates), maxCandidates)] {
		if len(candidate) <= longest {
			short = append(short, candidate)
		}
	}
	return humanize.Nearest(name, short)
}
