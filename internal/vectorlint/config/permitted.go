// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"slices"
	"strings"
)

// Permitted says what a configuration may have, beyond what Vector takes. Its zero value
// permits everything.
type Permitted struct {
	// Types of components, such as sinks.http, sources.* or secret.exec.
	Types Lists `json:"types"`
	// Options by their paths, such as sinks.http.proxy, sinks.*.tls or api: each stands for
	// what is below it, too. Allow is about the types that it names: they have these
	// options, type and inputs, and no others.
	Options Lists `json:"options"`
	// Hosts that Vector may connect to, such as *.example.com, loki.example.com:3100 or
	// 10.0.0.0/8.
	Hosts Lists `json:"hosts"`
}

// Lists are what is allowed, where none means all, and what is not, which counts more.
type Lists struct {
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`
}

func (l Lists) isEmpty() bool { return len(l.Allow)+len(l.Deny) == 0 }

// IsEverything reports whether all is permitted.
func (p *Permitted) IsEverything() bool {
	return p.Types.isEmpty() && p.Options.isEmpty() && p.Hosts.isEmpty()
}

// Validate reports the first entry that means nothing.
func (p *Permitted) Validate() error {
	for _, entry := range slices.Concat(p.Types.Allow, p.Types.Deny) {
		section, name, _ := strings.Cut(entry, ".")
		if !slices.Contains(typedSections, section) || name == "" || strings.Contains(name, ".") {
			return fmt.Errorf("vector.types: %q is no type: write SECTION.TYPE, where SECTION is one of %s, and TYPE may be *", entry, strings.Join(typedSections, ", "))
		}
	}
	for _, entry := range slices.Concat(p.Options.Allow, p.Options.Deny) {
		steps := strings.Split(entry, ".")
		isTyped := slices.Contains(typedSections, steps[0])
		if slices.Contains(steps, "") || isTyped && len(steps) < 3 || !isTyped && !slices.Contains(topLevel, steps[0]) {
			return fmt.Errorf("vector.options: %q is no path of an option: write SECTION.TYPE.OPTION, or an option outside of components, such as proxy", entry)
		}
	}
	for _, entry := range slices.Concat(p.Hosts.Allow, p.Hosts.Deny) {
		if _, err := parsePattern(entry); err != nil {
			return fmt.Errorf("vector.hosts: %w", err)
		}
	}
	return nil
}

// typedSections are the top-level keys whose entries have a type.
var typedSections = []string{"sources", "transforms", "sinks", "enrichment_tables", "secret"}

// Forbidden returns the findings that are about what is not permitted.
func Forbidden(findings []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !strings.HasPrefix(string(f.Code), "VSC6") })
}

// permittedChecker holds a configuration to what is permitted.
type permittedChecker struct {
	*checker
	permitted *Permitted
	patterns  hostRules
	found     []Finding
}

// forbid returns what the files have that is not permitted. Each file is judged by itself,
// so that it does not count how they are merged.
func (c *checker) forbid(permitted *Permitted, isWhole bool) []Finding {
	if permitted.IsEverything() {
		return nil
	}
	w := &permittedChecker{checker: c, permitted: permitted, patterns: newHostRules(permitted.Hosts)}
	if !isWhole {
		w.say(notSeen, position{}, "", "the configuration cannot be read, so that nobody can tell what it has")
	}
	for _, in := range c.interpolations {
		if in == nil {
			continue
		}
		for _, written := range in.open {
			if written != "$$" {
				w.say(notLiteral, position{file: in.file}, "", "%s stands for a text that is not known here, with which anything may get into the configuration", written)
			}
		}
	}
	for _, tree := range c.trees {
		w.tree(tree)
	}
	return w.found
}

// say adds a finding, up to a bound: the first one is enough to refuse.
func (w *permittedChecker) say(code Code, at position, path, format string, args ...any) {
	if len(w.found) >= mostFindings {
		return
	}
	rule := ruleOf(code)
	w.found = append(w.found, Finding{
		Code: code, Level: rule.Level, Help: rule.Help, Path: path, Message: fmt.Sprintf(format, args...),
		Source: w.sourceOf(at), Line: w.written(at).line, Column: w.written(at).column,
	})
}

// tree judges one file.
func (w *permittedChecker) tree(root *value) {
	for i := range root.entries {
		e := &root.entries[i]
		switch {
		case e.key == "provider":
			w.say(notSeen, e.at, e.key, "a provider gives a configuration that is not seen")
		case slices.Contains(typedSections, e.key):
			w.section(e)
		case e.key == "tests":
		default:
			w.walk(walked{section: "global", path: e.key, steps: []string{e.key}}, e.at, e.value)
		}
	}
}

func (w *permittedChecker) section(section *entry) {
	if section.value.form != table {
		if section.value.form != null {
			w.say(notLiteral, section.at, section.key, "%s is %s", section.key, section.value.form.noun())
		}
		return
	}
	for i := range section.value.entries {
		w.component(section.key, &section.value.entries[i])
	}
}

// component judges one component.
func (w *permittedChecker) component(section string, e *entry) {
	path := join(section, e.key)
	typed := e.value.get("type")
	if e.value.form != table || typed.form != text || w.isDynamic(typed.scalar) || w.isDynamic(e.key) {
		w.say(notLiteral, e.at, path, "%s has no literal type, so that nobody can tell what it is", path)
		return
	}
	names := w.namesOf(section, typed.scalar)
	if list, ok := w.permitted.Types.refuses(func(entry string) bool { return matchesType(entry, section, names) }); !ok {
		w.say(typeForbidden, typed.at, path+".type", "the type %s.%s is not allowed%s", section, typed.scalar, list)
		return
	}
	if section == "secret" && !w.permitted.trusts(names) {
		w.say(notSeen, typed.at, path, "Vector puts what the backend gives into the text of the configuration before it reads that: where options or hosts are restricted, vector.types.allow has to name it")
	}
	of := walked{section: section, names: names, path: path}
	for i := range e.value.entries {
		option := &e.value.entries[i]
		if option.key == "type" || option.key == "inputs" {
			continue
		}
		below := of
		below.path, below.steps = join(path, option.key), []string{w.canonical(section, typed.scalar, option.key)}
		w.walk(below, option.at, option.value)
	}
	w.unnamed(section, names[len(names)-1], e)
}

// trusts reports whether the texts of a secret backend may become part of a configuration.
func (p *Permitted) trusts(names []string) bool {
	return p.Options.isEmpty() && p.Hosts.isEmpty() ||
		slices.ContainsFunc(p.Types.Allow, func(entry string) bool { return matchesType(entry, "secret", names) })
}

// refuses finds out whether lists allow what matches is true of, and tells what they allow.
func (l Lists) refuses(matches func(entry string) bool) (list string, isAllowed bool) {
	if i := slices.IndexFunc(l.Deny, matches); i >= 0 {
		return ": the platform denies " + l.Deny[i], false
	}
	if len(l.Allow) > 0 && !slices.ContainsFunc(l.Allow, matches) {
		return ": the platform allows " + strings.Join(l.Allow, ", "), false
	}
	return "", true
}

// namesOf are a type's name as it is written, and the one that it has today.
func (w *permittedChecker) namesOf(section, name string) []string {
	if p := w.tables.profiles[kind(strings.TrimSuffix(section, "s"))][name]; p != nil && p.alias != "" {
		return []string{name, p.alias}
	}
	return []string{name}
}

// canonical is the name of an option that others are names of.
func (w *permittedChecker) canonical(section, name, key string) string {
	if object := w.optionsOf(section, name); object != nil {
		if option := object.Option(key); option != nil && option.AliasOf != "" {
			return option.AliasOf
		}
	}
	return key
}

func matchesType(entry, section string, names []string) bool {
	of, name, _ := strings.Cut(entry, ".")
	return of == section && (name == "*" || slices.Contains(names, name))
}

// walked is where in a configuration something stands.
type walked struct {
	// section and names are of the component, global and none outside of them.
	section string
	names   []string
	// path is for messages. steps are the keys below the component, or from the top.
	path  string
	steps []string
}

// walk judges an option and what is below it.
func (w *permittedChecker) walk(of walked, at position, v *value) {
	// What << merges from elsewhere would have another path.
	if last := of.steps[len(of.steps)-1]; last == mergeKey || w.isDynamic(last) {
		w.say(notLiteral, at, of.path, "the key %q is not literal", last)
		return
	}
	if !w.option(of, at) {
		return
	}
	switch v.form {
	case table:
		for i := range v.entries {
			e := &v.entries[i]
			below := of
			below.path, below.steps = join(of.path, e.key), append(slices.Clone(of.steps), e.key)
			w.walk(below, e.at, e.value)
		}
	case list:
		for i, item := range v.items {
			below := of
			below.path += "[" + itoa(i) + "]"
			w.walk(below, item.at, item)
		}
	case text, number:
		w.notAPart(of, v)
		w.host(of, v)
	case open:
		w.say(notLiteral, v.at, of.path, "%s is %s, which may be anything", of.path, v.scalar)
	default:
	}
}

// notAPart refuses a text that becomes a map or a list which is restricted: where an option
// below it is denied, or not among those allowed, the text may stand for it.
func (w *permittedChecker) notAPart(of walked, v *value) {
	if !w.isDynamic(v.scalar) {
		return
	}
	if slices.ContainsFunc(w.permitted.Options.Deny, of.isAbove) {
		w.say(notLiteral, v.at, of.path, "%s is restricted, and its value is not literal", of.path)
	}
}

// option reports whether an option is permitted, and says so if it is not.
func (w *permittedChecker) option(of walked, at position) bool {
	rules := w.permitted.Options
	if i := slices.IndexFunc(rules.Deny, of.isBelow); i >= 0 {
		w.say(optionForbidden, at, of.path, "the option is not allowed: the platform denies %s", rules.Deny[i])
		return false
	}
	var named []string
	isAllowed := false
	for _, entry := range rules.Allow {
		if !of.isNamed(entry) {
			continue
		}
		named = append(named, entry)
		// What is above an option that is allowed has to be there for it.
		isAllowed = isAllowed || of.isBelow(entry) || of.isAbove(entry)
	}
	if len(named) > 0 && !isAllowed {
		w.say(optionForbidden, at, of.path, "the option is not allowed: the platform allows %s", strings.Join(named, ", "))
		return false
	}
	return true
}

// isNamed reports whether an entry is about the component, or about the same top-level key.
func (of walked) isNamed(entry string) bool {
	steps := strings.Split(entry, ".")
	if of.section == "global" {
		return !slices.Contains(typedSections, steps[0]) && steps[0] == of.steps[0]
	}
	return slices.Contains(typedSections, steps[0]) && matchesType(steps[0]+"."+steps[1], of.section, of.names)
}

// entrySteps are those of an entry below the component, nil if it is about another one.
func (of walked) entrySteps(entry string) []string {
	if !of.isNamed(entry) {
		return nil
	}
	steps := strings.Split(entry, ".")
	if of.section == "global" {
		return steps
	}
	return steps[2:]
}

// isBelow reports whether an option is the one of an entry, or below it.
func (of walked) isBelow(entry string) bool {
	steps := of.entrySteps(entry)
	return len(steps) > 0 && len(of.steps) >= len(steps) && sameSteps(steps, of.steps[:len(steps)])
}

// isAbove reports whether the option of an entry is below this one.
func (of walked) isAbove(entry string) bool {
	steps := of.entrySteps(entry)
	return len(steps) > len(of.steps) && sameSteps(steps[:len(of.steps)], of.steps)
}

func sameSteps(pattern, steps []string) bool {
	return slices.EqualFunc(pattern, steps, func(p, s string) bool { return p == "*" || p == s })
}
