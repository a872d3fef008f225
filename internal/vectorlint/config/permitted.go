// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"slices"
	"strings"
)

// Permitted is the part of a valid configuration that the platform permits. Its zero value permits everything.
type Permitted struct {
	// Types are types of components, such as sinks.http, sources.* or secret.exec.
	Types Lists `json:"types"`
	// Options are options by their paths, such as sinks.http.proxy, sinks.*.tls or api. Each path includes all options
	// below it. Allow restricts only the types that it names: they may have these options, type and inputs, and no
	// others.
	Options Lists `json:"options"`
	// Hosts are the hosts that Vector may connect to, such as *.example.com, loki.example.com:3100 or 10.0.0.0/8.
	Hosts Lists `json:"hosts"`
}

// Lists are the allowed entries and the denied entries. An empty Allow allows all. Deny takes precedence.
type Lists struct {
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`
}

func (l Lists) isEmpty() bool { return len(l.Allow)+len(l.Deny) == 0 }

// IsEverything reports whether everything is permitted.
func (p *Permitted) IsEverything() bool {
	return p.Types.isEmpty() && p.Options.isEmpty() && p.Hosts.isEmpty()
}

// Validate reports the first entry that has no meaning.
func (p *Permitted) Validate() error {
	for _, entry := range slices.Concat(p.Types.Allow, p.Types.Deny) {
		section, name, _ := strings.Cut(entry, ".")
		if !slices.Contains(typedSections, section) || name == "" || strings.Contains(name, ".") {
			return fmt.Errorf("vector.types: %q is not a valid type: write SECTION.TYPE, where SECTION is one of %s, and TYPE may be *", entry, strings.Join(typedSections, ", "))
		}
	}
	for _, entry := range slices.Concat(p.Options.Allow, p.Options.Deny) {
		steps := strings.Split(entry, ".")
		isTyped := slices.Contains(typedSections, steps[0])
		if slices.Contains(steps, "") || isTyped && len(steps) < 3 || !isTyped && !slices.Contains(topLevel, steps[0]) {
			return fmt.Errorf("vector.options: %q is not a valid option path: write SECTION.TYPE.OPTION, or an option outside of components, such as proxy", entry)
		}
	}
	for _, entry := range slices.Concat(p.Hosts.Allow, p.Hosts.Deny) {
		if _, err := parsePattern(entry); err != nil {
			return fmt.Errorf("vector.hosts: %w", err)
		}
	}
	return nil
}

// typedSections are the top-level keys with entries that have a type.
var typedSections = []string{"sources", "transforms", "sinks", "enrichment_tables", "secret"}

// Forbidden returns the findings about parts that are not permitted.
func Forbidden(findings []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !strings.HasPrefix(string(f.Code), "VSC6") })
}

// permittedChecker checks a configuration against Permitted.
type permittedChecker struct {
	*checker
	permitted *Permitted
	patterns  hostRules
	forbidden []Finding
}

// forbid returns the findings about parts of the files that are not permitted. Each file is checked separately, so the
// result does not depend on merging.
func (c *checker) forbid(permitted *Permitted, isWhole bool) []Finding {
	if permitted.IsEverything() {
		return nil
	}
	w := &permittedChecker{checker: c, permitted: permitted, patterns: newHostRules(permitted.Hosts)}
	if !isWhole {
		w.reportForbidden(notVisible, position{}, "", "the configuration cannot be read, so the policy cannot check it")
	}
	for _, interp := range c.interpolations {
		if interp == nil {
			continue
		}
		for _, written := range interp.open {
			if written != "$$" {
				w.reportForbidden(notLiteral, position{file: interp.file}, "", "%s stands for an unknown text, which may add anything to the configuration", written)
			}
		}
	}
	for _, tree := range c.trees {
		w.tree(tree)
	}
	return w.forbidden
}

// reportForbidden adds a finding, up to a limit, because the first one is enough to reject the configuration.
func (w *permittedChecker) reportForbidden(code Code, pos position, path, format string, args ...any) {
	if len(w.forbidden) >= mostFindings {
		return
	}
	rule := ruleFor(code)
	w.forbidden = append(w.forbidden, Finding{
		Code: code, Level: rule.Level, Help: rule.Help, Path: path, Message: fmt.Sprintf(format, args...),
		Source: w.sourceName(pos), Line: w.sourcePosition(pos).line, Column: w.sourcePosition(pos).column,
	})
}

// tree checks one file.
func (w *permittedChecker) tree(root *value) {
	for i := range root.entries {
		e := &root.entries[i]
		switch {
		case e.key == "provider":
			w.reportForbidden(notVisible, e.pos, e.key, "a provider provides a configuration that the policy cannot check")
		case slices.Contains(typedSections, e.key):
			w.section(e)
		case e.key == "tests":
		default:
			w.walk(optionLocation{section: "global", path: e.key, steps: []string{e.key}}, e.pos, e.value)
		}
	}
}

func (w *permittedChecker) section(section *entry) {
	if section.value.form != table {
		if section.value.form != null {
			w.reportForbidden(notLiteral, section.pos, section.key, "%s is %s", section.key, section.value.form.noun())
		}
		return
	}
	for i := range section.value.entries {
		w.component(section.key, &section.value.entries[i])
	}
}

// component checks one component.
func (w *permittedChecker) component(section string, e *entry) {
	path := join(section, e.key)
	typed := e.value.get("type")
	if e.value.form != table || typed.form != text || w.isDynamic(typed.scalar) || w.isDynamic(e.key) {
		w.reportForbidden(notLiteral, e.pos, path, "%s does not have a literal type, so the policy cannot check it", path)
		return
	}
	names := w.typeNames(section, typed.scalar)
	if list, ok := w.permitted.Types.refuses(func(entry string) bool { return matchesType(entry, section, names) }); !ok {
		w.reportForbidden(typeForbidden, typed.pos, path+".type", "the type %s.%s is not allowed%s", section, typed.scalar, list)
		return
	}
	if section == "secret" && !w.permitted.trusts(names) {
		w.reportForbidden(notVisible, typed.pos, path, "Vector inserts the values of the backend into the text of the configuration before it reads the configuration: if options or hosts are restricted, vector.types.allow has to name the backend")
	}
	loc := optionLocation{section: section, names: names, path: path}
	for i := range e.value.entries {
		option := &e.value.entries[i]
		if option.key == "type" || option.key == "inputs" {
			continue
		}
		nested := loc
		nested.path, nested.steps = join(path, option.key), []string{w.canonical(section, typed.scalar, option.key)}
		w.walk(nested, option.pos, option.value)
	}
	w.requireNamedHost(section, names[len(names)-1], e)
}

// trusts reports whether the texts of a secret backend may become part of a configuration.
func (p *Permitted) trusts(names []string) bool {
	return p.Options.isEmpty() && p.Hosts.isEmpty() ||
		slices.ContainsFunc(p.Types.Allow, func(entry string) bool { return matchesType(entry, "secret", names) })
}

// refuses reports whether the lists allow the entries that match, and returns the list for messages.
func (l Lists) refuses(matches func(entry string) bool) (list string, isAllowed bool) {
	if i := slices.IndexFunc(l.Deny, matches); i >= 0 {
		return ": the platform denies " + l.Deny[i], false
	}
	if len(l.Allow) > 0 && !slices.ContainsFunc(l.Allow, matches) {
		return ": the platform allows " + strings.Join(l.Allow, ", "), false
	}
	return "", true
}

// typeNames returns a type's name as it is written, and its current name.
func (w *permittedChecker) typeNames(section, name string) []string {
	if p := w.tables.profiles[kind(strings.TrimSuffix(section, "s"))][name]; p != nil && p.alias != "" {
		return []string{name, p.alias}
	}
	return []string{name}
}

// canonical returns the name of an option, also for an alias of it.
func (w *permittedChecker) canonical(section, name, key string) string {
	if object := w.componentOptions(section, name); object != nil {
		if option := object.Option(key); option != nil && option.AliasOf != "" {
			return option.AliasOf
		}
	}
	return key
}

func matchesType(entry, section string, names []string) bool {
	entrySection, name, _ := strings.Cut(entry, ".")
	return entrySection == section && (name == "*" || slices.Contains(names, name))
}

// optionLocation is a place in a configuration.
type optionLocation struct {
	// section and names are the section and type of the component. Outside of components, they are global and empty.
	section string
	names   []string
	// path is for messages. steps are the keys below the component, or from the top.
	path  string
	steps []string
}

// walk checks an option and everything below it.
func (w *permittedChecker) walk(loc optionLocation, pos position, v *value) {
	// The options that << merges would have another path.
	if key := loc.steps[len(loc.steps)-1]; key == mergeKey || w.isDynamic(key) {
		w.reportForbidden(notLiteral, pos, loc.path, "the key %q is not literal", key)
		return
	}
	if !w.option(loc, pos) {
		return
	}
	switch v.form {
	case table:
		for i := range v.entries {
			e := &v.entries[i]
			nested := loc
			nested.path, nested.steps = join(loc.path, e.key), append(slices.Clone(loc.steps), e.key)
			w.walk(nested, e.pos, e.value)
		}
	case list:
		for i, item := range v.items {
			nested := loc
			nested.path += "[" + itoa(i) + "]"
			w.walk(nested, item.pos, item)
		}
	case text, number:
		w.requireLiteral(loc, v)
		w.host(loc, v)
	case open:
		w.reportForbidden(notLiteral, v.pos, loc.path, "%s is %s, which may be anything", loc.path, v.scalar)
	default:
	}
}

// requireLiteral rejects a text that may become a restricted map or list. If an option below it is denied, or is not among
// the allowed ones, the text may stand for that option.
func (w *permittedChecker) requireLiteral(loc optionLocation, v *value) {
	if !w.isDynamic(v.scalar) {
		return
	}
	if slices.ContainsFunc(w.permitted.Options.Deny, loc.isAbove) {
		w.reportForbidden(notLiteral, v.pos, loc.path, "%s is restricted, and its value is not literal", loc.path)
	}
}

// option reports whether an option is permitted, and adds a finding if not.
func (w *permittedChecker) option(loc optionLocation, pos position) bool {
	rules := w.permitted.Options
	if i := slices.IndexFunc(rules.Deny, loc.isBelow); i >= 0 {
		w.reportForbidden(optionForbidden, pos, loc.path, "the option is not allowed: the platform denies %s", rules.Deny[i])
		return false
	}
	var named []string
	isAllowed := false
	for _, entry := range rules.Allow {
		if !loc.isNamed(entry) {
			continue
		}
		named = append(named, entry)
		// The options above an allowed option must exist too.
		isAllowed = isAllowed || loc.isBelow(entry) || loc.isAbove(entry)
	}
	if len(named) > 0 && !isAllowed {
		w.reportForbidden(optionForbidden, pos, loc.path, "the option is not allowed: the platform allows %s", strings.Join(named, ", "))
		return false
	}
	return true
}

// isNamed reports whether an entry is about the component, or about the same top-level key.
func (loc optionLocation) isNamed(entry string) bool {
	steps := strings.Split(entry, ".")
	if loc.section == "global" {
		return !slices.Contains(typedSections, steps[0]) && steps[0] == loc.steps[0]
	}
	return slices.Contains(typedSections, steps[0]) && matchesType(steps[0]+"."+steps[1], loc.section, loc.names)
}

// entrySteps returns the steps of an entry below the component, nil if the entry is about another component.
func (loc optionLocation) entrySteps(entry string) []string {
	if !loc.isNamed(entry) {
		return nil
	}
	steps := strings.Split(entry, ".")
	if loc.section == "global" {
		return steps
	}
	return steps[2:]
}

// isBelow reports whether the option is the option of an entry, or below it.
func (loc optionLocation) isBelow(entry string) bool {
	steps := loc.entrySteps(entry)
	return len(steps) > 0 && len(loc.steps) >= len(steps) && sameSteps(steps, loc.steps[:len(steps)])
}

// isAbove reports whether the option of an entry is below this one.
func (loc optionLocation) isAbove(entry string) bool {
	steps := loc.entrySteps(entry)
	return len(steps) > len(loc.steps) && sameSteps(steps[:len(loc.steps)], loc.steps)
}

func sameSteps(pattern, steps []string) bool {
	return slices.EqualFunc(pattern, steps, func(p, s string) bool { return p == "*" || p == s })
}
