// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/hostile"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// evil contains everything by which a text can affect a terminal or a log.
const evil = "\x1b]8;;http://evil\a\x1b[2Jnothing\r\b\u202e\u2028\u009b1m\x7f\n::error::owned\nx ##[error]y ##vso[z]"

// quoted is evil as YAML, JSON and Go quote it.
var quoted = strconv.QuoteToASCII(evil)

// shows runs the plugin and requires that its output has no control sequences.
func shows(t *testing.T, arguments ...string) string {
	t.Helper()
	var out, rest bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader("# \u202e comment\nkind: Unknown\napiVersion: v1\nmetadata: {name: x}\n"), Out: &out, ErrOut: &rest}
	cli.Run(t.Context(), arguments, streams, builtin, "test")
	hostile.RequireHarmless(t, out.String(), strings.Join(arguments, " "))
	hostile.RequireHarmless(t, rest.String(), strings.Join(arguments, " "))
	if at := slices.Index(arguments, "-o"); at >= 0 && out.Len() > 0 && arguments[at+1] == "json" {
		require.True(t, json.Valid(out.Bytes()), "%s: %s", arguments, out.String())
	}
	return out.String() + rest.String()
}

// isReached reports whether the output contains an escaped control character of evil.
func isReached(shown string) bool {
	return strings.Contains(shown, "x1b") || strings.Contains(shown, "u001b") || strings.Contains(shown, "u202e") || strings.Contains(shown, "x202E") || strings.Contains(shown, "\ufffd")
}

// scene is a folder of files, one of which contains evil.
type scene map[string]string

func (s scene) in(t *testing.T) func(...string) []string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range s {
		file := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return func(arguments ...string) []string {
		for i := range arguments {
			arguments[i] = strings.ReplaceAll(arguments[i], "@", folder+"/")
		}
		return arguments
	}
}

const (
	workload = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: NAME, namespace: shop, labels: {logs: vector, team: TEAM}, annotations: {NOTE: TEAM}}\n" +
		"spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: app, image: IMAGE}]}}}\n"
	selecting = "apiVersion: observability.kontroloop.ai/v1alpha1\nkind: VectorSidecar\nmetadata: {name: logs, namespace: shop}\nspec: {selector: {matchLabels: {logs: vector}}, SPEC}\n"
)

// write fills a file template of a scene.
func write(template string, pairs ...string) string {
	standard := []string{"NAME", "cart", "TEAM", "a", "NOTE", "note", "IMAGE", "a:1"}
	if !slices.Contains(pairs, "SPEC") {
		standard = append(standard, ", SPEC", "")
	}
	return strings.NewReplacer(append(pairs, standard...)...).Replace(template)
}

// own returns the built-in chart with another template.
func own(t *testing.T, name, text string) scene {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, vectorsidecar.FS))
	files := scene{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files["chart/"+strings.TrimPrefix(path, folder+"/")] = string(content)
		return err
	}))
	files["chart/"+name] = text
	return files
}

func scenes(t *testing.T) map[string]scene {
	t.Helper()
	failing := own(t, "templates/configmap.yaml", "{{ fail "+quoted+" }}")
	named := own(t, "templates/a"+strings.ReplaceAll(evil, "/", "")[:40]+".yaml", "{{ nothing }}")
	described := own(t, "values.schema.json", `{"type": "object", "properties": {"a": {"description": `+strings.ReplaceAll(strings.ReplaceAll(quoted, `\x`, `\u00`), `\a`, `\u0007`)+"}}, \"x\": \"\u202e\u007f\"}")
	for _, chart := range []scene{failing, named, described} {
		chart["workload.yaml"], chart["sidecar.yaml"] = write(workload), write(selecting)
	}
	story := "# " + strings.NewReplacer("\n", "\n# ").Replace(evil) + "\n-- workload.yaml --\n" + write(workload) + "-- vectorsidecar.yaml --\n" + write(selecting) + "-- want.yaml --\n" + evil + "\n"
	return map[string]scene{
		"a name":               {"workload.yaml": write(workload, "NAME", quoted), "sidecar.yaml": write(selecting)},
		"an image":             {"workload.yaml": write(workload, "IMAGE", quoted), "sidecar.yaml": write(selecting)},
		"an opt-out":           {"workload.yaml": write(workload, "NOTE", meta.AnnotationInject, "TEAM", quoted), "sidecar.yaml": write(selecting)},
		"a label":              {"workload.yaml": write(workload, "TEAM", quoted), "sidecar.yaml": write(selecting, "logs: vector", "team: b")},
		"a selector":           {"workload.yaml": write(workload), "sidecar.yaml": write(selecting, "logs: vector", "logs: "+quoted)},
		"an environment":       {"workload.yaml": write(workload), "sidecar.yaml": write(selecting, "SPEC", "environment: "+quoted)},
		"a variable":           {"workload.yaml": write(workload), "sidecar.yaml": write(selecting, "SPEC", "sidecar: {env: [{name: A, value: "+quoted+"}]}")},
		"a key of values":      {"workload.yaml": write(workload), "sidecar.yaml": write(selecting), "values.yaml": quoted + ": 1\n"},
		"an id of a component": {"workload.yaml": write(workload), "sidecar.yaml": write(selecting, "SPEC", "sidecar: {config: {inline: "+strconv.QuoteToASCII("sources:\n  "+quoted+": {type: stdin}\nsinks:\n  out: {type: "+quoted+", inputs: ["+quoted+"]}\n")+"}}")},
		"raw configuration":    {"workload.yaml": write(workload), "sidecar.yaml": write(selecting, "SPEC", "sidecar: {config: {check: \"Off\", raw: {sources: {"+quoted+": {type: stdin}}}}}")},
		"a template's words":   failing,
		"a template's name":    named,
		"a schema":             described,
		"a comment":            {"workload.yaml": "# \u202e \u2066\n" + write(workload), "sidecar.yaml": write(selecting)},
		"a name of a file":     {"::error file=x::\u202e\x1b[2J.yaml": "a: [", "workload.yaml": write(workload), "sidecar.yaml": write(selecting)},
		"a field":              {"workload.yaml": write(workload), "sidecar.yaml": write(selecting, "SPEC", quoted+": 1")},
		"a test":               {"workload.yaml": write(workload), "sidecar.yaml": write(selecting), "story.txtar": story},
		"a test's name":        {"workload.yaml": write(workload), "sidecar.yaml": write(selecting), "a\x1b[2J\u202e\n::error::b.txtar": story},
		"a test's base":        {"workload.yaml": write(workload), "sidecar.yaml": write(selecting), "story.txtar": "base: " + evil},
		"a test's difference":  {"workload.yaml": write(workload), "sidecar.yaml": write(selecting), "a.txtar": story, "b.txtar": "base: a.txtar\n-- workload.diff --\n-" + evil},
	}
}

