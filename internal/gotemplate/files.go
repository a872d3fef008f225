// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Files contains the other files of the chart by path. Templates use it as .Files. The methods are the same as
// in Helm, with two exceptions. Get, GetBytes and Lines return an error if the file does not exist, and Glob
// returns an error for an invalid pattern.
type Files map[string][]byte

// GetBytes returns the content of a file.
func (f Files) GetBytes(name string) ([]byte, error) {
	if content, ok := f[name]; ok {
		return content, nil
	}
	names := slices.Sorted(maps.Keys(f))
	err := fmt.Errorf("unknown file %q", shorten(name))
	if near := nearest(name, names); near != "" {
		return nil, withHint(err, fmt.Sprintf("did you mean %q?", near))
	}
	return nil, withHint(err, listKeys(names))
}

// Get returns the content of a file as text.
func (f Files) Get(name string) (string, error) {
	content, err := f.GetBytes(name)
	return string(content), err
}

// Lines returns the lines of a file. A final newline does not start another line.
func (f Files) Lines(name string) ([]string, error) {
	content, err := f.GetBytes(name)
	if err != nil || len(content) == 0 {
		return []string{}, err
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n"), nil
}

// Glob returns the files with a path that matches a pattern. In a pattern, * and ? do not match a slash, and **
// does. [ab], [!ab] and {this,that} are also supported.
func (f Files) Glob(pattern string) (Files, error) {
	matcher, err := compileGlob(pattern)
	if err != nil {
		return nil, err
	}
	matches := Files{}
	for name, content := range f {
		if matcher.MatchString(name) {
			matches[name] = content
		}
	}
	return matches, nil
}

// AsConfig returns the files as the data of a ConfigMap in YAML: the text of each file by its base name.
func (f Files) AsConfig() (string, error) {
	return f.encodeData(func(content []byte) string { return string(content) })
}

// AsSecrets returns the files as the data of a Secret in YAML: the base64 of each file by its base name.
func (f Files) AsSecrets() (string, error) {
	return f.encodeData(base64.StdEncoding.EncodeToString)
}

// encodeData returns the encoded files in YAML by base name. If two files have the same base name, the file with the
// later path counts.
func (f Files) encodeData(encode func([]byte) string) (string, error) {
	texts := make(map[string]string, len(f))
	for _, name := range slices.Sorted(maps.Keys(f)) {
		texts[path.Base(name)] = encode(f[name])
	}
	return toYAML(texts)
}

// filesMethods returns the methods of Files that templates may call, by name.
func filesMethods() map[string]any {
	return map[string]any{
		"AsConfig":  Files.AsConfig,
		"AsSecrets": Files.AsSecrets,
		"Get":       Files.Get,
		"GetBytes":  Files.GetBytes,
		"Glob":      Files.Glob,
		"Lines":     Files.Lines,
	}
}

// guardFiles returns a guard that charges only for the result of a method of Files, and not for all files.
func guardFiles(method string) guard {
	return func(m *meter, args []any) error {
		f, _ := plainValue(args[0]).(Files)
		content := 0
		switch name, _ := args[len(args)-1].(string); method {
		case "AsConfig", "AsSecrets":
			for _, file := range f {
				content += len(file)
			}
			return m.chargeCopy(saturatingProduct(content, marshalPerByte), saturatingProduct(content, 4))
		case "Lines":
			return m.allocatePieces(strings.Count(string(f[name]), "\n")+1, 16)
		case "Get", "GetBytes":
			content = len(f[name])
		}
		return m.chargeCopy(saturatingProduct(content, copiedPerByte)+saturatingProduct(len(f), copiedPerNode), content)
	}
}

// compileGlob converts a glob to a regular expression. The time for matching is linear for every pattern.
func compileGlob(pattern string) (*regexp.Regexp, error) {
	const longest = 256
	if len(pattern) > longest {
		return nil, overBudget(boundBytes, "the glob pattern is longer than %d bytes", longest)
	}
	var expression strings.Builder
	expression.WriteString(`^(?s:`)
	braces := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**"):
			expression.WriteString(`.*`)
			i++
		case c == '*':
			expression.WriteString(`[^/]*`)
		case c == '?':
			expression.WriteString(`[^/]`)
		case c == '[':
			class, length := globClass(pattern[i:])
			expression.WriteString(class)
			i += length - 1
		case c == '{':
			braces++
			expression.WriteString(`(?:`)
		case c == '}' && braces > 0:
			braces--
			expression.WriteString(`)`)
		case c == ',' && braces > 0:
			expression.WriteString(`|`)
		case c == '\\' && i+1 < len(pattern):
			i++
			expression.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			expression.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	expression.WriteString(`)$`)
	compiled, err := regexp.Compile(expression.String())
	if err != nil {
		return nil, fmt.Errorf("pattern %q is not a valid glob", pattern)
	}
	return compiled, nil
}

// globClass converts the character class at the start of a glob to a character class of a regular expression.
// It also returns the length of the class in the glob.
func globClass(text string) (class string, length int) {
	end := strings.IndexByte(text, ']')
	if end < 0 {
		return text, len(text)
	}
	content, negated := strings.CutPrefix(text[1:end], "!")
	content = strings.ReplaceAll(strings.ReplaceAll(content, `\`, `\\`), `[`, `\[`)
	if negated {
		return "[^" + content + "]", end + 1
	}
	return "[" + content + "]", end + 1
}
