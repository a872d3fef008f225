// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"
	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// compileOne compiles a set of one file.
func compileOne(text string, budget gotemplate.Budget) (*gotemplate.Set, error) {
	return gotemplate.Compile(map[string]string{"one/templates/a.yaml": text}, gotemplate.Options{Budget: budget})
}

// findings unwraps a joined error.
func findings(t testing.TB, err error) []*gotemplate.Error {
	t.Helper()
	require.Error(t, err)
	all := []error{err}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		all = joined.Unwrap()
	}
	var found []*gotemplate.Error
	for _, one := range all {
		var located *gotemplate.Error
		require.ErrorAs(t, one, &located, "every finding is placed")
		found = append(found, located)
	}
	return found
}

// A function of Helm that is not available is an error when the set is loaded, with the reason.
func TestCompile_RejectsUnavailableFunctionsWithReason(t *testing.T) {
	for reason, names := range map[string]string{
		"clock":            "now ago date date_in_zone dateInZone htmlDate htmlDateInZone date_modify dateModify must_date_modify mustDateModify unixEpoch",
		"time zone":        "toDate mustToDate",
		"random":           "randAlpha randAlphaNum randAscii randNumeric randBytes randInt shuffle uuidv4 bcrypt htpasswd encryptAES",
		"key material":     "genPrivateKey genCA genCAWithKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey buildCustomCert derivePassword decryptAES",
		"network":          "getHostByName",
		"environment of":   "env expandenv",
		"cluster":          "lookup",
		"operating system": "osBase osDir osExt osClean osIsAbs",
		"a function value": "call",
	} {
		for name := range strings.FieldsSeq(names) {
			t.Run(name, func(t *testing.T) {
				_, err := compileOne(fmt.Sprintf("a: 1\nb: {{ if true }}{{ (list (%s \"x\")) | first }}{{ end }}\n", name), gotemplate.Budget{})
				found := findings(t, err)
				require.Len(t, found, 1)
				require.Equal(t, "one/templates/a.yaml", found[0].Template)
				require.Equal(t, 2, found[0].Line)
				require.Equal(t, 27, found[0].Column)
				require.Contains(t, found[0].Message, fmt.Sprintf("%q", name))
				require.Contains(t, found[0].Message, reason)
				require.NotEmpty(t, found[0].Hint)
				require.Contains(t, found[0].SourceLine, name)
			})
		}
	}
}

// The function tpl renders a text that is known only at run time. A function of Helm that is not available is also an
// error there.
func TestTplFunction_RejectsUnavailableFunctions(t *testing.T) {
	set, err := compileOne("a: 1\nb: {{ tpl .Values.text . }}", gotemplate.Budget{})
	require.NoError(t, err)
	_, err = set.Execute(t.Context(), "one/templates/a.yaml", values("text", "x\n{{ env \"HOME\" }}"))
	found := findings(t, err)
	require.Equal(t, 2, found[0].Line, "the call is what a reader can open")
	require.Contains(t, found[0].Message, `line 2, column 4: function "env"`)
}

// Each function of Helm is available, or rejected with a reason.
func TestNewFunctions_CoversEachHelmFunction(t *testing.T) {
	names := slices.Collect(maps.Keys(sprig.TxtFuncMap()))
	names = append(names, strings.Fields(`toToml fromToml toYaml toYamlPretty fromYaml fromYamlArray toJson fromJson fromJsonArray
		include tpl required lookup fail and or not call html index slice js len print printf println urlquery eq ne lt le gt ge`)...)
	for _, name := range names {
		_, err := compileOne("{{ "+name+" }}", gotemplate.Budget{})
		if err != nil {
			require.NotContains(t, err.Error(), "unknown function", name)
		}
	}
}

func TestUnknownFunction_SuggestsNearest(t *testing.T) {
	_, err := compileOne("{{ .Values.x | toYml }}\n{{ nindnt 2 \"\" }}", gotemplate.Budget{})
	found := findings(t, err)
	require.Len(t, found, 2, "all findings at once")
	require.Contains(t, found[0].Hint, `"toYaml"`)
	require.Contains(t, found[1].Hint, `"nindent"`)
}
