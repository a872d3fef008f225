// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strconv"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// findObject returns the options of a component's type in a version of Vector, or nil if they are unknown. A
// type that has been renamed has the options of its new name.
func (c *checker) findObject(comp *component, minor int) *vectoroptions.Object {
	if comp.profile == nil {
		return nil
	}
	section := string(comp.kind) + "s"
	if object := vectoroptions.Component(minor, section, comp.typeName); object != nil || comp.profile.alias == "" {
		return object
	}
	return vectoroptions.Component(minor, section, comp.profile.alias)
}

// checkGlobalOptions checks the options outside of components. The schema has them for one version only. They
// hardly differ between versions, so findings for all other versions are warnings.
func (c *checker) checkGlobalOptions() {
	defer func(wasTabled bool) { c.hasOptionTable = wasTabled }(c.hasOptionTable)
	c.hasOptionTable = c.hasOptionTable && c.version.minor == vectoroptions.Schema
	object := vectoroptions.Globals()
	for _, e := range c.root.entries {
		if option := object.Option(e.key); option != nil {
			c.checkValue(e.key, e.value, option.Forms)
		}
	}
}

// checkObject checks a map against the options that it may have. Messages name the owner of the options. Keys
// in except are skipped, because other rules check them.
func (c *checker) checkObject(path, owner string, pos position, v *value, object *vectoroptions.Object, except ...string) {
	if variant, suffix := c.matchingVariant(v, object.Variants(), except); variant != nil {
		object, owner = variant, owner+suffix
	}
	missing, errorCount := c.missingOptions(v, object), c.counts[Error]
	for i := range v.entries {
		e := &v.entries[i]
		option := object.Option(e.key)
		switch {
		case slices.Contains(except, e.key):
		case option != nil:
			c.checkOption(joinPath(path, e.key), e.value, option)
		case c.isOpenText(e.key) && c.canEqualAny(e.key, allOptionNames(object)):
		case c.effort.nearestName(e.key, missing) == "":
			c.reportUnknown(path, owner, e, object)
		}
	}
	if object.Option("only_fields") != nil && object.Option("except_fields") != nil {
		c.checkFieldFilters(path, v)
	}
	for _, name := range missing {
		if !slices.Contains(except, name) {
			c.add(missingOption, pos, path, c.hasOptionTable, "%s needs %s", owner, name, c.didYouMeanInstead(v, object, name))
		}
	}
	if c.hasOptionTable && errorCount < mostFindings && c.counts[Error] == errorCount && v.form == table && !c.hasOpenKey(v) {
		c.checkVariants(path, owner, pos, v, object.Variants(), except)
	}
}

// checkFieldFilters reports fields that an encoding lists in both only_fields and except_fields.
func (c *checker) checkFieldFilters(path string, v *value) {
	onlyFields := map[string]bool{}
	for _, item := range v.get("only_fields").items {
		onlyFields[strings.TrimPrefix(item.scalar, ".")] = true
	}
	for i, item := range v.get("except_fields").items {
		if item.form == text && onlyFields[strings.TrimPrefix(item.scalar, ".")] && !c.isDynamic(item.scalar) {
			c.add(noSuchValue, item.pos, path+".except_fields["+itoa(i)+"]", c.hasOptionTable && c.version.minor == vectoroptions.Schema, "field %q of except_fields is also in only_fields", item.scalar, help("remove the name from one of the two lists"))
		}
	}
}

// checkVariants reports a map that is not valid in any of the variants of its options.
func (c *checker) checkVariants(path, owner string, pos position, v *value, variants []*vectoroptions.Object, except []string) {
	var missingSets []string
	for _, variant := range variants {
		if c.hasUnknownChoice(v, variant) {
			return
		}
		if !c.isIntendedVariant(v, variant, except) {
			continue
		}
		if c.isValidVariant(path, owner, pos, v, variant, except) {
			return
		}
		if missing := c.missingOptions(v, variant); len(missing) > 0 {
			missingSets = append(missingSets, strings.Join(missing, " and "))
		}
	}
	switch {
	case len(variants) == 0:
	case len(missingSets) > 0:
		c.add(missingOption, pos, path, true, "%s needs %s", owner, strings.Join(missingSets, ", or "))
	default:
		c.add(unknownOption, pos, path, true, "the options of %s exclude each other", owner, help("remove the options of the other variant"))
	}
}

