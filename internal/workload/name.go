// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import "strings"

// Workloads of one make differ in little but their names, which labels, annotations
// and containers repeat. A body has this in place of the name, so that it can be that
// of many. Another text that begins with it is given one more.
const ownName = "\x00"

// withoutName leaves a workload's name out.
func withoutName(text, name string) string {
	switch {
	case text == name:
		return ownName
	case strings.HasPrefix(text, ownName):
		return ownName + text
	}
	return text
}

// withName puts the name back.
func withName(text, name string) string {
	switch {
	case text == ownName:
		return name
	case strings.HasPrefix(text, ownName):
		return text[len(ownName):]
	}
	return text
}
