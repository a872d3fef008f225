// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"go/constant"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"sigs.k8s.io/yaml"
)

// heldBy stands between a limit and the names of the code or values that enforce it.
const heldBy = "\n  Held by "

var (
	number  = regexp.MustCompile(`\d+(?:[.,]\d+)*(?:Mi|Gi| [KMG]iB| (?:second|minute|hour)s?\b)?`)
	linkTo  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	version = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
)

// limitPages list limits, each with its holders.
var limitPages = []string{"docs/reference/limits.md", "docs/reference/rollout-limits.md", "docs/reference/operator-limits.md"}

// limit is an item of a page of limitPages.
type limit struct {
	text string
	// names are the code spans in the text, and holders the code spans after heldBy.
	names, holders []string
}

func limits(t *testing.T) []limit {
	t.Helper()
	var items []string
	for _, name := range limitPages {
		items = append(items, strings.Split(read(t, name).prose, "\n- ")[1:]...)
	}
	var all []limit
	for _, item := range items {
		item, _, _ = strings.Cut(item, "\n\n")
		text, holders, found := strings.Cut(item, heldBy)
		require.True(t, found, "nothing holds this limit:\n%s", item)
		one := limit{text: linkTo.ReplaceAllString(strings.Join(strings.Fields(text), " "), "")}
		for _, span := range codeSpan.FindAllStringSubmatch(one.text, -1) {
			one.names = append(one.names, span[1])
		}
		for _, span := range codeSpan.FindAllStringSubmatch(holders, -1) {
			one.holders = append(one.holders, span[1])
		}
		require.NotEmpty(t, one.holders, item)
		all = append(all, one)
	}
	require.Greater(t, len(all), 30)
	return all
}

// Each limit on the page has the numbers of the code or values that enforce it. A name with a star, or of a struct,
// lists all members.
func TestDocs_StateLimitsOfCode(t *testing.T) {
	for _, one := range limits(t) {
		var known []string // numbers, as they are written
		var sources []string
		for _, name := range one.holders {
			values, source := holder(t, &one, name)
			for _, forms := range values {
				require.True(t, slices.ContainsFunc(forms, func(form string) bool { return slices.Contains(number.FindAllString(one.text, -1), form) }),
					"%s is %s, which the limit does not say:\n%s", name, strings.Join(forms, " or "), one.text)
				known = append(known, forms...)
			}
			sources = append(sources, source)
		}
		for _, said := range number.FindAllString(codeSpan.ReplaceAllString(one.text, ""), -1) {
			stands := regexp.MustCompile(`(^|[^\d.])` + regexp.QuoteMeta(said) + `([^\d]|$)`)
			require.True(t, slices.Contains(known, said) || stands.MatchString(strings.Join(sources, "\n")),
				"nothing that is named says %q:\n%s", said, one.text)
		}
	}
}

// holder returns the numbers of the code or value that enforces a limit, in each form in which the page may write
// them, and its source, which may contain other numbers.
func holder(t *testing.T, of *limit, name string) (values [][]string, source string) {
	t.Helper()
	if match := qualified.FindStringSubmatch(name); match != nil {
		found := declared(t, match[1], match[2])
		require.NotEmpty(t, found, "%s is not declared; what holds this limit now?\n%s", name, of.text)
		for _, one := range found {
			source += one.source + "\n"
			require.Subset(t, of.names, one.keys, "%s has other keys than this limit says:\n%s", name, of.text)
			if strings.HasSuffix(name, "*") {
				require.Contains(t, of.names, constant.StringVal(one.value), "%s.%s is beyond this limit:\n%s", match[1], one.name, of.text)
			} else if forms := formsOf(&one); forms != nil {
				values = append(values, forms)
			}
		}
		return values, source
	}
	if text, err := os.ReadFile(filepath.Join(root, name)); err == nil {
		return nil, string(text)
	}
	value, found := valueAt(t, name)
	require.True(t, found, "%s is neither declared nor a file nor a key of values.yaml or chart/values.yaml:\n%s", name, of.text)
	source = fmt.Sprint(value)
	if form := number.FindString(source); form != "" && form == source {
		values = append(values, []string{form})
	}
	return values, source
}

// formsOf returns the ways to write a constant number, nil if it is not one.
func formsOf(one *declaration) []string {
	if one.value == nil {
		return nil
	}
	if one.value.Kind() == constant.String {
		if text := constant.StringVal(one.value); version.MatchString(text) {
			return []string{text, strings.TrimSuffix(text, ".0")}
		}
		return nil
	}
	count, isExact := constant.Int64Val(one.value)
	if !isExact {
		return nil
	}
	if one.isDuration {
		length := time.Duration(count)
		return []string{
			strconv.FormatFloat(length.Seconds(), 'f', -1, 64) + " seconds",
			strconv.FormatFloat(length.Minutes(), 'f', -1, 64) + " minutes",
			strconv.FormatFloat(length.Hours(), 'f', -1, 64) + " hours",
		}
	}
	forms := []string{message.NewPrinter(language.English).Sprint(count)}
	for unit, size := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20} {
		if count%size == 0 {
			forms = append(forms, fmt.Sprintf("%d %s", count/size, unit))
		}
	}
	return forms
}

// valueAt returns the value at a path in the sidecar chart's values, or in the installation chart's.
func valueAt(t *testing.T, path string) (value any, found bool) {
	t.Helper()
	for _, file := range []string{"values.yaml", "chart/values.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		var node any
		require.NoError(t, yaml.Unmarshal(text, &node))
		found = true
		for key := range strings.SplitSeq(path, ".") {
			below, isMap := node.(map[string]any)
			if node, found = below[key]; !isMap || !found {
				found = false
				break
			}
		}
		if found {
			return node, true
		}
	}
	return nil, false
}