// commands returns the ways to run each command on a scene; @ stands for its folder.
func commands(on scene) [][]string {
	from := []string{"-f", "@workload.yaml", "--sidecar", "@sidecar.yaml"}
	if on["values.yaml"] != "" {
		from = append(from, "--values", "@values.yaml")
	}
	if on["chart/Chart.yaml"] != "" {
		from = append(from, "--templates", "@chart")
	}
	var all [][]string
	for _, begin := range [][]string{
		{"render"}, {"render", "-o", "json"}, {"render", "--only-overlay"}, {"render", "--explain-values"}, {"render", "--explain-values", "-o", "json"},
		{"render", "--explain-values", "-o", "yaml"}, {"diff"}, {"plan"}, {"plan", "-o", "wide"}, {"plan", "-o", "json"}, {"plan", "-o", "yaml"},
		{"explain", "cart"}, {"explain", "cart", "-o", "wide"}, {"explain", "cart", "-o", "json"}, {"explain", "cart", "-o", "yaml"}, {"explain", evil},
		{"tree"}, {"tree", "-o", "json"}, {"tree", "-o", "yaml"}, {"inject"}, {"validate", "--vector", "false"}, {"validate", "--vector", "@" + evil},
	} {
		all = append(all, slices.Concat(begin, from))
	}
	return append(all, [][]string{
		{"inject", "-f", "-", "--sidecar", "@sidecar.yaml"}, {"inject", "-f", "@" + evil, "--sidecar", "@sidecar.yaml"},
		{"eject", "-f", "@workload.yaml"}, {"eject", "-f", "-"},
		{"lint", "@"}, {"lint", "@", "-o", "json"}, {"lint", "@", "-o", "junit"}, {"lint", "@", "-o", "sarif"}, {"lint", "-"}, {"lint", "@" + evil},
		{"test", "@"}, {"test", "@", "-o", "json"}, {"test", "@", "-o", "junit"}, {"test", "@", "--templates", "@chart"},
		{"schema", "--templates", "@chart"}, {"docs", evil}, {"docs", "values"}, {"docs", "reasons"}, {"docs", "cli"}, {"version"}, {"version", "-o", "json"}, {"version", "-o", evil},
		{"completion", "bash"}, {"completion", evil}, {"get", "-l", evil}, {"reconcile", evil, "--kubeconfig", "@" + evil}, {"get", "--kubeconfig", "@" + evil}, {"check", "--kubeconfig", "@" + evil},
		{"rollout", "status", "--kubeconfig", "@" + evil}, {"rollout", "promote", evil, "--kubeconfig", "@" + evil}, {"rollout", "retry", "--operator-namespace", evil, "--kubeconfig", "@" + evil}, {evil}, {"render", "--" + evil},
		{"rollout", "history", "--kubeconfig", "@" + evil}, {"rollout", "diff", evil, "--kubeconfig", "@" + evil}, {"rollout", "undo", "--to-revision", evil, "--kubeconfig", "@" + evil}, {"rollout", "undo", evil, "--kubeconfig", "@" + evil}, {"rollout", "promote", "vectorsidecar/" + evil, "--kubeconfig", "@" + evil},
		{"rollout", "pause", evil, "--kubeconfig", "@" + evil}, {"rollout", "resume", evil, "--kubeconfig", "@" + evil},
	}...)
}

