// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// parseJSON parses a file with one JSON document.
func (r *Reader) parseJSON(source string) (*value, *fault) {
	if strings.TrimSpace(source) == "" {
		return nil, &fault{code: unreadable, pos: position{line: 1, column: 1}, message: "not JSON: the file is empty"}
	}
	decoder, err := r.JSON([]byte(source))
	if err != nil {
		return nil, cmp.Or(limitFault(err), &fault{code: unreadable, pos: position{line: 1, column: 1}, message: "not JSON: " + err.Error()})
	}
	tokens := &jsonReader{source: source, decoder: decoder, line: 1}
	tokens.decoder.UseNumber()
	if half := findHalfCharacter(source); half >= 0 {
		return nil, &fault{code: unreadable, pos: tokens.positionAt(half), message: "not JSON: half of a character, " + source[half:half+len(`\udead`)], help: "write both halves, or the character itself"}
	}
	v, f := tokens.readValue()
	if f != nil {
		return nil, f
	}
	if _, err := tokens.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, &fault{code: unreadable, pos: tokens.nextPosition(), message: "not JSON: something follows the document"}
	}
	return v, tokens.repeated
}

// escapes matches the escapes in JSON strings. The group matches an escape of half a character (a surrogate)
// without the other half.
var escapes = regexp.MustCompile(`\\(?:u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|(u[dD][89a-fA-F][[:xdigit:]]{2})|.)`)

// findHalfCharacter returns the offset of the first escape of half a character (a surrogate) without the other
// half, or -1 for none. Go accepts such an escape, but Vector does not.
func findHalfCharacter(source string) int {
	if !strings.Contains(source, `\ud`) && !strings.Contains(source, `\uD`) {
		return -1
	}
	for _, span := range escapes.FindAllStringSubmatchIndex(source, -1) {
		if span[2] >= 0 {
			return span[0]
		}
	}
	return -1
}

// jsonReader reads the tokens of a JSON document with their positions.
type jsonReader struct {
	source  string
	decoder *json.Decoder
	// line is the number of the current line, and start is the offset of its first character. scanned is the
	// offset up to which lines have been counted.
	line, start, scanned int
	// depth is the nesting depth of objects at the current token.
	depth int
	// repeated is the fault of the first key that is repeated at the top of the document.
	repeated *fault
}

// positionAt returns the position of an offset, which must not be smaller than in earlier calls.
func (r *jsonReader) positionAt(offset int) position {
	for ; r.scanned < offset; r.scanned++ {
		if r.source[r.scanned] == '\n' {
			r.line, r.start = r.line+1, r.scanned+1
		}
	}
	return position{line: r.line, column: offset - r.start + 1}
}

// nextPosition returns the position of the next token.
func (r *jsonReader) nextPosition() position {
	offset := int(r.decoder.InputOffset())
	for offset < len(r.source) && strings.IndexByte(" \t\r\n,:", r.source[offset]) >= 0 {
		offset++
	}
	return r.positionAt(min(offset, len(r.source)))
}

// readToken reads the next token, and returns it with its position.
func (r *jsonReader) readToken() (json.Token, position, *fault) {
	pos := r.nextPosition()
	token, err := r.decoder.Token()
	if err == nil {
		return token, pos, nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		pos = r.positionAt(max(r.scanned, min(int(syntax.Offset)-1, len(r.source))))
	}
	message := strings.TrimPrefix(err.Error(), "json: ")
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		message = "the file ends too early"
	}
	return nil, pos, &fault{code: unreadable, pos: pos, message: "not JSON: " + message}
}

// readValue reads the next value.
func (r *jsonReader) readValue() (*value, *fault) {
	token, pos, f := r.readToken()
	if f != nil {
		return nil, f
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return r.readList(pos)
		}
		return r.readTable(pos)
	case string:
		return &value{form: text, scalar: t, pos: pos}, nil
	case json.Number:
		return &value{form: jsonNumber(t.String()), scalar: t.String(), pos: pos}, nil
	case bool:
		return &value{form: boolean, scalar: strconv.FormatBool(t), pos: pos}, nil
	}
	return &value{pos: pos}, nil
}

// readList reads the items of a list after its opening bracket.
func (r *jsonReader) readList(pos position) (*value, *fault) {
	v := &value{form: list, pos: pos}
	for r.decoder.More() {
		item, f := r.readValue()
		if f != nil {
			return nil, f
		}
		v.items = append(v.items, item)
	}
	_, _, f := r.readToken() // The closing bracket.
	return v, f
}

// readTable reads an object. If a key is repeated at the top of the document, the last value counts, as in Vector.
func (r *jsonReader) readTable(pos position) (*value, *fault) {
	r.depth++
	defer func() { r.depth-- }()
	v := &value{form: table, pos: pos}
	for r.decoder.More() {
		token, keyPos, f := r.readToken()
		if f != nil {
			return nil, f
		}
		key, _ := token.(string)
		existing := v.entry(key)
		if existing != nil && r.depth > 1 {
			return nil, duplicateKey(key, keyPos, existing.pos)
		}
		child, f := r.readValue()
		if f != nil {
			return nil, f
		}
		if existing == nil {
			v.addEntry(entry{key: key, pos: keyPos, value: child})
			continue
		}
		if r.repeated == nil {
			r.repeated = duplicateKey(key, keyPos, existing.pos)
			r.repeated.isMild, r.repeated.message = true, r.repeated.message+", and Vector uses only the last one"
		}
		existing.pos, existing.value = keyPos, child
	}
	_, _, f := r.readToken() // The closing brace.
	return v, f
}
