// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/fields"
)

// Each field of a pod has a line in the table. If Kubernetes adds a field, its line must state which policy key checks
// it.
func TestLineFor_FindsLineOfEveryPodField(t *testing.T) {
	all := fields.Below(reflect.TypeFor[corev1.PodTemplateSpec](), func(name string) bool {
		line := LineFor(name)
		return line == nil || !line.NotAllowed() // What is refused as a whole is refused with its fields.
	})
	counts, has := map[string]int{}, map[string]bool{}
	var missing []string
	for _, field := range all {
		line := LineFor(field.Name)
		has[field.Name] = true
		switch {
		case line == nil:
			missing = append(missing, field.Name+" ("+field.Paths[0]+")")
		case line.NotAllowed():
			counts["are the owner's"]++
		case line.Grant == Nothing, line.Grant == Refinement:
			counts["let in "+line.Grant]++
		default:
			counts["are judged"]++
		}
	}
	require.Empty(t, missing, "say in fields.go what gets into a pod by them, and which key judges it; or in uncheckedfields.go that nothing does")
	for name := range lines {
		require.True(t, has[name], "there is no field %s", name)
	}
	t.Logf("%d fields of a pod template: %v", len(all), counts)
}

// values are the values of the enumerated types of a pod's fields: those that affect only the container or the volume that
// has them, or that the keys in the comment check.
var values = map[string]string{
	"AppArmorProfileType":                     "Unconfined RuntimeDefault Localhost", // podSecurity
	"AzureDataDiskCachingMode":                "None ReadOnly ReadWrite",
	"AzureDataDiskKind":                       "Shared Dedicated Managed",
	"ContainerRestartPolicy":                  "Always Never OnFailure",
	"ContainerRestartRuleAction":              "Restart",
	"ContainerRestartRuleOnExitCodesOperator": "In NotIn",
	"GRPCProbeMode":                           "Plaintext TLS",
	"HTTPProtocol":                            "HTTP1 HTTP2",
	"HostPathType":                            "DirectoryOrCreate Directory FileOrCreate File Socket CharDevice BlockDevice", // volumes.kinds
	"LabelSelectorOperator":                   "In NotIn Exists DoesNotExist",
	"MountPropagationMode":                    "None HostToContainer Bidirectional", // podSecurity
	"PersistentVolumeAccessMode":              "ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod",
	"PersistentVolumeMode":                    "Block Filesystem",
	"ProcMountType":                           "Default Unmasked", // podSecurity
	"Protocol":                                "TCP UDP SCTP",
	"PullPolicy":                              "Always Never IfNotPresent",
	"RecursiveReadOnlyMode":                   "Disabled IfPossible Enabled",
	"ResourceResizeRestartPolicy":             "NotRequired RestartContainer",
	"SeccompProfileType":                      "Unconfined RuntimeDefault Localhost", // podSecurity
	"StorageMedium":                           "Memory HugePages HugePages-",         // volumes.memorySizeLimit; limits of the containers bound huge pages
	"TerminationMessagePolicy":                "File FallbackToLogsOnError",
	"URIScheme":                               "HTTP HTTPS",
}

// Each value of an enumeration in the pod API is in the table. Values with an effect outside of the container that no
// policy key checks are rejected (TestCheck_AppliesEveryRule).
func TestLine_ListsEachEnumeratedValue(t *testing.T) {
	// Open types, signals to the container itself, and metadata that the API server drops.
	unlisted := []string{"Capability", "ResourceName", "Signal", "UID", "ManagedFieldsOperationType"}
	rejected := map[string][]string{"ContainerRestartRuleAction": {"RestartAllContainers"}}
	declared := constants(t, "k8s.io/api/core/v1", "k8s.io/apimachinery/pkg/apis/meta/v1")
	reachable := map[string]bool{}
	for _, field := range fields.Below(reflect.TypeFor[corev1.PodTemplateSpec](), func(name string) bool { return !LineFor(name).NotAllowed() }) {
		of := field.Type
		for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		isOwners := strings.HasPrefix(field.Name, "PodSpec.") && LineFor(field.Name).NotAllowed()
		if of.Kind() == reflect.String && of != reflect.TypeFor[string]() && !isOwners && !slices.Contains(unlisted, of.Name()) {
			reachable[of.Name()] = true
		}
	}
	for name := range reachable {
		require.Contains(t, values, name, "review its values")
		require.ElementsMatch(t, declared[name], append(strings.Fields(values[name]), rejected[name]...), name)
	}
	require.Len(t, values, len(reachable))
}

// constants returns the values of the string constants of packages by the names of their types, except for "", which is the
// default wherever it is a value.
func constants(t *testing.T, packages ...string) map[string][]string {
	t.Helper()
	folders, err := exec.CommandContext(t.Context(), "go", append([]string{"list", "-f", "{{.Dir}}"}, packages...)...).Output()
	require.NoError(t, err)
	found := map[string][]string{}
	for _, folder := range strings.Fields(string(folders)) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, "types.go"), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			spec, isValue := node.(*ast.ValueSpec)
			if !isValue || len(spec.Values) != 1 {
				return true
			}
			of, hasType := spec.Type.(*ast.Ident)
			value, isLiteral := spec.Values[0].(*ast.BasicLit)
			if hasType && isLiteral && value.Kind == token.STRING && value.Value != `""` {
				text, err := strconv.Unquote(value.Value)
				require.NoError(t, err)
				found[of.Name] = append(found[of.Name], text)
			}
			return true
		})
	}
	return found
}