// matchingVariant returns the only variant with values that the map's texts match, and a suffix for messages
// with the text that decides. It returns nil if more than one variant may match, or none does.
func (c *checker) matchingVariant(v *value, variants []*vectoroptions.Object, except []string) (match *vectoroptions.Object, suffix string) {
	if !c.hasOptionTable || v.form != table || c.hasOpenKey(v) {
		return nil, ""
	}
	for _, variant := range variants {
		switch {
		case c.hasUnknownChoice(v, variant):
			return nil, ""
		case !c.isIntendedVariant(v, variant, except):
		case match != nil:
			return nil, ""
		default:
			match = variant
		}
	}
	if match == nil {
		return nil, ""
	}
	for i := range v.entries {
		e := &v.entries[i]
		single := &value{form: table, entries: v.entries[i : i+1]}
		if slices.ContainsFunc(variants, func(candidate *vectoroptions.Object) bool { return !c.isIntendedVariant(single, candidate, except) }) {
			return match, " with " + e.key + " " + strconv.Quote(e.value.scalar)
		}
	}
	return match, ""
}

// hasUnknownChoice reports whether the text that decides between the variants may be unknown, because it
// contains a secret or a variable.
func (c *checker) hasUnknownChoice(v *value, variant *vectoroptions.Object) bool {
	return slices.ContainsFunc(v.entries, func(e entry) bool {
		option := variant.Option(e.key)
		isUnknown := e.value.form == open || e.value.form == text && c.isOpenText(e.value.scalar)
		return isUnknown && option != nil && slices.ContainsFunc(option.Forms, func(form vectoroptions.Form) bool { return len(form.Values()) > 0 })
	})
}

// isIntendedVariant reports whether all texts of a map are valid values in a variant. Such a text, for example a type,
// may decide between the variants.
func (c *checker) isIntendedVariant(v *value, variant *vectoroptions.Object, except []string) bool {
	for i := range v.entries {
		e := &v.entries[i]
		if e.value.form != text || c.isOpenText(e.value.scalar) || slices.Contains(except, e.key) {
			continue
		}
		if option := variant.Option(e.key); option != nil && len(option.Forms) == 1 && !option.Forms[0].Allows(e.value.scalar) {
			return false
		}
	}
	return true
}

// isValidVariant reports whether a map is valid in a variant. It checks the map, and drops the findings.
func (c *checker) isValidVariant(path, owner string, pos position, v *value, variant *vectoroptions.Object, except []string) bool {
	findings, counts, programs := c.findings, c.counts, c.programs
	c.findings, c.counts = nil, map[Level]int{}
	defer func() { c.findings, c.counts, c.programs = findings, counts, programs }()
	c.checkObject(path, owner, pos, v, variant, except...)
	return c.counts[Error] == 0
}

// reportUnknown adds a finding for an option that an object does not have, with the most similar option. The finding
// is certain only if Vector rejects unknown options of the object.
func (c *checker) reportUnknown(path, owner string, e *entry, object *vectoroptions.Object) {
	optionPath, ignored := joinPath(path, e.key), ""
	if c.tables.globalsRemoved[optionPath] > 0 {
		return // A separate rule reports it.
	}
	if !object.Denies {
		ignored = ", and Vector ignores it"
	}
	advice := mergesOnce
	if e.key != mergeKey {
		advice = didYouMean(c.effort.nearestName(e.key, optionNames(object)))
	}
	c.add(unknownOption, e.pos, optionPath, object.Denies && c.hasOptionTable, "%s has no option %q%s", owner, e.key, ignored, advice)
}

// allOptionNames returns the names of all options of an object. Its Options have entries for aliases, and * for free keys.
func allOptionNames(object *vectoroptions.Object) []string {
	var optionNames []string
	for _, option := range object.Options {
		optionNames = append(optionNames, option.Name)
	}
	return optionNames
}

// optionNames returns the names of an object's options, without aliases and free keys.
func optionNames(object *vectoroptions.Object) []string {
	var optionNames []string
	for _, option := range object.Options {
		if option.Name != "*" && option.AliasOf == "" {
			optionNames = append(optionNames, option.Name)
		}
	}
	return optionNames
}

// missingOptions returns the required options that a map does not set under any of their names. It returns nil
// if the map has an unknown key, which may be one of these options.
func (c *checker) missingOptions(v *value, object *vectoroptions.Object) []string {
	if v.form == open || c.hasOpenKey(v) {
		return nil
	}
	var required []string
	for i := range object.Options {
		option := &object.Options[i]
		if !option.Required || option.Name == "*" || v.hasKey(option.Name) || slices.ContainsFunc(object.Options, func(alias vectoroptions.Option) bool {
			return alias.AliasOf == option.Name && v.hasKey(alias.Name)
		}) {
			continue
		}
		applies, isKnown := option.Applies(func(name string) (string, bool) {
			dependency := v.get(name)
			return dependency.scalar, dependency.form == text && !c.isOpenText(dependency.scalar)
		})
		if applies && isKnown {
			required = append(required, option.Name)
		}
	}
	return required
}

