// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notAnchor  = regexp.MustCompile(`[^a-z0-9 _-]`)
	pathLike   = regexp.MustCompile(`^[A-Za-z0-9_*.-]+(/[A-Za-z0-9_*.-]+)*/?$`)
	makeTarget = regexp.MustCompile(`\bmake ([a-z][a-z0-9-]*)`)
	// nameInPicture is a folder or a declaration in a Mermaid diagram: FOLDER, FOLDER.NAME or FOLDER.TYPE.METHOD.
	nameInPicture = regexp.MustCompile(`\b((?:api|cmd|internal|test)(?:/[\w-]+)+)(?:\.(\w+(?:\.\w+)?))?`)
	nameIn        = regexp.MustCompile("`([A-Za-z]\\w*)(?:\\.\\w+)?`\\s+in\\s+`((?:api|cmd|internal|test)/[a-z0-9/]+)`")
)

func TestDocs_LinkOnlyToExistingTargets(t *testing.T) {
	anchors := map[string][]string{}
	for _, p := range pages(t) {
		for _, match := range heading.FindAllStringSubmatch(p.prose, -1) {
			anchor := notAnchor.ReplaceAllString(strings.ToLower(match[1]), "")
			anchors[p.name] = append(anchors[p.name], strings.ReplaceAll(anchor, " ", "-"))
		}
	}
	for _, p := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(p.prose, -1) {
			target := match[1]
			if strings.HasPrefix(target, "https://") {
				continue
			}
			file, anchor, hasAnchor := strings.Cut(target, "#")
			to := p.name
			if file != "" {
				to = filepath.Join(filepath.Dir(p.name), file)
				require.FileExists(t, withIndex(filepath.Join(root, to)), "%s links to %s", p.name, target)
			}
			if hasAnchor {
				require.Contains(t, anchors[to], anchor, "%s links to %s", p.name, target)
			}
		}
	}
}

// withIndex returns the path, or a file in it if it is a folder with files.
func withIndex(path string) string {
	if found, _ := filepath.Glob(filepath.Join(path, "*")); len(found) > 0 {
		return found[0]
	}
	return path
}

// notPaths look like paths, but are not files of the repository.
var notPaths = []string{
	"pods/exec", "vectorsidecars/status", "vectorsidecars/finalizers", "clustervectorsidecars/status", // resources
	"vectorsidecar/", "clustervectorsidecar/NAME", // field managers
	"bin/images.tar", "bin/release", "notes.md", "provenance.intoto.json", "SHA256SUMS.sigstore.json", // of a release
	"http/protobuf",                        // a protocol
	"text/template", "text/template/parse", // a package of Go's
	"vector-sidecar-operator/VERSION", "kubectl-vectorsidecar/VERSION", // user agents
}

// A code span with a slash, or with the name of a file at the root, names an existing file. Hosts, API groups and
// absolute paths are excluded. ENV stands for an environment, and FOLDER.NAME is declared in that folder.
func TestDocs_NameOnlyExistingPaths(t *testing.T) {
	checked := 0
	for _, p := range pages(t) {
		for _, text := range p.code() {
			first, _, hasSlash := strings.Cut(text, "/")
			isPath := pathLike.MatchString(text) && hasSlash && !strings.Contains(first, ".")
			isFile := !hasSlash && slices.Contains([]string{".go", ".md", ".json"}, filepath.Ext(text))
			if !isPath && !isFile || slices.Contains(notPaths, text) {
				continue
			}
			checked++
			if match := qualified.FindStringSubmatch(text); len(match) > 0 && len(declared(t, match[1], match[2])) > 0 {
				continue
			}
			found, err := filepath.Glob(filepath.Join(root, strings.ReplaceAll(text, "ENV", "staging")))
			require.NoError(t, err, text)
			require.NotEmpty(t, found, "%s names `%s`, which is not there", p.name, text)
		}
	}
	require.Greater(t, checked, 30)
}

// In the text `NAME` in `FOLDER`, NAME is declared in that folder.
func TestDocs_NameOnlyDeclaredIdentifiers(t *testing.T) {
	checked := 0
	for _, p := range pages(t) {
		for _, match := range nameIn.FindAllStringSubmatch(p.prose, -1) {
			checked++
			require.NotEmpty(t, declared(t, match[2], match[1]), "%s names %s", p.name, match[0])
		}
	}
	require.Greater(t, checked, 5)
}

// Diagrams name existing folders, and declarations in them.
func TestDocs_NameOnlyDeclaredIdentifiersInPictures(t *testing.T) {
	checked := 0
	for _, picture := range fences(t, "mermaid") {
		for _, match := range nameInPicture.FindAllStringSubmatch(picture.text, -1) {
			checked++
			require.DirExists(t, filepath.Join(root, match[1]), picture.at())
			require.True(t, match[2] == "" || len(declared(t, match[1], match[2])) > 0, "%s names %s", picture.at(), match[0])
		}
	}
	require.Greater(t, checked, 30)
}

