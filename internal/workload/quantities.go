// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// largestExponent and largestBits are the most that a quantity may have: 1e60000000 is ten
// characters, and to compare it takes a minute.
const (
	largestExponent = 99
	largestBits     = 256
)

// CheckQuantities returns an error for the first quantity of a pod, under the path of its spec,
// that nobody can use, and that takes time and memory in proportion to its value.
func CheckQuantities(at string, spec *corev1.PodSpec) error {
	if spec.Resources != nil {
		if err := checkResources(at+".resources", *spec.Resources); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i := range list.containers {
			if err := checkResources(fmt.Sprintf("%s.%s[%d].resources", at, list.name, i), list.containers[i].Resources); err != nil {
				return err
			}
		}
	}
	for i := range spec.Volumes {
		if memory := spec.Volumes[i].EmptyDir; memory != nil && memory.SizeLimit != nil {
			if err := checkQuantity(fmt.Sprintf("%s.volumes[%d].emptyDir.sizeLimit", at, i), *memory.SizeLimit); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkResources(at string, given corev1.ResourceRequirements) error {
	for _, list := range []struct {
		name string
		of   corev1.ResourceList
	}{{"limits", given.Limits}, {"requests", given.Requests}} {
		for _, name := range slices.Sorted(maps.Keys(list.of)) {
			if err := checkQuantity(fmt.Sprintf("%s.%s.%s", at, list.name, name), list.of[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkQuantity(at string, given resource.Quantity) error {
	amount := given.DeepCopy()
	decimal := amount.AsDec() // It changes what it is asked of.
	scale := int64(decimal.Scale())
	if max(scale, -scale) > largestExponent || decimal.UnscaledBig().BitLen() > largestBits {
		return fmt.Errorf("%s: %.40s is out of all proportion: give a number of at most %d digits", at, given.String(), largestExponent)
	}
	return nil
}
