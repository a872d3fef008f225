// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// order is the pipeline: a package may import only the packages before it.
var order = []string{
	"internal/meta",
	"internal/tree",
	"internal/humanize",
	"internal/bounded",
	"internal/fairslots",
	"internal/serverclock",
	"internal/livelist",
	"internal/definition",
	"internal/vectorlint/vrl",
	"api/v1alpha1",
	"internal/declared",
	"internal/environment",
	"internal/fleet",
	"internal/lastgood",
	"internal/gotemplate",
	"internal/vectorlint/options",
	"internal/vectorlint/flags",
	"internal/vectorlint/config",
	"internal/workload",
	"internal/workloadcache",
	"internal/companion",
	"internal/policy",
	"internal/render",
	"internal/plan",
	"internal/preflight",
	"internal/desired",
	"internal/clusterwide",
	"internal/vectorprogram",
	"internal/decision",
	"internal/overlayset",
	"internal/source",
	"internal/status",
	"internal/simulate",
	"internal/telemetry",
	"internal/election",
	"internal/apply",
	"internal/removal",
	"internal/admission",
	"internal/controller/notify",
	"internal/controller/schedule",
	"internal/controller/shutdown",
	"internal/controller/events",
	"internal/controller/instrument",
	"internal/controller/fairqueue",
	"internal/controller/sidecarcache",
	"internal/controller/state",
	"internal/controller/podfaults",
	"internal/controller/companionuse",
	"internal/controller/overlayset",
	"internal/controller/finalizer",
	"internal/controller/declared",
	"internal/controller/leftovers",
	"internal/controller/catalog",
	"internal/controller/waves",
	"internal/controller/slots",
	"internal/controller/clustersidecar",
	"internal/controller/validation",
	"internal/controller/workloads",
	"internal/controller/sidecar",
	"internal/operator",
	"internal/lint",
	"internal/scenario",
	"internal/checkup",
	"internal/cli",
	"internal/draingate",
}

// pure packages take values and return values.
var pure = []string{
	"internal/meta",
	"internal/tree",
	"internal/humanize",
	"internal/bounded",
	"internal/definition",
	"internal/vectorlint/vrl",
	"internal/declared",
	"internal/environment",
	"internal/fleet",
	"internal/lastgood",
	"internal/gotemplate",
	"internal/vectorlint/options",
	"internal/vectorlint/flags",
	"internal/vectorlint/config",
	"internal/workload",
	"internal/workloadcache",
	"internal/companion",
	"internal/policy",
	"internal/render",
	"internal/plan",
	"internal/preflight",
	"internal/desired",
	"internal/clusterwide",
	"internal/decision",
	"internal/overlayset",
	"internal/status",
}

// A package imports only packages that come later in the pipeline.
func TestArch_OrdersImportsByPipeline(t *testing.T) {
	for _, one := range packages(t) {
		name := short(one.ImportPath)
		if !strings.HasPrefix(name, "internal/") && !strings.HasPrefix(name, "api/") {
			continue
		}
		rank := slices.Index(order, name)
		require.GreaterOrEqual(t, rank, 0, "%s has no place in the pipeline yet", name)
		for _, imported := range one.Imports {
			if !strings.HasPrefix(imported, module) {
				continue
			}
			at := slices.Index(order, short(imported))
			require.True(t, at >= 0 && at < rank, "%s imports %s, which does not come before it", name, short(imported))
		}
	}
}

// deepest is the maximum length of a chain of imports between packages of the product.
const deepest = 10

// A package may import others only up to a number of steps.
func TestArch_LimitsLengthOfImportChains(t *testing.T) {
	imports := map[string][]string{}
	for _, one := range packages(t) {
		imports[one.ImportPath] = one.Imports
	}
	chains := map[string][]string{}
	var chainOf func(path string) []string
	chainOf = func(path string) []string {
		if chains[path] != nil {
			return chains[path]
		}
		var longest []string
		for _, imported := range imports[path] {
			if !strings.HasPrefix(imported, module) {
				continue
			}
			if chain := chainOf(imported); len(chain) > len(longest) {
				longest = chain
			}
		}
		chains[path] = append([]string{short(path)}, longest...)
		return chains[path]
	}
	for path := range imports {
		if name := short(path); strings.HasPrefix(name, "test") { // What tests stand on is deeper.
			continue
		}
		require.LessOrEqual(t, len(chainOf(path)), deepest, strings.Join(chainOf(path), " imports "))
	}
}

// The drain gate runs next to every sidecar, so its program must be small.
func TestArch_LimitsImportsOfDrainGate(t *testing.T) {
	for _, one := range packages(t) {
		if short(one.ImportPath) != "internal/draingate" {
			continue
		}
		for _, imported := range one.Imports {
			require.NotContains(t, imported, ".", "internal/draingate imports %s, which is not of the standard library", imported)
		}
	}
}