// Each field has one line, because a second one could contradict it.
func TestLine_IsUniquePerField(t *testing.T) {
	seen := map[string]bool{}
	note := func(field string) {
		require.False(t, seen[field], "%s has two lines", field)
		seen[field] = true
	}
	for _, group := range groups {
		for _, field := range strings.Fields(group.fields) {
			note(field)
		}
	}
	for _, rest := range []map[string]string{refinements, harmless} {
		for of, names := range rest {
			for _, name := range strings.Fields(names) {
				note(of + "." + name)
			}
		}
	}
	require.Len(t, lines, len(seen))
}

// The table identifies types by name, so no two Go types may have the same name.
func TestLine_NamesTypesUniquely(t *testing.T) {
	known := map[string]reflect.Type{}
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, of.Kind()) {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || known[of.Name()] == of || isSingleValue(of) {
			return
		}
		require.Nil(t, known[of.Name()], of.Name())
		known[of.Name()] = of
		for i := range of.NumField() {
			look(of.Field(i).Type)
		}
	}
	look(reflect.TypeFor[corev1.PodTemplateSpec]())
}

// Each key of the policy's schema checks a field in the table. The test lists the exceptions.
func TestLine_UsesEveryPolicyKey(t *testing.T) {
	var top node
	require.NoError(t, yaml.Unmarshal(schema, &top))
	keys := top.leaves("")
	judged := map[string]bool{}
	for _, line := range lines {
		for _, key := range line.Keys {
			require.Contains(t, keys, key, line.Field)
			judged[key] = true
		}
		require.Equal(t, line.Kind != "", slices.Contains(line.Keys, "volumes.kinds"), line.Field)
	}
	for _, key := range keys {
		// The level for init containers has a key of its own, and values and
		// configurations are no fields; what is removed from volumes is a configuration's, and
		// variables of the application are not in what is injected.
		others := []string{"podSecurityOfInitContainers", "volumes.cleanup", "applicationEnv"}
		if !slices.Contains(others, key) && !strings.HasPrefix(key, "overrides.") && !strings.HasPrefix(key, "vector.") {
			require.True(t, judged[key], "nothing is judged by %s", key)
		}
	}
}

// Each field of a pod that can refer to a Secret is in the search for the application's Secrets, and in the table.
func TestLine_ListsEverySecretReference(t *testing.T) {
	var found []string
	each := func(spec *corev1.PodSpec) {
		workload.EachSecret(spec, func(use workload.SecretUse) {
			require.Equal(t, "s", use.Secret, use.Path())
			found = append(found, use.Path())
		})
	}
	s := corev1.LocalObjectReference{Name: "s"}
	each(&corev1.PodSpec{ImagePullSecrets: []corev1.LocalObjectReference{s}})
	for _, source := range []corev1.VolumeSource{
		{Secret: &corev1.SecretVolumeSource{SecretName: "s"}},
		{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{}, {Secret: &corev1.SecretProjection{LocalObjectReference: s}}}}},
		{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "s"}},
		{CSI: &corev1.CSIVolumeSource{NodePublishSecretRef: &s}},
		{FlexVolume: &corev1.FlexVolumeSource{SecretRef: &s}},
		{CephFS: &corev1.CephFSVolumeSource{SecretRef: &s}},
		{RBD: &corev1.RBDVolumeSource{SecretRef: &s}},
		{ISCSI: &corev1.ISCSIVolumeSource{SecretRef: &s}},
		{Cinder: &corev1.CinderVolumeSource{SecretRef: &s}},
		{ScaleIO: &corev1.ScaleIOVolumeSource{SecretRef: &s}},
		{StorageOS: &corev1.StorageOSVolumeSource{SecretRef: &s}},
		{EmptyDir: &corev1.EmptyDirVolumeSource{}},
	} {
		each(&corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: source}}})
	}
	container := corev1.Container{
		EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{}}, {SecretRef: &corev1.SecretEnvSource{LocalObjectReference: s}}},
		Env:     []corev1.EnvVar{{}, {ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: s}}}},
	}
	each(&corev1.PodSpec{InitContainers: []corev1.Container{container}, Containers: []corev1.Container{{}, container}})
	require.Equal(t, []string{
		"imagePullSecrets[0].name", "volumes[0].secret", "volumes[0].projected.sources[1].secret", "volumes[0].azureFile.secretName",
		"volumes[0].csi.nodePublishSecretRef", "volumes[0].flexVolume.secretRef", "volumes[0].cephfs.secretRef", "volumes[0].rbd.secretRef",
		"volumes[0].iscsi.secretRef", "volumes[0].cinder.secretRef", "volumes[0].scaleIO.secretRef", "volumes[0].storageos.secretRef",
		"initContainers[0].envFrom[1].secretRef", "initContainers[0].env[1].valueFrom.secretKeyRef",
		"containers[1].envFrom[1].secretRef", "containers[1].env[1].valueFrom.secretKeyRef",
	}, found)
	ways := map[string]bool{"imagePullSecrets": true}
	for field, line := range lines {
		if line.Grant == "a Secret" {
			_, name, _ := strings.Cut(field, ".")
			ways[name] = true
		}
	}
	for _, at := range found {
		part := strings.Split(at, ".")
		delete(ways, part[len(part)-1])
		delete(ways, strings.TrimSuffix(part[0], "[0]"))
	}
	require.Empty(t, ways)
}

// A quantity is one value, although its Go type is a struct. Its fields have no lines in the table.
func TestIsSingleValue_AcceptsQuantities(t *testing.T) {
	require.True(t, isSingleValue(reflect.TypeFor[resource.Quantity]()))
	require.False(t, isSingleValue(reflect.TypeFor[corev1.Container]()))
}
