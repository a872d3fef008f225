// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/test/fields"
)

// leftOut lists the fields that no workload of the corpus has, and why. An entry for a whole type has the name of
// the type.
var leftOut = map[string]string{
	"ObjectMeta.generateName":               "the API server's own",
	"ObjectMeta.namespace":                  "where a workload is, is its test's",
	"ObjectMeta.selfLink":                   "the API server's own",
	"ObjectMeta.uid":                        "the API server's own",
	"ObjectMeta.resourceVersion":            "the API server's own",
	"ObjectMeta.generation":                 "the API server's own",
	"ObjectMeta.creationTimestamp":          "the API server's own",
	"ObjectMeta.deletionTimestamp":          "the API server's own",
	"ObjectMeta.deletionGracePeriodSeconds": "the API server's own",
	"ObjectMeta.managedFields":              "the API server's own",
	"ObjectMeta.ownerReferences":            "nothing owns a workload of the corpus",
	"EphemeralContainer":                    "refused in the pods of workloads",
	"EphemeralContainerCommon":              "refused in the pods of workloads",
	"PodSpec.ephemeralContainers":           "refused in the pods of workloads",
	"TypedObjectReference.namespace":        "behind a feature gate",
	"ClusterTrustBundleProjection.user":     newer,
	"ConfigMapVolumeSource.defaultUser":     newer,
	"DownwardAPIVolumeFile.user":            newer,
	"DownwardAPIVolumeSource.defaultUser":   newer,
	"EmptyDirVolumeSource.mode":             newer,
	"EvictionResponder":                     newer,
	"GRPCAction.mode":                       newer,
	"HTTPGetAction.protocol":                newer,
	"KeyToPath.user":                        newer,
	"PodCertificateProjection.user":         newer,
	"PodSchedulingGroup":                    newer,
	"PodSpec.evictionResponders":            newer,
	"PodSpec.schedulingGroup":               newer,
	"ProjectedVolumeSource.defaultUser":     newer,
	"SecretVolumeSource.defaultUser":        newer,
	"ServiceAccountTokenProjection.user":    newer,
	"VolumeMount.bindMountOptions":          newer,
}

// newer is the reason for fields that this module's types have, and the control plane of the tests does not.
const newer = "not in the version of the API server"

// leftOutOf lists further omitted fields of one kind.
var leftOutOf = map[string]map[string]string{
	"Deployment": {"PodSpec.activeDeadlineSeconds": "refused in a Deployment"},
	"StatefulSet": {
		"PodSpec.activeDeadlineSeconds": "refused in a StatefulSet",
		"PersistentVolumeClaim":         "no part of a pod, but by its name",
		"PersistentVolumeClaim.status":  "the API server's own",
	},
	"DaemonSet": {"PodSpec.activeDeadlineSeconds": "refused in a DaemonSet"},
	"Rollout":   {"PodSpec.activeDeadlineSeconds": "refused in a Rollout"},
	"CronJob": {
		"JobSpec.selector":             "the API server's own",
		"JobTemplateSpec.metadata":     "no part of a pod",
		"JobSpec.scheduling":           newer,
		"JobSpec.backoffLimitPerIndex": indexed,
		"JobSpec.maxFailedIndexes":     indexed,
		"JobSpec.successPolicy":        indexed,
		"SuccessPolicy":                indexed,
		"SuccessPolicyRule":            indexed,
	},
}

// indexed is the reason for fields of Jobs that do not affect pods.
const indexed = "needs an indexed Job"

var specs = map[string]reflect.Type{
	"Deployment": reflect.TypeFor[appsv1.DeploymentSpec](), "StatefulSet": reflect.TypeFor[appsv1.StatefulSetSpec](),
	"DaemonSet": reflect.TypeFor[appsv1.DaemonSetSpec](), "CronJob": reflect.TypeFor[batchv1.CronJobSpec](), "Rollout": reflect.TypeFor[rolloutSpec](),
}