// The tables of this folder name only packages that exist.
func TestArch_ListsOnlyExistingPackages(t *testing.T) {
	var names []string
	for _, one := range packages(t) {
		names = append(names, short(one.ImportPath))
	}
	require.Subset(t, names, order)
}

// reserved lists imports that only the named packages may have.
var reserved = []struct {
	what    string
	matches func(imported string) bool
	allowed []string
	reason  string
}{
	{"the root package", is(module), []string{"cmd/", "test/"}, "every package takes an fs.FS"},
	{"Helm", under("helm.sh/helm"), []string{"internal/environment", "internal/gotemplate", "internal/render", "test/"}, "one place knows Helm's values, one its functions, one its charts"},
	{"sprig", under("github.com/Masterminds/sprig"), []string{"internal/gotemplate", "test/"}, "what a template may call is decided in one place"},
	{"the loop", is(module + "/internal/controller/sidecar"), []string{"internal/operator"}, "nothing stands on the loop but the process"},
	{"controller-runtime", under("sigs.k8s.io/controller-runtime"), []string{"internal/livelist", "internal/source", "internal/apply", "internal/admission", "internal/controller", "internal/operator", "internal/removal", "internal/checkup", "internal/cli", "api/", "cmd/", "test/"}, "everything else works without a cluster"},
	{"the writer", is(module + "/internal/apply"), []string{"internal/controller", "internal/admission", "internal/removal"}, "there is one writer; the loop calls it, what ends all of the loop's work, and what keeps the webhook's certificate"},
	{"test code", under(module + "/test"), []string{"test/"}, "the product does not stand on its tests"},
	{"Prometheus", under("github.com/prometheus"), []string{"internal/telemetry", "test/"}, "every metric is declared and documented in one place"},
	{"OpenTelemetry", under("go.opentelemetry.io"), []string{"internal/telemetry", "test/"}, "spans that are off cost nothing in one place"},
	{"cert-controller", under("github.com/open-policy-agent/cert-controller"), []string{"internal/admission"}, "certificates are made in one place"},
	{"Sentry", under("github.com/getsentry"), []string{"internal/telemetry"}, "what leaves the cluster is decided in one place"},
	{"a shell", is("os/exec"), []string{"internal/vectorprogram", "test/"}, "the operator starts no programs, and the plugin one Vector"},
	{"Vector as a program", is(module + "/internal/vectorprogram"), []string{"internal/cli", "test/"}, "only a person names a program to start"},
}

func is(path string) func(string) bool { return func(imported string) bool { return imported == path } }

func under(path string) func(string) bool {
	return func(imported string) bool { return imported == path || strings.HasPrefix(imported, path+"/") }
}

// Each row of the table is an import, and the packages that may use it.
func TestArch_AllowsSomeImportsInListedPackagesOnly(t *testing.T) {
	for _, one := range packages(t) {
		name := short(one.ImportPath)
		for _, rule := range reserved {
			if slices.ContainsFunc(rule.allowed, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
				continue
			}
			for _, imported := range one.Imports {
				require.False(t, rule.matches(imported), "%s imports %s (%s): %s", name, rule.what, imported, rule.reason)
			}
		}
	}
}

// Pure packages must not import clients. They may reach them through the packages of Kubernetes' types.
func TestArch_KeepsPurePackagesFreeOfClients(t *testing.T) {
	for _, one := range packages(t) {
		if !slices.Contains(pure, short(one.ImportPath)) {
			continue
		}
		for _, imported := range one.Imports {
			isClient := under("k8s.io/client-go")(imported) && !under("k8s.io/client-go/applyconfigurations")(imported)
			isWorld := slices.Contains([]string{"os", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "log", "log/slog"}, imported)
			require.False(t, isClient || isWorld, "%s imports %s, and is said to be pure", short(one.ImportPath), imported)
		}
	}
}

// The Vector checker can be used outside of this module, so it imports nothing of the product.
func TestArch_ForbidsProductImportsInVectorlint(t *testing.T) {
	checked := 0
	for _, one := range packages(t) {
		if !under("internal/vectorlint")(short(one.ImportPath)) {
			continue
		}
		checked++
		for _, imported := range one.Imports {
			isForeign := under(module)(imported) && !under(module+"/internal/vectorlint")(imported)
			isKubernetes := strings.Contains(imported, "k8s.io/")
			require.False(t, isForeign || isKubernetes, "%s imports %s", one.ImportPath, imported)
		}
	}
	require.Positive(t, checked)
}
