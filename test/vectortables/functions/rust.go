// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	listedType   = regexp.MustCompile(`(?m)^\s*(?:Box::new\()?(?:[\w#]+::)*([A-Z]\w+)\)?,$`)
	implemented  = regexp.MustCompile(`(?m)^impl Function for (\w+) \{`)
	named        = regexp.MustCompile(`fn identifier\(&self\)[^{]*\{\s*"(\w+)"`)
	parameter    = regexp.MustCompile(`Parameter::(required|optional)\(\s*"(\w+)",\s*([^,]+?),|Parameter \{\s*keyword: "(\w+)",\s*kind: ([^,]+?),\s*required: (true|false),|\b([A-Z][A-Z_]+)\b`)
	constant     = regexp.MustCompile(`(?m)^(?:pub(?:\(\w+\))? )?(?:const|static) ([A-Z][A-Z_]+): Parameter = (Parameter[^;]+);`)
	lineComment  = regexp.MustCompile(`(?m)//.*$`)
	blockComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	typed        = regexp.MustCompile(`(?s)\n    fn type_def\(&self,[^)]*\) -> TypeDef \{(.*?)\n    \}`)
	plainResult  = regexp.MustCompile(`^TypeDef::(\w+)\((.*?)\)((?:\.or_\w+\([^()]*\)|\.impure\(\))*)(\.fallible\(\)|\.infallible\(\))?(?:\.impure\(\))?$`)
)

// listed are the types of the functions that the standard library has.
func listed(module string) []string {
	var all []string
	_, list, found := strings.Cut(module, "        stdlib_functions! {")
	if !found {
		_, list, _ = strings.Cut(module, "pub fn all()")
	}
	for _, match := range listedType.FindAllStringSubmatch(list, -1) {
		all = append(all, match[1])
	}
	return all
}

// functionsOf are the lines of the functions in sources, of all or of those types alone.
func functionsOf(sources map[string]string, types []string) []string {
	constants := map[string]string{}
	for _, text := range sources {
		for _, match := range constant.FindAllStringSubmatch(text, -1) {
			constants[match[1]] = match[2] + ","
		}
	}
	var all []string
	for _, path := range slices.Sorted(maps.Keys(sources)) {
		text, _, _ := strings.Cut(sources[path], "#[cfg(test)]\nmod ")
		text = lineComment.ReplaceAllString(text, "")
		for _, at := range implemented.FindAllStringSubmatchIndex(text, -1) {
			body, _, _ := strings.Cut(text[at[0]:], "\n}")
			name := named.FindStringSubmatch(body)
			if name != nil && (types == nil || slices.Contains(types, text[at[2]:at[3]])) {
				all = append(all, strings.Join([]string{name[1], parameters(body, text, constants), closure(body), result(text, sources) + particular(body)}, "\t"))
			}
		}
	}
	return all
}

// method is the text of one.
func method(body, name string) string {
	_, rest, found := strings.Cut(body, "fn "+name+"(&self)")
	if !found {
		return ""
	}
	text, _, _ := strings.Cut(rest, "\n    }")
	return text
}

// parameters are name, ! if it is required, and the letters of its kinds.
func parameters(body, file string, constants map[string]string) string {
	text := method(body, "parameters")
	if !parameter.MatchString(text) || strings.Contains(text, "PARAMETERS") && !strings.Contains(text, "PARAMETERS:") {
		_, rest, _ := strings.Cut(file, " PARAMETERS: ")
		text, _, _ = strings.Cut(rest, "\n}")
		if semicolon := strings.Index(text, "];"); semicolon >= 0 {
			text = text[:semicolon]
		}
	}
	var all []string
	for _, match := range parameter.FindAllStringSubmatch(text, -1) {
		if definition := constants[match[7]]; definition != "" {
			match = parameter.FindStringSubmatch(definition)
		}
		mark := ""
		if match[1] == "required" || match[6] == "true" {
			mark = "!"
		}
		if name := match[2] + match[4]; name != "" {
			all = append(all, name+mark+":"+kinds(match[3]+match[5]))
		}
	}
	return strings.Join(all, " ")
}