// Each field of the workload kinds is in the table, also one that a later Kubernetes version adds.
func TestFields_ListEveryWorkloadField(t *testing.T) {
	for _, kind := range Kinds() {
		t.Run(kind.Name, func(t *testing.T) { requireAllFields(t, kind) })
	}
}

func requireAllFields(t *testing.T, kind *Kind) {
	t.Helper()
	has := map[string]bool{}
	known, leftOut := specs[kind.Name], maps.Clone(leftOut)
	maps.Copy(leftOut, leftOutOf[kind.Name])
	for _, base := range []map[string]any{Bare(), Logging()} {
		singles, err := Singles(kind, base)
		require.NoError(t, err)
		for i := range singles {
			for _, write := range singles[i].Writes {
				collect(has, known, kind.Placed(write.Object)["spec"])
			}
		}
	}
	var missing []string
	for _, field := range fields.Below(known, func(name string) bool { return leftOut[name] == "" }) {
		kind, _, _ := strings.Cut(field.Name, ".")
		if !has[field.Name] && leftOut[field.Name] == "" && leftOut[kind] == "" {
			missing = append(missing, field.Name)
		}
	}
	require.Empty(t, missing, "put values of them into fields.yaml, or say here why not")
	for name := range leftOut {
		require.False(t, has[name], "%s is not left out", name)
	}
}

// collect records the fields of types that a tree sets.
func collect(has map[string]bool, of reflect.Type, tree any) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch value := tree.(type) {
	case []any:
		for _, item := range value {
			if of.Kind() == reflect.Slice {
				collect(has, of.Elem(), item)
			}
		}
	case map[string]any:
		if of.Kind() != reflect.Struct {
			return
		}
		for _, field := range reflect.VisibleFields(of) {
			// Fields of an embedded struct belong to the outer type, unless the struct has a JSON name.
			if below, ok := value[fields.JSON(field)]; ok {
				has[owner(of, field)+"."+fields.JSON(field)] = true
				collect(has, field.Type, below)
			}
		}
	}
}

// owner returns the type that declares a field, which may be embedded in another type.
func owner(of reflect.Type, field reflect.StructField) string {
	for _, at := range field.Index[:len(field.Index)-1] {
		of = of.Field(at).Type
	}
	return of.Name()
}

// Some fields exclude others. For example, a stop signal requires an operating system, which excludes options for
// Windows.
func TestField_RemovesContradictingFields(t *testing.T) {
	all, err := Fields()
	require.NoError(t, err)
	var options, signal *Field
	for _, field := range all {
		switch {
		case field.Name == "app.securityContext":
			options = field
		case field.Name == "app.lifecycle" && field.Beside != nil:
			signal = field
		}
	}
	require.True(t, options.excludes([]*Field{signal}))
	require.True(t, signal.excludes([]*Field{options}))
}

// The generator of random workloads returns the same workloads for the same seed.
func TestRandom_RepeatsWorkloadsOfSeed(t *testing.T) {
	kind := Kinds()[0]
	one, err := Random(kind, 7, 200, Logging())
	require.NoError(t, err)
	again, err := Random(kind, 7, 200, Logging())
	require.NoError(t, err)
	require.Len(t, again, len(one))
	for i := range one {
		require.Equal(t, one[i].Writes, again[i].Writes)
	}
	other, err := Random(kind, 8, 200, Logging())
	require.NoError(t, err)
	require.NotEqual(t, one, other)
}

// The workloads have different descriptions, and their common base does not change.
func TestSingles_CreateDistinctWorkloads(t *testing.T) {
	base := Logging()
	before := runtime.DeepCopyJSON(base)
	seen := map[string]bool{}
	for _, kind := range Kinds() {
		singles, err := Singles(kind, base)
		require.NoError(t, err)
		for i := range singles {
			require.NotEmpty(t, singles[i].Writes)
			require.False(t, seen[singles[i].About], singles[i].About)
			seen[singles[i].About] = true
		}
	}
	require.Equal(t, before, base)
}