// didYouMeanInstead returns a help if one of the map's keys is probably a typo of a missing option, and ""
// otherwise.
func (c *checker) didYouMeanInstead(v *value, object *vectoroptions.Object, name string) help {
	for i := range v.entries {
		key := v.entries[i].key
		if object.Option(key) == nil && c.effort.nearestName(key, []string{name}) != "" {
			return help("did you mean " + strconv.Quote(name) + " instead of " + strconv.Quote(key) + "?")
		}
	}
	return ""
}

// checkOption checks the value of an option. If Vector ignores invalid values of the option, the finding is a
// warning.
func (c *checker) checkOption(path string, v *value, option *vectoroptions.Option) {
	defer func(wasTabled bool) { c.hasOptionTable = wasTabled }(c.hasOptionTable)
	c.hasOptionTable = c.hasOptionTable && !option.Lenient
	c.checkValue(path, v, option.Forms)
}

// checkValue checks a value against the forms that its option accepts.
func (c *checker) checkValue(path string, v *value, forms []vectoroptions.Form) {
	if len(forms) == 0 || v.form == null || v.form == wide || v.form == open || v.form == text && strings.Contains(v.scalar, "{{") && !isTemplate(forms) && !isProgram(forms) {
		return
	}
	if v.form == text && c.isDynamic(v.scalar) {
		c.checkOpenText(path, v, forms)
		return
	}
	var choices []string
	for _, form := range forms {
		if !hasKind(v, form.Kind) {
			continue
		}
		if v.form == text && !form.Allows(v.scalar) {
			choices = append(choices, form.Values()...)
			continue
		}
		c.checkSyntax(path, v, form)
		c.checkNested(path, v, form)
		return
	}
	if len(choices) > 0 {
		c.reportChoice(path, v, choices)
		return
	}
	actual := v.form.formNoun()
	if v.form != list && v.form != table {
		actual += ", " + strconv.Quote(v.scalar)
	}
	c.add(wrongForm, v.pos, path, c.hasOptionTable, "%s is %s, and not %s", path, actual, formNouns(forms))
}

// isTemplate reports whether an option accepts a template. The references to fields in such a value are also
// checked.
func isTemplate(forms []vectoroptions.Form) bool {
	return slices.ContainsFunc(forms, func(form vectoroptions.Form) bool { return form.Syntax == "template" })
}

// reportChoice reports a value that is not one of the valid values of its option. A typo in a codec is an error
// in every version.
func (c *checker) reportChoice(path string, v *value, choices []string) {
	code, near := noSuchValue, c.effort.nearestName(v.scalar, choices)
	isCertain := c.hasOptionTable
	if strings.HasSuffix(path, ".codec") {
		code, isCertain = unknownCodec, isCertain || near != ""
	}
	c.add(code, v.pos, path, isCertain, "%s is %q, and not one of %s", path, v.scalar, strings.Join(choices, ", "), didYouMean(near))
}

// checkNested checks the items of a list, or the content of a map.
func (c *checker) checkNested(path string, v *value, form vectoroptions.Form) {
	switch v.form {
	case list:
		items := form.Items()
		for i, item := range v.items {
			c.checkValue(path+"["+strconv.Itoa(i)+"]", item, items)
		}
	case text, table:
		if form.Kind == "condition" {
			c.checkCondition(path, v)
			return
		}
		if object := form.Object(); object != nil {
			c.checkObject(path, path, v.pos, v, object)
		}
	default:
	}
}

// isOpenText reports whether a text contains a variable, a secret or a template field, so that its final value is
// unknown.
func (c *checker) isOpenText(scalar string) bool {
	return c.isDynamic(scalar) || strings.Contains(scalar, "{{")
}

// hasKind reports whether a value may be valid for a kind of values in Vector's schema. It returns true for a
// kind that this package does not know.
func hasKind(v *value, kind string) bool {
	switch kind {
	case "string", "ascii_char":
		return v.form == text
	case "condition":
		return v.form == text || v.form == table
	case "bool":
		return v.form == boolean
	case "float":
		return v.form == number
	case "int":
		return v.form == number && isInt64(v.scalar)
	case "uint":
		return v.form == number && isInt64(v.scalar) && !strings.HasPrefix(v.scalar, "-")
	case "array":
		return v.form == list
	case "object":
		return v.form == table
	}
	return true
}

// isInt64 reports whether a number is an integer that fits into 64 bits. All other numbers are read as fractions.
func isInt64(scalar string) bool {
	_, err := strconv.ParseInt(scalar, 0, 64)
	return err == nil
}

// formNouns returns the names of forms for messages, such as "a text or a map".
func formNouns(forms []vectoroptions.Form) string {
	words := map[string]string{
		"string": "a string", "ascii_char": "a character", "bool": "true or false", "float": "a number", "int": "a whole number", "uint": "a whole number from 0",
		"array": "a list", "object": "a map", "condition": "a condition",
	}
	var texts []string
	for _, form := range forms {
		texts = append(texts, words[form.Kind])
	}
	return strings.Join(texts, " or ")
}
