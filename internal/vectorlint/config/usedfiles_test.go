// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// The files that a configuration makes Vector read are listed. An extra file would cause needless rollouts, and without
// a missing one Vector would not start.
func TestFindUsedFiles_ListsFilesReadByConfiguration(t *testing.T) {
	const table, schema, crt, other = "/etc/vector/teams.csv", "/etc/vector/schema.desc", "/etc/vector/ca.crt", "/etc/vector/other.csv"
	const interpolating = "timberio/vector:0.50.0"
	beside := []string{crt, other, schema, table}
	source := func(options string) string { return "sources:\n  app: {type: stdin, " + options + "}\n" }
	for name, test := range map[string]struct {
		text  string
		image string
		as    func(*Container)
		want  []string
	}{
		"nothing":                      {text: graph("", ok)},
		"a table":                      {text: graph("", ok) + "enrichment_tables: {teams: {type: file, file: {path: " + table + ", encoding: {type: csv}}}}\n", want: []string{table}},
		"TLS":                          {text: graph("", ok+", tls: {ca_file: "+crt+"}"), want: []string{crt}},
		"a list":                       {text: source("files: [" + crt + ", " + table + "]"), want: []string{crt, table}},
		"a program that opens it":      {text: graph("", ok+`, source: '. = parse_proto!(.message, "`+schema+`", "Log")'`), want: []string{schema}},
		"a longer name":                {text: source("file: " + table + ".old")},
		"a comment":                    {text: graph("", ok) + "# " + table + "\n"},
		"a key":                        {text: source(`"` + table + `": 1`)},
		"a roundabout path":            {text: source("file: /etc/vector/../vector/./teams.csv"), want: []string{table}},
		"a path from the root":         {text: source("file: etc/vector/teams.csv"), want: []string{table}},
		"a name alone":                 {text: source("file: teams.csv")},
		"a name alone, run in there":   {text: source("file: teams.csv"), as: func(c *Container) { c.WorkingDir = "/etc/vector" }, want: []string{table}},
		"a pattern":                    {text: source("include: [/etc/vector/*.csv]"), want: beside},
		"a pattern from above":         {text: source("include: [/etc/**/x]"), want: beside},
		"a pattern elsewhere":          {text: source("include: [/var/log/**/*.csv]")},
		"a pattern that meets nothing": {text: source("include: [/etc/vector/x*]")},
		"a pattern of inputs":          {text: graph("", "inputs: ['*']")},
		"the folder":                   {text: source("path: /etc/vector/"), want: beside},
		"the path of a request":        {text: source("path: /")},
		"a folder above":               {text: source("excludes: [/etc]")},
		"a known variable":             {text: source("file: '${DIR}/vector/teams.csv'"), image: interpolating, as: func(c *Container) { c.set("DIR", "/etc") }, want: []string{table}},
		"a variable in a long text":    {text: source("file: '/etc/${LONG}/teams.csv'"), image: interpolating, as: func(c *Container) { c.set("LONG", "$$"+strings.Repeat("a", longestPath)) }},
		"an unknown folder":            {text: source("file: '${DIR}/teams.csv'"), image: interpolating, want: beside},
		"an unknown name":              {text: source("file: '/etc/vector/${TEAM}.csv'"), image: interpolating, want: beside},
		"an unknown word":              {text: source("password: '${PASSWORD}'"), image: interpolating},
		"a variable left as it is":     {text: source("file: '${DIR}/teams.csv'")},
		"an argument":                  {text: graph("", ok), as: func(c *Container) { c.Args = append(c.Args, texts("--config="+table+","+other)...) }, want: []string{other, table}},
		"a folder as an argument":      {text: graph("", ok), as: func(c *Container) { c.Args = append(c.Args, texts("--config-dir", "/etc/vector")...) }, want: beside},
		"a pattern as an argument":     {text: graph("", ok), as: func(c *Container) { c.Args = append(c.Args, texts("-c", "/etc/vector/*.yaml")...) }, want: beside},
		"a variable":                   {text: graph("", ok), as: func(c *Container) { c.set("SSL_CERT_FILE", crt) }, want: []string{crt}},
		"a hook":                       {text: graph("", ok), as: func(c *Container) { c.Commands = []string{"sh", "-c", "cat " + other + "; sleep 5"} }, want: []string{other}},
		"a file that cannot be read":   {text: "sources: [", want: beside},
		"a provider":                   {text: "provider: {type: http, url: 'http://config/'}\n", want: beside},
	} {
		t.Run(name, func(t *testing.T) {
			container := &Container{Env: map[string]vectorflags.Text{}, Mounts: []Mount{{Path: "/etc/vector", ReadOnly: true}, {Path: "/var/lib/vector"}}}
			if test.as != nil {
				test.as(container)
			}
			options := Options{Image: image, Container: container, OtherFiles: beside}
			if test.image != "" {
				options.Image = test.image
			}

			report := checked([]File{{Name: "vector.yaml", Text: test.text}}, options)

			require.ElementsMatch(t, test.want, report.UsedFiles)
		})
	}
}

// A configuration has two files. The files that each of them names are listed, also if the two contradict each other.
func TestFindUsedFiles_CombinesSeveralFiles(t *testing.T) {
	files := []File{
		{Name: "a.yaml", Text: "data_dir: /data\nsources: {a: {type: file, include: [/etc/vector/a]}}\n"},
		{Name: "b.toml", Text: "data_dir = \"/etc/vector/b\"\n"},
	}
	report := checked(files, Options{OtherFiles: []string{"/etc/vector/a", "/etc/vector/b", "/etc/vector/c"}})
	require.Equal(t, []string{"/etc/vector/a", "/etc/vector/b"}, report.UsedFiles)
}
