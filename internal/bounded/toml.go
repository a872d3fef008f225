// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/BurntSushi/toml"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A SyntaxError reports the position and the reason of a fault in a TOML text. Line and Column count from 1.
type SyntaxError struct {
	Line, Column int
	Message      string
}

// Position returns Line and Column.
func (e *SyntaxError) Position() (line, column int) { return e.Line, e.Column }

// Problem returns Message; the help is always empty.
func (e *SyntaxError) Problem() (message, help string) { return e.Message, "" }

func (e *SyntaxError) Error() string { return fmt.Sprintf("toml: line %d: %s", e.Line, e.Message) }

// MeasureTOML checks a TOML text against the limits and returns its size. The error is an *Error, or a *SyntaxError if the
// expressions cannot be parsed.
func (l Limits) MeasureTOML(text []byte) (Size, error) {
	m := tomlMeter{meter: newMeter(&l, text)}
	if err := l.CheckSize(text); err != nil {
		return m.size, err
	}
	// The parser calls itself for each bracket and keeps each part of a key, so both are checked before.
	if offset := findExcessDepth(text, l.Depth); offset >= 0 {
		return m.size, l.depthError().withOffset(text, offset)
	}
	parser := &unstable.Parser{}
	parser.Reset(text)
	err := m.countNode()
	for err == nil && parser.NextExpression() {
		err = m.measureExpression(parser.Expression())
	}
	if err != nil {
		return m.size, err.withOffset(text, m.offset)
	}
	var wrong *unstable.ParserError
	if errors.As(parser.Error(), &wrong) {
		position := parser.Shape(parser.Range(wrong.Highlight)).Start
		return m.size, &SyntaxError{Line: position.Line, Column: position.Column, Message: wrong.Message}
	}
	return m.size, nil
}

// DecodeTOML decodes a TOML text as Helm does.
func (l Limits) DecodeTOML(text []byte, into any) error {
	if _, err := l.MeasureTOML(text); err != nil {
		return err
	}
	return toml.Unmarshal(text, into)
}

// ReadTOML returns a parser for the expressions of a TOML text, with positions. The decoder has checked the values
// before. It accepts some tables that are defined twice; the caller has to find these. The error is an *Error or a
// *SyntaxError.
func (l Limits) ReadTOML(text []byte) (*unstable.Parser, error) {
	var wrong toml.ParseError
	switch err := l.DecodeTOML(text, &map[string]any{}); {
	case errors.As(err, &wrong):
		return nil, &SyntaxError{Line: wrong.Position.Line, Column: wrong.Position.Col, Message: wrong.Message}
	case err != nil:
		return nil, err
	}
	parser := &unstable.Parser{}
	parser.Reset(text)
	return parser, nil
}

// tomlMeter adds up the values of the expressions of a TOML text. Each part of a dotted key is one level.
type tomlMeter struct {
	meter

	// offset is the start of the last key.
	offset int
}

// measureExpression counts a table header, or a key with its value, which is at the depth of the last header.
func (m *tomlMeter) measureExpression(node *unstable.Node) *Error {
	switch node.Kind {
	case unstable.Table, unstable.ArrayTable:
		m.closeDeeperThan(0)
		err := m.enterKey(node.Key(), true)
		if err == nil && node.Kind == unstable.ArrayTable {
			if err = m.openLevel(); err == nil {
				err = m.countNode()
			}
		}
		return err
	case unstable.KeyValue:
		return m.measureKeyValue(node)
	}
	return nil
}

// measureKeyValue counts a key, which may be dotted, and its value.
func (m *tomlMeter) measureKeyValue(node *unstable.Node) *Error {
	depth := len(m.keys)
	err := m.enterKey(node.Key(), false)
	if err == nil {
		err = m.measureValue(node.Value())
	}
	m.closeDeeperThan(depth)
	return err
}

// enterKey counts the parts of a key, and the level of each part. In a header, each part except the last may name the
// last table of an array of tables, which is one more level.
func (m *tomlMeter) enterKey(key unstable.Iterator, isHeader bool) *Error {
	for key.Next() {
		keyNode := key.Node()
		m.offset = int(keyNode.Raw.Offset)
		err := m.openLevel()
		if err == nil {
			err = m.countKey(len(keyNode.Data))
		}
		if err == nil {
			err = m.countNode()
		}
		if err == nil && isHeader && !key.IsLast() {
			err = m.openLevel()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// measureValue counts the values in an array or an inline table. It returns an error if they exceed a limit.
func (m *tomlMeter) measureValue(node *unstable.Node) *Error {
	if node.Kind != unstable.Array && node.Kind != unstable.InlineTable {
		return nil
	}
	depth := len(m.keys)
	defer m.closeDeeperThan(depth)
	if node.Kind == unstable.Array {
		if err := m.openLevel(); err != nil {
			return err
		}
	}
	for children := node.Children(); children.Next(); {
		child := children.Node()
		if child.Kind == unstable.KeyValue {
			if err := m.measureKeyValue(child); err != nil {
				return err
			}
			continue
		}
		if err := m.countNode(); err != nil {
			return err
		}
		if err := m.measureValue(child); err != nil {
			return err
		}
	}
	return nil
}

// findExcessDepth returns the offset of the first bracket that is nested deeper than a depth, or of the first dot of a key
// with more parts, outside of strings and comments; -1 for none.
func findExcessDepth(text []byte, depth int) int {
	open, dots := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '#':
			length := bytes.IndexByte(text[i:], '\n')
			if length < 0 {
				return -1
			}
			i += length - 1
		case '"', '\'':
			i = stringEnd(text, i) - 1
		case '.':
			dots++
		case '[', '{':
			open++
			dots = 0
		case ']', '}':
			open--
		case '\n', '=', ',':
			dots = 0
		}
		if open > depth || dots > depth {
			return i
		}
	}
	return -1
}

// stringEnd returns the offset behind a string that starts at an offset.
func stringEnd(text []byte, start int) int {
	quote := text[start]
	closing := bytes.Repeat(text[start:start+1], 3)
	if !bytes.HasPrefix(text[start:], closing) {
		closing = closing[:1]
	}
	for i := start + len(closing); i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case bytes.HasPrefix(text[i:], closing):
			i += len(closing)
			for extraQuotes := 2; extraQuotes > 0 && len(closing) == 3 && i < len(text) && text[i] == quote; extraQuotes-- {
				i++ // Up to two quotes may be before the closing quotes.
			}
			return i
		}
	}
	return len(text)
}
