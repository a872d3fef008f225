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

// Unread says what of a workload does not fit its type: of a custom resource the API server takes what
// its definition does not rule out. Each text names a path and what is wrong there, and is "" if all fits.
type Unread struct {
	// Template is about the pod template, which is then empty but for annotations. Else is about all
	// else that is read.
	Template, Else string
}

// Text is one of both, "" if all was read.
func (u *Unread) Text() string { return cmp.Or(u.Template, u.Else) }

// mostUnread bounds such a text: keys of maps may be long.
const mostUnread = 400

// misfit says where in a value something is that decode does not take, and why; "" if it takes all. Any
// field decodes on its own, so that the innermost one that does not is the one to correct.
func misfit(path string, value any, decode func(any) error) string {
	err := decode(value)
	if err == nil {
		return ""
	}
	switch of := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(of)) {
			if why := misfit(path+tree.Path("", key), of[key], func(value any) error { return decode(map[string]any{key: value}) }); why != "" {
				return why
			}
		}
	case []any:
		for i, item := range of {
			if why := misfit(fmt.Sprintf("%s[%d]", path, i), item, func(value any) error { return decode([]any{value}) }); why != "" {
				return why
			}
		}
	}
	reason := strings.TrimPrefix(err.Error(), "json: ")
	if match := wrongType.FindStringSubmatch(reason); match != nil {
		reason = fmt.Sprintf("it is a %s, which is no %s", match[1], match[2])
	}
	return humanize.Message(path+" cannot be read: "+reason, mostUnread)
}

// wrongType is what the JSON library says, with a path that lacks indexes.
var wrongType = regexp.MustCompile(`^cannot unmarshal (.+) into Go .* of type (.+)$`)
