// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"flag"
	"fmt"
	"strings"
)

// Reference is the text of docs/flags.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(`<!--
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
-->
<!-- Made from internal/operator: go test ./internal/operator -update writes it. -->

# Flags of the operator

A flag that is not given takes the value of its variable, else that of its name in the file of ` + "`--config`" + `, else the default.

| Flag | Variable | Default | Meaning |
|---|---|---|---|
`)
	flags := flag.NewFlagSet("operator", flag.ContinueOnError)
	(&Options{}).declare(flags)
	flags.VisitAll(func(f *flag.Flag) {
		fmt.Fprintf(&b, "| `--%s` | %s | %s | %s |\n", f.Name, quoted(variables[f.Name]), quoted(f.DefValue), f.Usage)
	})
	b.WriteString(`
The file is YAML: ` + "`concurrency: 8`" + `, ` + "`watch-namespaces: [shop, warehouse]`" + `. The operator reads it again when it changes. A new ` + "`log-level`" + `
takes effect at once; for another key the operator says in its log that it has to be started anew. Of a file with a mistake nothing is
used: at the start the operator ends with the file and the key, later it keeps what it has and says so.

Tracing and error reports have no flags, but their own variables: see [observability](observability.md).
`)
	return b.String()
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
