// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// A quantity with too many digits, or too large an exponent, is rejected before it is parsed, because parsing it takes
// too long.
func TestCheckQuantities_RejectsExtremeNumbers(t *testing.T) {
	t.Parallel()
	for given, isFound := range map[string]bool{
		`"0"`: false, `"100m"`: false, `"512Mi"`: false, `"9Ei"`: false, `"9E"`: false, `"1e18"`: false, `"1e99"`: false, `"-1.5e-9"`: false, "0.25": false, "4": false,
		`"1e60000000"`: true, `"1E-60000000"`: true, `"1e100"`: true, "1e100": true, strconv.Quote(strings.Repeat("9", 700_000)): true,
	} {
		resources := `{"requests":{"cpu":"1"},"limits":{"memory":` + given + `}}`
		for at, text := range map[string]string{
			"spec.resources.limits.memory":                                          `{"resources":` + resources + `}`,
			"spec.containers[1].resources.limits.memory":                            `{"containers":[{},{"resources":` + resources + `}]}`,
			"spec.initContainers[0].Resources.limits.memory":                        `{"initContainers":[{"Resources":` + resources + `}]}`,
			`spec.overhead["example.com/gpu"]`:                                      `{"overhead":{"example.com/gpu":` + given + `}}`,
			"spec.volumes[1].emptyDir.sizeLimit":                                    `{"volumes":[{},{"emptyDir":{"sizeLimit":` + given + `}}]}`,
			"spec.volumes[0].downwardAPI.items[0].resourceFieldRef.divisor":         `{"volumes":[{"downwardAPI":{"items":[{"resourceFieldRef":{"divisor":` + given + `}}]}}]}`,
			"spec.ephemeralContainers[0].env[0].valueFrom.resourceFieldRef.divisor": `{"ephemeralContainers":[{"env":[{"valueFrom":{"resourceFieldRef":{"divisor":` + given + `}}}]}]}`,
		} {
			var spec any
			require.NoError(t, json.Unmarshal([]byte(text), &spec))
			err := CheckQuantities[corev1.PodSpec]("spec", spec)
			require.Equal(t, isFound, err != nil, "%s: %.40s", at, given)
			if err != nil {
				require.Contains(t, err.Error(), at+": ")
				require.Less(t, len(err.Error()), 250)
			}
		}
	}
}
