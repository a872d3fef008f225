// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestTheLimitOfTheContainerIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no Linux": {nil, 0},
		"a container with groups of the second version": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "268435456\n",
		}, 256 << 20},
		"one of the first version, which sees the names of its machine": {map[string]string{
			"proc/self/cgroup":                           "5:cpu,cpuacct:/kubepods/burstable/x\n4:memory:/kubepods/burstable/x\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n",
		}, 256 << 20},
		"a service of a machine": {map[string]string{
			"proc/self/cgroup": "0::/system.slice/operator.service\n", "sys/fs/cgroup/system.slice/operator.service/memory.max": "max\n",
			"sys/fs/cgroup/system.slice/memory.max": "1073741824\n",
		}, 1 << 30},
		"no limit, in the second version": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		"no limit, in the first version": {map[string]string{
			"proc/self/cgroup": "4:memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n",
		}, 0},
	} {
		root := fstest.MapFS{}
		for file, text := range test.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		require.Equal(t, test.want, containerMemory(root), name)
	}
}
