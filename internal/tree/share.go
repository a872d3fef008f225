// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import "reflect"

// Share returns a value that is equal to fresh but uses the memory of earlier for all equal parts. It may change fresh.
// Callers must not change either value afterwards.
func Share(fresh, earlier any) any {
	switch fresh := fresh.(type) {
	case map[string]any:
		earlierMap, ok := earlier.(map[string]any)
		if !ok {
			return fresh
		}
		for key := range fresh {
			fresh[key] = Share(fresh[key], earlierMap[key])
		}
	case []any:
		earlierList, ok := earlier.([]any)
		if !ok {
			return fresh
		}
		for i := range min(len(fresh), len(earlierList)) {
			fresh[i] = Share(fresh[i], earlierList[i])
		}
	}
	if reflect.DeepEqual(fresh, earlier) {
		return earlier
	}
	return fresh
}
