// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"slices"
	"strings"
)

// Policy is the platform's policy for valid configurations. The zero value permits everything.
type Policy struct {
	// Types are the permitted types of components, such as sinks.http, sources.* or secret.exec.
	Types Lists `json:"types"`
	// Options are the permitted options by path, such as sinks.http.proxy, sinks.*.tls or api. A path includes
	// all options below it. Allow restricts only the types that it names. Components of such a type may have
	// only these options, type and inputs.
	Options Lists `json:"options"`
	// Hosts are the hosts that Vector may connect to, such as *.example.com, loki.example.com:3100 or 10.0.0.0/8.
	Hosts Lists `json:"hosts"`
}

// Lists contains the allowed and the denied entries. If Allow is empty, all entries are allowed. Deny takes
// precedence over Allow.
type Lists struct {
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`
}

// isEmpty reports whether the lists neither allow nor deny anything.
func (l Lists) isEmpty() bool { return len(l.Allow)+len(l.Deny) == 0 }

// IsEverything reports whether the policy permits everything.
func (p *Policy) IsEverything() bool {
	return p.Types.isEmpty() && p.Options.isEmpty() && p.Hosts.isEmpty()
}

// Validate returns an error for the first malformed entry.
func (p *Policy) Validate() error {
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

// typedSections are the top-level keys with entries that have an option type.
var typedSections = []string{"sources", "transforms", "sinks", "enrichment_tables", "secret"}

// Forbidden returns the findings about parts of a configuration that the policy does not permit.
func Forbidden(findings []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !strings.HasPrefix(string(f.Code), "VSC6") })
}

// permittedChecker checks the files of a configuration against the policy.
type permittedChecker struct {
	checker   *checker
	permitted *Policy
	patterns  hostRules
	forbidden []Finding
}

// findForbidden returns the findings about parts of the files that the policy does not permit. It checks each file
// separately, so that merging does not affect the result.
func (c *checker) findForbidden(permitted *Policy, isWhole bool) []Finding {
	if permitted.IsEverything() {
		return nil
	}
	w := &permittedChecker{checker: c, permitted: permitted, patterns: newHostRules(permitted.Hosts)}
	if !isWhole {
		w.reportForbidden(notVisible, position{}, "", "the configuration cannot be read, so the policy cannot check it")
	}
	for _, interp := range c.interpolations {
		for _, written := range interp.open {
			if written != "$$" {
				w.reportForbidden(notLiteral, position{file: interp.file}, "", "variable %s is replaced by an unknown string, which may add anything to the configuration", written)
			}
		}
	}
	for _, tree := range c.trees {
		w.checkTree(tree)
	}
	return w.forbidden
}

// reportForbidden adds a finding about the policy. It drops findings above a limit, because one finding is
// enough to reject the configuration.
func (w *permittedChecker) reportForbidden(code Code, pos position, path, format string, args ...any) {
	if len(w.forbidden) >= mostFindings {
		return
	}
	rule := ruleFor(code)
	w.forbidden = append(w.forbidden, Finding{
		Code: code, Level: rule.Level, Help: rule.Help, Path: path, Message: fmt.Sprintf(format, args...),
		Source: w.checker.sourceName(pos), Line: w.checker.sourcePosition(pos).line, Column: w.checker.sourcePosition(pos).column,
	})
}

// checkTree checks one file against the policy.
func (w *permittedChecker) checkTree(root *value) {
	for i := range root.entries {
		e := &root.entries[i]
		switch {
		case e.key == "provider":
			w.reportForbidden(notVisible, e.pos, e.key, "a provider provides a configuration that the policy cannot check")
		case slices.Contains(typedSections, e.key):
			w.checkSection(e)
		case e.key == "tests":
		default:
			w.checkLocation(optionLocation{section: "global", path: e.key, steps: []string{e.key}}, e.pos, e.value)
		}
	}
}

// checkSection checks the components of a section, such as sinks, against the policy.
func (w *permittedChecker) checkSection(section *entry) {
	if section.value.form != table {
		if section.value.form != null {
			w.reportForbidden(notLiteral, section.pos, section.key, "%s is %s", section.key, section.value.form.formNoun())
		}
		return
	}
	for i := range section.value.entries {
		w.checkComponent(section.key, &section.value.entries[i])
	}
}

// checkComponent checks one component against the policy.
func (w *permittedChecker) checkComponent(section string, e *entry) {
	path := joinPath(section, e.key)
	typed := e.value.get("type")
	if e.value.form != table || typed.form != text || w.checker.isDynamic(typed.scalar) || w.checker.isDynamic(e.key) {
		w.reportForbidden(notLiteral, e.pos, path, "%s does not have a literal type, so the policy cannot check it", path)
		return
	}
	names := w.typeNames(section, typed.scalar)
	if list, ok := w.permitted.Types.denialReason(func(entry string) bool { return matchesType(entry, section, names) }); !ok {
		w.reportForbidden(typeForbidden, typed.pos, path+".type", "the component type %s.%s is not allowed%s", section, typed.scalar, list)
		return
	}
	if section == "secret" && !w.permitted.isTrustedBackend(names) {
		w.reportForbidden(notVisible, typed.pos, path, "Vector inserts the values of the backend into the text of the configuration before it reads the configuration: if options or hosts are restricted, vector.types.allow has to name the backend")
	}
	loc := optionLocation{section: section, names: names, path: path}
	for i := range e.value.entries {
		option := &e.value.entries[i]
		if option.key == "type" || option.key == "inputs" {
			continue
		}
		nested := loc
		nested.path, nested.steps = joinPath(path, option.key), []string{w.canonicalOption(section, typed.scalar, option.key)}
		w.checkLocation(nested, option.pos, option.value)
	}
	w.requireNamedHost(section, names[len(names)-1], e)
}

// isTrustedBackend reports whether texts from a secret backend with one of the names may become part of a
// configuration. This is true if options and hosts are not restricted, or if the policy allows the backend
// explicitly.
func (p *Policy) isTrustedBackend(names []string) bool {
	return p.Options.isEmpty() && p.Hosts.isEmpty() ||
		slices.ContainsFunc(p.Types.Allow, func(entry string) bool { return matchesType(entry, "secret", names) })
}

// denialReason reports whether the lists allow an option or a type, and returns the reason if not, as a suffix for a
// message. matches reports whether an entry of the lists concerns the option or type.
func (l Lists) denialReason(matches func(entry string) bool) (list string, isAllowed bool) {
	if i := slices.IndexFunc(l.Deny, matches); i >= 0 {
		return ": the platform denies " + l.Deny[i], false
	}
	if len(l.Allow) > 0 && !slices.ContainsFunc(l.Allow, matches) {
		return ": the platform allows " + strings.Join(l.Allow, ", "), false
	}
	return "", true
}

// typeNames returns the name of a type in the configuration, and also its current name if the type has been
// renamed.
func (w *permittedChecker) typeNames(section, name string) []string {
	if p := w.checker.tables.profiles[kind(strings.TrimSuffix(section, "s"))][name]; p != nil && p.alias != "" {
		return []string{name, p.alias}
	}
	return []string{name}
}

// canonicalOption returns the name of an option. If the key is an alias, it returns the name of the option that the
// alias stands for.
func (w *permittedChecker) canonicalOption(section, name, key string) string {
	if object := w.componentOptions(section, name); object != nil {
		if option := object.Option(key); option != nil && option.AliasOf != "" {
			return option.AliasOf
		}
	}
	return key
}

// matchesType reports whether an entry of a list, SECTION.TYPE or SECTION.*, matches a component of a section with
// one of the type names.
func matchesType(entry, section string, names []string) bool {
	entrySection, name, _ := strings.Cut(entry, ".")
	return entrySection == section && (name == "*" || slices.Contains(names, name))
}

// optionLocation is the location of an option in a configuration.
type optionLocation struct {
	// section is the section of the component, such as sinks, or "global" for options outside of components.
	// names are the names of the component's type, or empty for "global".
	section string
	names   []string
	// path is the path of the option for messages. steps are the keys of the option below the component, or
	// from the top of the file.
	path  string
	steps []string
}

// checkLocation checks an option and all options below it against the policy.
func (w *permittedChecker) checkLocation(loc optionLocation, pos position, v *value) {
	// The options that << merges would have another path.
	if key := loc.steps[len(loc.steps)-1]; key == mergeKey || w.checker.isDynamic(key) {
		w.reportForbidden(notLiteral, pos, loc.path, "the key %q is a merge or contains a variable or a template, so the policy cannot check its options; write the options with literal keys", key)
		return
	}
	if !w.checkOption(loc, pos) {
		return
	}
	switch v.form {
	case table:
		for i := range v.entries {
			e := &v.entries[i]
			nested := loc
			nested.path, nested.steps = joinPath(loc.path, e.key), append(slices.Clone(loc.steps), e.key)
			w.checkLocation(nested, e.pos, e.value)
		}
	case list:
		for i, item := range v.items {
			nested := loc
			nested.path += "[" + itoa(i) + "]"
			w.checkLocation(nested, item.pos, item)
		}
	case text, number:
		w.requireLiteral(loc, v)
		w.checkHost(loc, v)
	case open:
		w.reportForbidden(notLiteral, v.pos, loc.path, "%s is %s, which may be anything", loc.path, v.scalar)
	default:
	}
}

// requireLiteral reports a text with an unknown variable if the policy denies an option below it. The text may
// stand for a map with that option.
func (w *permittedChecker) requireLiteral(loc optionLocation, v *value) {
	if !w.checker.isDynamic(v.scalar) {
		return
	}
	if slices.ContainsFunc(w.permitted.Options.Deny, loc.isAbove) {
		w.reportForbidden(notLiteral, v.pos, loc.path, "%s is restricted, and its value is not literal", loc.path)
	}
}

// checkOption reports whether the policy permits an option. If not, it also adds a finding.
func (w *permittedChecker) checkOption(loc optionLocation, pos position) bool {
	rules := w.permitted.Options
	if i := slices.IndexFunc(rules.Deny, loc.isBelow); i >= 0 {
		w.reportForbidden(optionForbidden, pos, loc.path, "the option is not allowed: the platform denies %s", rules.Deny[i])
		return false
	}
	var named []string
	isAllowed := false
	for _, entry := range rules.Allow {
		if !loc.isNamedBy(entry) {
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

// isNamedBy reports whether an entry of the policy concerns the type of the component, or the same top-level key.
func (loc optionLocation) isNamedBy(entry string) bool {
	steps := strings.Split(entry, ".")
	if loc.section == "global" {
		return !slices.Contains(typedSections, steps[0]) && steps[0] == loc.steps[0]
	}
	return slices.Contains(typedSections, steps[0]) && matchesType(steps[0]+"."+steps[1], loc.section, loc.names)
}

// entrySteps returns the steps of a policy entry below the component. It returns nil if the entry concerns
// another type or another top-level key.
func (loc optionLocation) entrySteps(entry string) []string {
	if !loc.isNamedBy(entry) {
		return nil
	}
	steps := strings.Split(entry, ".")
	if loc.section == "global" {
		return steps
	}
	return steps[2:]
}

// isBelow reports whether the option is the option of a policy entry or is below it.
func (loc optionLocation) isBelow(entry string) bool {
	steps := loc.entrySteps(entry)
	return len(steps) > 0 && len(loc.steps) >= len(steps) && sameSteps(steps, loc.steps[:len(steps)])
}

// isAbove reports whether the option of a policy entry is below the option.
func (loc optionLocation) isAbove(entry string) bool {
	steps := loc.entrySteps(entry)
	return len(steps) > len(loc.steps) && sameSteps(steps[:len(loc.steps)], loc.steps)
}

// sameSteps reports whether the steps of a path equal a pattern, in which * matches any step.
func sameSteps(pattern, steps []string) bool {
	return slices.EqualFunc(pattern, steps, func(p, s string) bool { return p == "*" || p == s })
}