// Files contain control characters in names, texts, templates and comments. The output of the plugin has them escaped.
func TestCLI_EscapesControlCharactersOfFiles(t *testing.T) {
	t.Parallel()
	for name, files := range scenes(t) {
		t.Run(name, func(t *testing.T) {
			at := files.in(t)
			reached := 0
			for _, command := range commands(files) {
				if isReached(shows(t, at(slices.Clone(command)...)...)) && !isEvil(command) {
					reached++
				}
			}
			require.Positive(t, reached, "no command shows it, so that this says nothing")
		})
	}
}

// isEvil reports whether a command has evil in its arguments or on its standard input.
func isEvil(command []string) bool {
	return slices.ContainsFunc(command, func(argument string) bool { return argument == "-" || strings.Contains(argument, evil) })
}

// Each command of the plugin is in the test with hostile files, also a new one.
func TestCLI_TestsEveryCommandWithHostileFiles(t *testing.T) {
	t.Parallel()
	var tried []string
	for _, command := range commands(nil) {
		tried = append(tried, command[0])
	}
	for _, command := range cli.New(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}, builtin, "test").Commands() {
		require.Contains(t, tried, command.Name())
	}
}

// Programs decode the same content from the escaped output.
func TestRender_KeepsContentDespiteEscaping(t *testing.T) {
	t.Parallel()
	const some = "\x1b]8;;x\a\r\u202e\u2028\n::error::owned ##[error]" // Templates print no others.
	variable := strconv.QuoteToASCII(some)
	files := scene{"workload.yaml": write(workload), "sidecar.yaml": write(selecting, "SPEC", "sidecar: {env: [{name: A, value: "+variable+"}]}")}.in(t)
	var deployment appsv1.Deployment
	rendered := shows(t, files("render", "-f", "@workload.yaml", "--sidecar", "@sidecar.yaml")...)
	_, text, found := strings.Cut(rendered, "---\napiVersion: apps/v1\n")
	require.True(t, found, rendered)
	require.NoError(t, yaml.Unmarshal([]byte(text), &deployment))
	env := deployment.Spec.Template.Spec.InitContainers[0].Env
	require.Equal(t, corev1.EnvVar{Name: "A", Value: some}, env[len(env)-1])
}

// The plugin escapes control characters of objects in a cluster: annotations, labels, a status.
func testNoObjectSteersWhoSeesWhatIsPrinted(t *testing.T, plane *controlplane.ControlPlane, world *harness.World) {
	namespace := world.Namespace(t)
	opted := objects.NewDeployment("opted", namespace).Labeled("logs", "vector").Annotated(meta.AnnotationInject, "false "+evil).WithReplicas(0).Build()
	plainly := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithReplicas(0).Build()
	told := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithEnv("A", evil).Build()
	world.Create(t, opted, plainly, told)
	told.Status = v1alpha1.VectorSidecarStatus{Environment: evil, ObservedGeneration: told.Generation, Conditions: []metav1.Condition{{
		Type: meta.ConditionReady, Status: metav1.ConditionFalse, Reason: meta.ReasonInvalidConfig, Message: evil, LastTransitionTime: metav1.Now(), ObservedGeneration: told.Generation,
	}}}
	require.NoError(t, world.Client.Status().Update(t.Context(), told))
	kubeconfig := []string{"--kubeconfig", plane.Kubeconfig(), "-n", namespace}
	for _, command := range [][]string{
		{"get"}, {"get", "-o", "wide"}, {"get", "-o", "json"}, {"get", "-o", "yaml"}, {"get", "-o", "name"}, {"tree"}, {"tree", "-o", "json"},
		{"plan", "-o", "wide"}, {"explain", "opted"}, {"explain", "cart", "-o", "wide"}, {"render", "cart"}, {"render", "opted"}, {"diff"}, {"eject", "--dry-run"}, {"eject"},
		{"reconcile", "logs", "--timeout", "1s"},
		{"check"}, {"check", "-o", "json"}, {"check", "-o", "yaml"},
	} {
		arguments := slices.Concat(command, kubeconfig)
		if command[0] == "check" {
			arguments = slices.Concat(command, kubeconfig[:2])
		}
		shown := shows(t, arguments...)
		if command[0] == "get" && slices.Contains(command, "json") || command[0] == "explain" && command[1] == "opted" {
			require.True(t, isReached(shown), "%s: %s", command, shown)
		}
	}
	harness.Until(t, world, told, "its status, as it was", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Environment == evil })
	require.NoError(t, client.IgnoreNotFound(world.Client.Delete(t.Context(), told)))
}