func TestDocs_NameOnlyExistingMakeTargets(t *testing.T) {
	help := shell(t, "make help")
	require.Contains(t, help, "Run the operator against the current kubeconfig")
	for _, p := range append(pages(t), read(t, ".github/pull_request_template.md")) {
		texts := p.code()
		for _, f := range p.fences {
			if f.language == "sh" {
				texts = append(texts, f.text)
			}
		}
		for _, text := range texts {
			for _, match := range makeTarget.FindAllStringSubmatch(text, -1) {
				require.Regexp(t, `(?m)^  `+match[1]+` `, help, "%s names `make %s`", p.name, match[1])
			}
		}
	}
}

// Each condition reason of the code has a row in docs/reference/reasons.md.
func TestDocs_ExplainEveryReason(t *testing.T) {
	declared := constants(t, "Reason")
	var explained []string
	for _, p := range pages(t) {
		_, section, found := strings.Cut(p.prose, "\n### Condition reasons\n")
		if !found {
			continue
		}
		section, _, _ = strings.Cut(section, "\n#")
		for _, match := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(section, -1) {
			explained = append(explained, match[1])
		}
	}
	require.ElementsMatch(t, declared, explained)
}

// docs/reference/status.md explains every condition, and the most frequent reasons.
func TestDocs_ExplainConditionsOnStatusPage(t *testing.T) {
	reasons, conditions := constants(t, "Reason"), constants(t, "Condition")
	status := read(t, "docs/reference/status.md")
	tables := strings.Split(status.prose, "\n|---|---|\n")
	require.Len(t, tables, 3)
	first := func(table string) []string {
		var names []string
		for line := range strings.SplitSeq(table, "\n") {
			cell, ok := strings.CutPrefix(line, "| ")
			if !ok {
				break
			}
			cell, _, _ = strings.Cut(cell, " |")
			for _, match := range codeSpan.FindAllStringSubmatch(cell, -1) {
				names = append(names, match[1])
			}
		}
		return names
	}
	require.ElementsMatch(t, conditions, first(tables[1]))
	require.Subset(t, reasons, first(tables[2]))
}

// Each decision has a page with a title, a date, the decision, its alternatives and its cost. The index lists all
// pages.
func TestDocs_StateDateAndAlternativeOfDecisions(t *testing.T) {
	form := regexp.MustCompile(`(?s)-->\n\n# [^\n]+\n\nDate: (20\d\d-[01]\d-[0-3]\d)\n\n## Decision\n\n.+\n\n## Alternatives\n\n- \*\*(?:Tried|Rejected):\*\* .+\n\n## Cost\n\n.+\.\n$`)
	index := read(t, decisionIndex)
	decisions := 0
	for _, p := range pages(t) {
		if filepath.Dir(p.name) != filepath.Dir(decisionIndex) || p.name == decisionIndex {
			continue
		}
		decisions++
		match := form.FindStringSubmatch(p.prose)
		require.NotNil(t, match, p.name)
		require.Contains(t, index.prose, "]("+filepath.Base(p.name)+") | "+match[1]+" |")
	}
	require.Greater(t, decisions, 70)
}

// constants returns the values of package meta's string constants whose names have a prefix.
func constants(t *testing.T, prefix string) []string {
	t.Helper()
	files, err := filepath.Glob(root + "/internal/meta/*.go")
	require.NoError(t, err)
	var values []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			literal, ok := spec.Values[0].(*ast.BasicLit)
			require.True(t, ok, spec.Names[0].Name)
			value, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			values = append(values, value)
			return true
		})
	}
	require.NotEmpty(t, values)
	return values
}

// docs/reference/annotations.md explains every key of a label, an annotation and a finalizer.
func TestDocs_ExplainEveryAnnotation(t *testing.T) {
	var keys []string
	declaration := regexp.MustCompile(`Group ?\+ ?"/([a-z-]+)"`)
	for _, folder := range []string{"admission", "companion", "meta"} {
		files, err := filepath.Glob(root + "/internal/" + folder + "/*.go")
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, match := range declaration.FindAllStringSubmatch(string(text), -1) {
				keys = append(keys, match[1])
			}
		}
	}
	require.Greater(t, len(keys), 20)
	var named []string
	annotations := read(t, "docs/reference/annotations.md")
	for _, text := range annotations.code() {
		named = append(named, strings.TrimSuffix(text, ".NAME"))
	}
	require.Subset(t, named, keys)
}
