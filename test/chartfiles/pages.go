// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const pageLicense = `<!--
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
-->
`

// fromChart and fromSidecarChart name the source of a page.
const (
	fromChart        = "<!-- Generated from chart/values.yaml: make manifests writes it. -->\n\n"
	fromSidecarChart = "<!-- Generated from values.yaml: make manifests writes it. -->\n\n"
)

// valuesHeader precedes the table on docs/reference/values.md.
const valuesHeader = pageLicense + fromChart + `# Values of the installation

Keys for ` + "`helm install … ./chart`" + `. The keys of a sidecar, under ` + "`sidecar`" + `, are in [Values of a sidecar](sidecar-values.md). A key that
is not here is rejected.

`

// sidecarHeader precedes the table on docs/reference/sidecar-values.md.
const sidecarHeader = pageLicense + fromSidecarChart + `# Values of a sidecar

Find each key of a sidecar, its default and its meaning. The keys are those of ` + "`spec.sidecar`" + ` of a VectorSidecar, of values files for environments, and of
the [values of the installation](values.md). [Environments](../how-to/sidecar/environments.md) describes the layers of values: the defaults here are the
first one, and the files in ` + "`values/`" + ` override some of them.

`

// setByOperator are the keys of the sidecar chart that no user sets.
var setByOperator = []string{"environment", "templateSet", "cluster", "target"}

// readmeHeader precedes the table in the chart's README, which is read without the repository:
// its links are absolute, and its commands need only the unpacked chart.
const readmeHeader = pageLicense + fromChart + `# Vector Sidecar Operator

This chart installs the Vector Sidecar Operator, which adds [Vector](https://vector.dev) as a sidecar to existing workloads: select Deployments by label,
and their manifests do not change. The [repository](https://github.com/kontroloop-ai/vector-sidecar-operator) has the documentation.

## Install

You need Kubernetes 1.25 or later, and Helm 3 or Helm 4. The package of the chart contains a values file for each environment: ` + "`values/development.yaml`" + `,
` + "`values/staging.yaml` and `values/production.yaml`" + `.

` + "```sh" + `
helm install vso ./vector-sidecar-operator -n vector-system --create-namespace -f vector-sidecar-operator/values/production.yaml
helm test vso -n vector-system
` + "```" + `

The notes of the release show a first VectorSidecar.

## Upgrade and uninstall

` + "```sh" + `
helm upgrade vso ./vector-sidecar-operator -n vector-system -f vector-sidecar-operator/values/production.yaml
helm uninstall vso -n vector-system
` + "```" + `

An upgrade also updates the CustomResourceDefinitions, and changes no workload. ` + "`uninstall.policy`" + ` decides about the VectorSidecars and their sidecars.

## Values

The keys of a sidecar, under ` + "`sidecar`" + `, are in
[Values of a sidecar](https://github.com/kontroloop-ai/vector-sidecar-operator/blob/main/docs/reference/sidecar-values.md). A key that is not here is rejected.

`

// valuesTable returns a row for each key of values.yaml, except some on the first level. Its comment or the schema
// explains the key. A key that has further keys of the chart's own has a row only if it has a comment.
func valuesTable(values, schema []byte, omitted ...string) (string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(values, &document); err != nil {
		return "", err
	}
	var properties struct {
		Properties node `json:"properties"`
	}
	if err := json.Unmarshal(schema, &properties); err != nil {
		return "", err
	}
	var table strings.Builder
	table.WriteString("| Key | Default | Meaning |\n|---|---|---|\n")
	err := writeRows(&table, document.Content[0], "", properties.Properties, omitted...)
	return table.String(), err
}

func writeRows(table *strings.Builder, values *yaml.Node, prefix string, properties node, omitted ...string) error {
	for i := 0; i+1 < len(values.Content); i += 2 {
		key, value := values.Content[i], values.Content[i+1]
		if slices.Contains(omitted, key.Value) {
			continue
		}
		schema, ok := properties[key.Value].(node)
		if !ok {
			return fmt.Errorf("%s%s is not in the schema", prefix, key.Value)
		}
		comment := lastParagraph(key.HeadComment)
		if below, ok := schema["properties"].(node); ok {
			if comment != "" {
				fmt.Fprintf(table, "| `%s%s` | | %s |\n", prefix, key.Value, comment)
			}
			if err := writeRows(table, value, prefix+key.Value+".", below); err != nil {
				return err
			}
			continue
		}
		var decoded any
		if err := value.Decode(&decoded); err != nil {
			return err
		}
		byDefault, err := json.Marshal(decoded)
		if err != nil {
			return err
		}
		if comment == "" {
			comment, _ = schema["description"].(string)
		}
		fmt.Fprintf(table, "| `%s%s` | `%s` | %s |\n", prefix, key.Value, byDefault, comment)
	}
	return nil
}

// lastParagraph returns the last paragraph of a comment on one line: paragraphs before it are about
// several keys. An example of several lines after the last sentence is left out.
func lastParagraph(comment string) string {
	paragraphs := strings.Split(comment, "\n\n")
	var words []string
	for line := range strings.SplitSeq(paragraphs[len(paragraphs)-1], "\n") {
		if strings.HasPrefix(line, "#   ") && len(words) > 0 && strings.HasSuffix(words[len(words)-1], ".") {
			break
		}
		words = append(words, strings.TrimSpace(strings.TrimPrefix(line, "#")))
	}
	return strings.ReplaceAll(strings.Join(words, " "), "|", `\|`)
}
