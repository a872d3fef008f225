// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"regexp"
	"sync"
)

const (
	maxCachedTexts = 128
	maxCachedBytes = 1 << 20
)

// parseCache caches the results of parsing texts for all executions of a set. When it is full, it is emptied.
type parseCache[V any] struct {
	lock   sync.Mutex
	parsed map[string]*V
	// bytes is the total length of the texts.
	bytes int
}

func newParseCache[V any]() *parseCache[V] { return &parseCache[V]{parsed: map[string]*V{}} }

// get returns the result for a text, or nil if the text is not cached.
func (c *parseCache[V]) get(text string) *V {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.parsed[text]
}

// put caches the result for a text. It ignores a text that is larger than a quarter of the cache.
func (c *parseCache[V]) put(text string, parsed *V) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if len(text) > maxCachedBytes/4 {
		return
	}
	if len(c.parsed) >= maxCachedTexts || c.bytes+len(text) > maxCachedBytes {
		c.parsed, c.bytes = map[string]*V{}, 0
	}
	c.parsed[text] = parsed
	c.bytes += len(text)
}

// pattern is a compiled regular expression. size is the approximate number of instructions for one step of a
// match.
type pattern struct {
	regexp *regexp.Regexp
	size   int
}
