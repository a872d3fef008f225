package template_test

import (
	"kontroloop.ai/vector-sidecar-operator/internal/template"
	"testing"
)

func TestZZ(t *testing.T) {
	for _, c := range []string{
		`{{ $x := fromToml (printf "a%s = 1" (repeat 20000 ".a")) }}`,
		`{{ $x := fromToml (printf "[a%s]\nb=1" (repeat 20000 ".a")) }}`,
		`{{ $x := fromToml (repeat 200 (printf "[[a%s]]\nb=1\n" (repeat 100 ".a"))) }}`,
		`{{ $x := fromToml (printf "a = %s%s" (repeat 9000 "[") (repeat 9000 "]")) }}`,
		`{{ $x := fromYaml (repeat 9000 "a:\n") }}`,
		`{{ $x := fromYamlArray (repeat 9000 "- ") }}`,
		`{{ $x := fromYamlArray (print (repeat 9000 "[") (repeat 9000 "]")) }}`,
		`{{ $x := fromYaml (print (repeat 9000 "{a: ") (repeat 9000 "}")) }}`,
		`{{ $x := fromYaml (printf "a: \"%s\"" (repeat 900000 "\\n")) }}`,
		`{{ $x := fromYaml (printf "a: |\n%s" (repeat 40000 " x\n")) }}`,
		`{{ $x := fromYaml (repeat 20000 "? a\n") }}`,
		`{{ $x := fromYaml (repeat 20000 "# a\n") }}`,
		`{{ $x := fromYaml (printf "a: %s" (repeat 1000000 " ")) }}`,
		`{{ $x := fromYaml (printf "%s: 1" (repeat 1000000 "a")) }}`,
		`{{ $x := fromYamlArray (printf "[%s]" (repeat 1000000 "a ")) }}`,
		`{{ $x := fromYamlArray (repeat 20000 "!a ") }}`,
		`{{ $x := fromYamlArray (repeat 200000 "&a ") }}`,
		`{{ $x := mustFromJson (print (repeat 9000 "[") (repeat 9000 "]")) }}`,
		`{{ $x := mustFromJson (printf "%se5" (repeat 900000 "9")) }}`,
		`{{ $x := fromYaml (printf "a: %s" (repeat 900000 "9")) }}`,
		`{{ $x := fromToml (printf "a = %s" (repeat 900000 "9")) }}`,
		`{{ $x := fromToml (printf "a = \"\"\"%s\"\"\"" (repeat 30000 "x\n")) }}`,
		`{{ $x := snakecase (repeat 1000000 "aB") }}`, `{{ $x := camelcase (repeat 1000000 "_a") }}`,
		`{{ $x := wrap 1 (repeat 1000000 "a ") }}`, `{{ $x := title (repeat 1000000 "a ") }}`, `{{ $x := nospace (repeat 1000000 "a ") }}`, `{{ $x := initials (repeat 1000000 "a ") }}`,
		`{{ $x := swapcase (repeat 1000000 "a ") }}`, `{{ $x := abbrevboth 5 900000 (repeat 1000000 "a ") }}`, `{{ $x := kebabcase (repeat 1000000 "A") }}`,
		`{{ $x := urlParse (repeat 1000000 "%41") }}`, `{{ $x := clean (repeat 500000 "a/../") }}`, `{{ $x := trimAll (repeat 500000 "ab") (repeat 500000 "cb") }}`,
		`{{ $x := semverCompare (repeat 2000 "1|") "1.0.0" }}`, `{{ $x := semverCompare (repeat 500 ">1,") "1.0.0" }}`,
		`{{ $x := regexMatch "(((a*)*)*)*(b|c|d|e)*$" (repeat 300000 "a") }}`, `{{ $x := regexFind "(?i)[\\pL]{900}x" (repeat 10000 "a") }}`,
		`{{ $x := tpl (repeat 30000 "{{1}}") . }}`, `{{ $x := tpl (repeat 10000 "{{if 1}}") . }}`, `{{ $x := tpl (printf "{{ %s }}" (repeat 9000 "(")) . }}`, `{{ $x := tpl (printf "{{ %s1%s }}" (repeat 9000 "(") (repeat 9000 ")")) . }}`,
		`{{ $x := tpl (printf "%s1%s" (repeat 9000 "{{if 1}}") (repeat 9000 "{{end}}")) . }}`,
		`{{ range 3000 }}{{ $x := tpl (printf "{{define \"a%d\"}}x{{end}}{{template \"a%d\"}}" . .) $ }}{{ end }}`,
		`{{ $x := tpl (printf "{{ \"%s" (repeat 900000 "x")) . }}`,
		`{{ range 400 }}{{ $x := regexMatch (printf "\\pL{200}%d" .) "x" }}{{ end }}`,
		`{{ range 99999 }}{{ $x := (list . | first | add 1 | int64 | toString | upper) }}{{ end }}`,
		`{{ $s := repeat 100000 "x" }}{{ range 99999 }}{{ $x := contains "y" $s }}{{ end }}`,
		`{{ $s := repeat 2000000 "x" }}{{ range 99999 }}{{ $x := eq $s (print $s) }}{{ end }}`,
		`{{ $s := repeat 2000000 "x" }}{{ $r := repeat 2000000 "x" }}{{ range 99999 }}{{ $x := eq $s $r }}{{ end }}`,
		`{{ $s := until 40000 }}{{ range 99999 }}{{ $x := has 40001 $s }}{{ end }}`,
		`{{ $d := dict }}{{ range $i := until 40000 }}{{ $_ := set $d (toString $i) 1 }}{{ end }}{{ range 99999 }}{{ range $d }}{{break}}{{ end }}{{ end }}`,
	} {
		set, err := compileOne(c, template.Budget{})
		if err != nil {
			t.Error(c, err)
			continue
		}
		t.Log(c)
		measured(t, set, "one/templates/a.yaml", nil)
	}
}
