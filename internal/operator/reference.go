// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"flag"
	"fmt"
	"strings"
)

// flagReference returns the text of docs/reference/flags.md.
func flagReference() string {
	var b strings.Builder
	b.WriteString(`<!--
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
-->
<!-- Generated from internal/operator: go test ./internal/operator -update writes it. -->

# Flags of the operator

A flag that is not set takes its value from its environment variable, else from its key in the ` + "`--config`" + ` file, else it has its default.

| Flag | Variable | Default | Meaning |
|---|---|---|---|
`)
	flags := flag.NewFlagSet("operator", flag.ContinueOnError)
	(&Options{}).declareFlags(flags)
	flags.VisitAll(func(f *flag.Flag) {
		fmt.Fprintf(&b, "| `--%s` | %s | %s | %s |\n", f.Name, quoteCode(variables[f.Name]), quoteCode(f.DefValue), f.Usage)
	})
	b.WriteString(`
The file is YAML: ` + "`concurrency: 16`" + `, ` + "`watch-namespaces: [shop, warehouse]`" + `. The operator reads it again when it changes. A new ` + "`log-level`" + `
takes effect at once; for any other key the operator logs that it must be restarted. A file with an error is not
used at all: at startup the operator exits and names the file and the key, later it keeps the previous values and logs the error.

Tracing and error reports have environment variables instead of flags: see [observability](../how-to/operate/observability.md).
`)
	return b.String()
}

// quoteCode returns a text as Markdown code, or "" for "".
func quoteCode(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
