// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readers lists the packages that parse texts or follow references, by the names of their functions that do.
var readers = map[string]*regexp.Regexp{
	"encoding/json":                                     reads,
	"sigs.k8s.io/json":                                  reads,
	"k8s.io/apimachinery/pkg/util/json":                 reads,
	"k8s.io/apimachinery/pkg/util/yaml":                 reads,
	"sigs.k8s.io/yaml":                                  reads,
	"sigs.k8s.io/yaml/goyaml.v2":                        reads,
	"sigs.k8s.io/yaml/goyaml.v3":                        reads,
	"go.yaml.in/yaml/v3":                                reads,
	"github.com/BurntSushi/toml":                        reads,
	"github.com/pelletier/go-toml/v2":                   reads,
	"github.com/santhosh-tekuri/jsonschema/v6":          reads,
	"helm.sh/helm/v3/pkg/chart/loader":                  reads,
	"archive/tar":                                       reads,
	"archive/zip":                                       reads,
	"compress/gzip":                                     reads,
	"os":                                                regexp.MustCompile(`^DirFS$`),
	"github.com/pelletier/go-toml/v2/unstable":          regexp.MustCompile(`^Parser$`),
	"k8s.io/apimachinery/pkg/runtime/serializer":        reads,
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured": regexp.MustCompile(`^UnstructuredJSONScheme$`),
}

var reads = regexp.MustCompile(`^(Unmarshal\w*|Decode|DecodeFile|DecodeFS|DecodeReader|New(YAMLOrJSON|YAMLToJSON|Stream|)Decoder\w*|YAMLToJSON\w*|ToJSON|NewCompiler|MustCompile|NewReader|OpenReader|Load\w*|Parse\w*)$`)

// behindTheDoor lists the uses outside package bounded, and why they are allowed.
var behindTheDoor = map[string]string{
	"internal/overlayset/definition.go: json.Unmarshal":           "the API server's own document of definitions that administrators install, of so many bytes",
	"internal/plan/inputs.go: json.Unmarshal":                     "a kilobyte at most, which is looked at before",
	"internal/admission/certificate_state.go: json.NewDecoder":    "what the chart wrote into its own configuration of the webhook",
	"internal/cli/objects.go: json.Unmarshal":                     "what was written a line before",
	"internal/humanize/escape_data.go: yaml.NewDecoder":           "what the program itself prints, a line before it does",
	"internal/plan/patch.go: json.Unmarshal":                      "what was written by a merge of ours",
	"internal/fleet/rules.go: json.Unmarshal":                     "what was written of a layer that came through the door",
	"internal/policy/policy.go: json.Unmarshal":                   "what was written of a layer that came through the door, and of our defaults",
	"internal/workload/overlay.go: json.Unmarshal":                "what was written of an overlay that came through the door",
	"internal/workload/overlayredirect.go: json.Unmarshal":        "the same",
	"internal/render/chart.go: loader.LoadFiles":                  "what Helm reads itself is measured before",
	"internal/render/chartfiles.go: zip.NewReader":                "what was packed a few lines before",
	"internal/draingate/source.go: json.Unmarshal":                "an argument of a program that stands alone",
	"internal/draingate/checkpoints.go: json.Unmarshal":           "so many bytes of what Vector wrote, of the same program",
	"internal/vectorlint/config/reader.go: unstable.Parser":       "a parameter: the caller passes the door's",
	"internal/vectorlint/config/toml.go: unstable.Parser":         "the door hands it out",
	"internal/workload/managers.go: json.Unmarshal":               "the API server's own words on managed fields",
	"internal/workload/extract.go: json.Unmarshal":                "the same",
	"internal/meta/fieldwrite.go: json.Unmarshal":                 "the same",
	"internal/workload/trim.go: json.Unmarshal":                   "the same",
	"internal/workload/argorollout_object.go: utiljson.Unmarshal": "an object of the API server, or of a file that came through the door",
}

// Text of users and clusters is parsed only with package bounded, which limits the cost before it parses.
func TestArch_ParsesForeignTextWithinLimits(t *testing.T) {
	found := map[string]bool{}
	files(t, func(file string, text []byte) {
		isProduct := strings.HasPrefix(file, "internal/") || strings.HasPrefix(file, "cmd/")
		if !isProduct || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "internal/bounded/") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		names := map[string]*regexp.Regexp{}
		for _, imported := range parsed.Imports {
			of, err := strconv.Unquote(imported.Path.Value)
			require.NoError(t, err)
			if used := readers[of]; used != nil {
				names[nameOf(imported, of)] = used
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			selected, is := n.(*ast.SelectorExpr)
			if !is {
				return true
			}
			if of, is := selected.X.(*ast.Ident); is && names[of.Name] != nil && names[of.Name].MatchString(selected.Sel.Name) {
				found[fmt.Sprintf("%s: %s.%s", file, of.Name, selected.Sel.Name)] = true
			}
			return true
		})
	})
	require.Equal(t, slices.Sorted(maps.Keys(behindTheDoor)), slices.Sorted(maps.Keys(found)), "have package bounded read it, or say why nobody else wrote it")
}

// nameOf returns the name by which a file imports a package.
func nameOf(imported *ast.ImportSpec, of string) string {
	if imported.Name != nil {
		return imported.Name.Name
	}
	if base := path.Base(of); !regexp.MustCompile(`^v\d+$`).MatchString(base) {
		return base
	}
	return strings.TrimPrefix(path.Base(path.Dir(of)), "go-")
}
