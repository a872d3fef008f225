// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Unread describes the parts of a workload that could not be decoded. The API server accepts every custom
// resource that its definition does not reject. Each text names a path and the error there, and is "" without
// an error.
type Unread struct {
	// Template concerns the pod template, which is then empty except for annotations. Else concerns all other
	// fields that are read.
	Template, Other string
}

// Text returns one of the two texts, "" if all fields were read.
func (u *Unread) Text() string { return cmp.Or(u.Template, u.Other) }

// mostUnread limits the size of such a text, because keys of maps may be long.
const mostUnread = 400

// misfit returns the path and the reason of a part of a value that cannot be decoded, "" if the whole value can
// be decoded. It decodes each field separately, so that the result is the innermost field to correct.
func misfit(path string, value any, decode func(any) error) string {
	err := decode(value)
	if err == nil {
		return ""
	}
	switch typed := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(typed)) {
			if message := misfit(path+tree.Path("", key), typed[key], func(value any) error { return decode(map[string]any{key: value}) }); message != "" {
				return message
			}
		}
	case []any:
		for i, item := range typed {
			if message := misfit(fmt.Sprintf("%s[%d]", path, i), item, func(value any) error { return decode([]any{value}) }); message != "" {
				return message
			}
		}
	}
	reason := strings.TrimPrefix(err.Error(), "json: ")
	if match := wrongType.FindStringSubmatch(reason); match != nil {
		reason = fmt.Sprintf("got %s, expected %s", match[1], match[2])
	}
	return humanize.Message(path+" cannot be read: "+reason, mostUnread)
}

// wrongType matches the error of the JSON library, which contains a path without indexes.
var wrongType = regexp.MustCompile(`^cannot unmarshal (.+) into Go .* of type (.+)$`)