// letters are those of kinds.
var letters = map[string]string{
	"BYTES": "s", "INTEGER": "i", "FLOAT": "f", "BOOLEAN": "b", "OBJECT": "o", "ARRAY": "a", "TIMESTAMP": "t", "REGEX": "r", "NULL": "n", "ANY": "*",
}

func kinds(text string) string {
	var all string
	for _, one := range strings.Split(text, "|") {
		_, name, _ := strings.Cut(strings.TrimSpace(one), "kind::")
		if letters[name] == "" {
			return "?"
		}
		all += letters[name]
	}
	return all
}

// closure is how many variables that of a function has, "" if it has none.
func closure(body string) string {
	inputs := strings.Split(method(body, "closure"), "Input {")[1:]
	counts := map[int]bool{}
	for _, input := range inputs {
		counts[strings.Count(input, "VariableKind::")] = true
	}
	for count := range counts {
		if len(counts) == 1 {
			return strconv.Itoa(count)
		}
	}
	if len(inputs) > 0 {
		return "?"
	}
	return ""
}

// particular is ~ if a call may be refused for more than its arguments' kinds.
func particular(body string) string {
	_, rest, _ := strings.Cut(body, "fn compile(")
	text, _, _ := strings.Cut(rest, "\n    }")
	if strings.Contains(text, "?;") || strings.Contains(text, ")?") || strings.Contains(text, "Err(") || strings.Contains(text, "map_err") || strings.Contains(text, "unwrap") || strings.Contains(text, "expect(") {
		return "~"
	}
	return ""
}

// result is the letter of what a function returns, and ! if it may always fail, or . if it
// never does for arguments of the right kinds; "?" for what the source does not say plainly.
func result(file string, sources map[string]string) string {
	all := map[string]bool{}
	for _, match := range typed.FindAllStringSubmatch(file, -1) {
		body := flat(match[1])
		if name, isCall := strings.CutSuffix(body, "()"); isCall && !strings.ContainsAny(name, ":.( ") {
			body = helper(name, file, sources)
		}
		all[plain(body)] = true
	}
	for one := range all {
		if len(all) == 1 {
			return one
		}
	}
	return "?"
}

// helper is the body of a function that only says what others return: of the same file, or the
// only one of its name.
func helper(name, file string, sources map[string]string) string {
	head := "fn " + name + "() -> TypeDef {"
	found := []string{file}
	if !strings.Contains(file, head) {
		found = nil
		for _, text := range sources {
			if strings.Contains(text, head) {
				found = append(found, text)
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	_, rest, _ := strings.Cut(found[0], head)
	body, _, _ := strings.Cut(rest, "\n}")
	return flat(body)
}

// flat is a text without comments, on one line.
func flat(text string) string {
	text = blockComment.ReplaceAllString(lineComment.ReplaceAllString(text, ""), "")
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), " .", ".")
}

// isBalanced reports whether no parenthesis closes that has not opened in a text.
func isBalanced(text string) bool {
	depth := 0
	for _, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

func plain(text string) string {
	match := plainResult.FindStringSubmatch(text)
	if len(match) == 0 || !isBalanced(match[2]) {
		if count := strings.Count(text, "TypeDef::"); count > 0 && count == strings.Count(text, ".fallible()") && !strings.Contains(text, "return") {
			return "?!"
		}
		return "?"
	}
	letter := letters[strings.ToUpper(match[1])]
	for _, more := range strings.Split(match[3], ".or_")[1:] {
		name, _, _ := strings.Cut(more, "(")
		letter += letters[strings.ToUpper(name)]
	}
	if letter == "" {
		return "?"
	}
	if match[4] == ".fallible()" {
		return letter + "!"
	}
	return letter + "."
}
