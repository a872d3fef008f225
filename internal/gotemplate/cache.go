// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"regexp"
	"sync"
)

// textCache caches the parsed texts of tpl for all executions of a set. It is emptied when it is full.
type textCache struct {
	lock  sync.Mutex
	texts map[string]*parsedText
	bytes int
}

const (
	maxCachedTexts    = 128
	maxCachedBytes    = 1 << 20
	maxCachedPatterns = 128
)

func newTextCache() *textCache { return &textCache{texts: map[string]*parsedText{}} }

// get returns a parsed text, or nil if the text is not cached.
func (c *textCache) get(text string) *parsedText {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.texts[text]
}

// put caches a parsed text. It ignores a text that is larger than a quarter of the cache.
func (c *textCache) put(text string, parsed *parsedText) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if len(text) > maxCachedBytes/4 {
		return
	}
	if len(c.texts) >= maxCachedTexts || c.bytes+len(text) > maxCachedBytes {
		c.texts, c.bytes = map[string]*parsedText{}, 0
	}
	c.texts[text] = parsed
	c.bytes += len(text)
}

// pattern is a compiled regular expression. size is the approximate number of instructions for one step of a
// match.
type pattern struct {
	*regexp.Regexp
	size int
}

// patternCache caches compiled regular expressions for all executions of a set. It is emptied when it is full.
type patternCache struct {
	lock     sync.Mutex
	patterns map[string]*pattern
}

func newPatternCache() *patternCache { return &patternCache{patterns: map[string]*pattern{}} }

// get returns a compiled expression, or nil if the expression is not cached.
func (c *patternCache) get(text string) *pattern {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.patterns[text]
}

// put caches a compiled expression.
func (c *patternCache) put(text string, compiled *pattern) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if len(c.patterns) >= maxCachedPatterns {
		c.patterns = map[string]*pattern{}
	}
	c.patterns[text] = compiled
}
