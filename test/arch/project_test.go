// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// project is kubebuilder's description of a repository.
type project struct {
	Domain      string            `json:"domain"`
	Layout      []string          `json:"layout"`
	ProjectName string            `json:"projectName"`
	Repo        string            `json:"repo"`
	Resources   []projectResource `json:"resources"`
	Version     string            `json:"version"`
}

// projectResource describes a kind of the API.
type projectResource struct {
	API        projectAPI       `json:"api"`
	Controller bool             `json:"controller,omitempty"`
	Domain     string           `json:"domain"`
	Group      string           `json:"group"`
	Kind       string           `json:"kind"`
	Path       string           `json:"path"`
	Version    string           `json:"version"`
	Webhooks   *projectWebhooks `json:"webhooks,omitempty"`
}

type projectAPI struct {
	CRDVersion string `json:"crdVersion"`
	Namespaced bool   `json:"namespaced,omitempty"`
}

type projectWebhooks struct {
	Validation     bool   `json:"validation,omitempty"`
	WebhookVersion string `json:"webhookVersion"`
}

// The file PROJECT lists the registered API kinds with their files, the controllers and the webhooks, in the layout of
// kubebuilder.
func TestArch_DescribesRepositoryInPROJECT(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "PROJECT"))
	require.NoError(t, err)
	var recorded project
	require.NoError(t, yaml.UnmarshalStrict(text, &recorded))

	group, domain, _ := strings.Cut(v1alpha1.GroupVersion.Group, ".")
	expected := project{
		Domain: domain, Layout: []string{"go.kubebuilder.io/v4"}, ProjectName: meta.Operator, Repo: module, Version: "3",
	}
	controllers := controllerFiles(t)
	for _, kind := range registeredKinds(t) {
		file := strings.ToLower(kind)
		declaration := projectText(t, "api", v1alpha1.GroupVersion.Version, file+"_types.go")
		require.Contains(t, declaration, "\ntype "+kind+" struct {\n")
		resource := projectResource{
			API:        projectAPI{CRDVersion: "v1", Namespaced: !strings.Contains(declaration, "+kubebuilder:resource:scope=Cluster")},
			Controller: slices.Contains(controllers, file+"_controller.go"),
			Domain:     domain, Group: group, Kind: kind, Version: v1alpha1.GroupVersion.Version,
			Path: path.Join(module, "api", v1alpha1.GroupVersion.Version),
		}
		if strings.Contains(projectText(t, "chart", "templates", "_webhook.tpl"), "resources: ["+file+"s]") {
			resource.Webhooks = &projectWebhooks{Validation: true, WebhookVersion: "v1"}
		}
		expected.Resources = append(expected.Resources, resource)
	}
	byKind := func(a, b projectResource) int { return strings.Compare(a.Kind, b.Kind) }
	slices.SortFunc(recorded.Resources, byKind)
	slices.SortFunc(expected.Resources, byKind)
	require.Equal(t, expected, recorded, "PROJECT differs from the repository")
	require.Equal(t, []string{"cmd/operator"}, programsOf(t, "internal/controller/sidecar"), "the operator is the only program with the controllers")
}

// registeredKinds returns the kinds that api/ adds to a scheme, without their lists.
func registeredKinds(t *testing.T) []string {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	var kinds []string
	for kind, goType := range scheme.KnownTypes(v1alpha1.GroupVersion) {
		if goType.PkgPath() == reflect.TypeFor[v1alpha1.VectorSidecar]().PkgPath() && !strings.HasSuffix(kind, "List") {
			kinds = append(kinds, kind)
		}
	}
	require.NotEmpty(t, kinds)
	return kinds
}

// controllerFiles returns the names of the files KIND_controller.go. Each declares a reconciler with SetupWithManager.
func controllerFiles(t *testing.T) []string {
	t.Helper()
	var names []string
	setup := regexp.MustCompile(`(?m)^func \(r \*(\w+)Reconciler\) SetupWithManager\(`)
	err := filepath.WalkDir(filepath.Join(root, "internal", "controller"), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_controller.go") {
			return err
		}
		text, err := os.ReadFile(file)
		match := setup.FindSubmatch(text)
		require.NotNil(t, match, "%s has no reconciler with SetupWithManager", file)
		require.Equal(t, strings.ToLower(string(match[1]))+"_controller.go", entry.Name())
		require.Contains(t, string(text), "\ntype "+string(match[1])+"Reconciler struct {\n", file)
		names = append(names, entry.Name())
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, names)
	return names
}

// programsOf returns the folders of cmd/ whose programs import a package, directly or not.
func programsOf(t *testing.T, imported string) []string {
	t.Helper()
	all := packages(t)
	imports := map[string][]string{}
	for i := range all {
		imports[short(all[i].ImportPath)] = all[i].Imports
	}
	reached := map[string]bool{}
	var reaches func(name string) bool
	reaches = func(name string) bool {
		if isReached, ok := reached[name]; ok {
			return isReached
		}
		reached[name] = name == imported || slices.ContainsFunc(imports[name], func(next string) bool { return reaches(short(next)) })
		return reached[name]
	}
	var programs []string
	for i := range all {
		if name := short(all[i].ImportPath); strings.HasPrefix(name, "cmd/") && reaches(name) {
			programs = append(programs, name)
		}
	}
	return programs
}

func projectText(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{root}, elements...)...))
	require.NoError(t, err)
	return string(text)
}
