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

// Unread describes the fields of a workload that could not be decoded. Such fields are possible in custom resources,
// because the API server accepts everything that their CustomResourceDefinition allows. Each text contains a path and
// an error, or is "" for none.
type Unread struct {
	// Template is the error in the pod template. If it is set, the decoded pod template is empty except for
	// annotations. Other is the error in all other fields that the operator reads.
	Template, Other string
	// LacksLabels is true if the labels were not read, so that it is unknown which selectors match them.
	LacksLabels bool
}

// Text returns the error in the pod template, or else the error in another field. It returns "" if all fields were
// decoded.
func (u *Unread) Text() string { return cmp.Or(u.Template, u.Other) }

// mostUnread is the maximum length of a text in Unread, because keys of maps in its path may be long.
const mostUnread = 400

// describeMisfit returns the path and the error of a field that cannot be decoded, as deep as possible. To find that
// field, it decodes each field separately. It returns "" if the whole value can be decoded.
func describeMisfit(path string, value any, decode func(any) error) string {
	err := decode(value)
	if err == nil {
		return ""
	}
	switch typed := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(typed)) {
			if message := describeMisfit(path+tree.JoinPath("", key), typed[key], func(value any) error { return decode(map[string]any{key: value}) }); message != "" {
				return message
			}
		}
	case []any:
		for i, item := range typed {
			if message := describeMisfit(fmt.Sprintf("%s[%d]", path, i), item, func(value any) error { return decode([]any{value}) }); message != "" {
				return message
			}
		}
	}
	reason := strings.TrimPrefix(err.Error(), "json: ")
	if match := wrongType.FindStringSubmatch(reason); match != nil {
		reason = fmt.Sprintf("got %s, expected %s", match[1], match[2])
	}
	return humanize.ShortenMessage(path+" cannot be read: "+reason, mostUnread)
}

// wrongType matches an error of the JSON library about a value of the wrong type. The path in that error does
// not contain indexes.
var wrongType = regexp.MustCompile(`^cannot unmarshal (.+) into Go .* of type (.+)$`)
