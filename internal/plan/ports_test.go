// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// One port number is used with TCP and with UDP. A patch changes only the port with the named protocol.
func TestApplyPatch_DistinguishesProtocolsOfPort(t *testing.T) {
	const tcp, udp, other = "{containerPort: 514, protocol: TCP}", "{containerPort: 514, protocol: UDP}", "{containerPort: 9598, protocol: TCP}"
	for name, test := range map[string]struct{ owned, live, wanted, want string }{
		"one comes":               {tcp, tcp, tcp + ", " + udp, tcp + ", " + udp},
		"one goes":                {tcp + ", " + udp, tcp + ", " + udp, udp, udp},
		"the first goes":          {udp + ", " + tcp, udp + ", " + tcp, tcp + ", " + other, tcp + ", " + other},
		"both go":                 {tcp + ", " + udp, tcp + ", " + udp, "", ""},
		"nothing changes":         {tcp + ", " + udp, tcp + ", " + udp, tcp + ", " + udp, tcp + ", " + udp},
		"another order":           {tcp + ", " + udp, tcp + ", " + udp, udp + ", " + tcp, udp + ", " + tcp},
		"one is named":            {tcp + ", " + udp, tcp + ", " + udp, tcp + ", {containerPort: 514, name: syslog, protocol: UDP}", tcp + ", {containerPort: 514, name: syslog, protocol: UDP}"},
		"ours goes, theirs stays": {tcp, tcp + ", " + udp, other, other + ", " + udp},
		"a field of theirs stays": {tcp, "{containerPort: 514, hostIP: 10.0.0.1, protocol: TCP}", tcp + ", " + udp, "{containerPort: 514, hostIP: 10.0.0.1, protocol: TCP}, " + udp},
	} {
		for _, list := range []string{"initContainers", "containers"} {
			t.Run(name+", in "+list, func(t *testing.T) {
				pod := func(ports string) map[string]any {
					var of map[string]any
					require.NoError(t, yaml.Unmarshal([]byte(`{spec: {template: {spec: {`+list+`: [{name: vector, image: v, ports: [`+ports+`]}, {name: zoo}]}}}}`), &of))
					return of
				}
				var ports []corev1.ContainerPort
				require.NoError(t, yaml.Unmarshal([]byte("["+test.live+"]"), &ports))
				view := &workload.View{Ref: workload.Ref{Kind: "Deployment"}}
				for _, name := range []string{"vector", "zoo"} {
					view.Containers = append(view.Containers, workload.Container{Name: name, Init: list == "initContainers", Ports: ports})
				}
				view.Owned = map[string]workload.OwnedFields{mine: {Containers: []string{"vector", "zoo"}}}
				wanted := pod(test.wanted)
				tree.Map(tree.List(tree.MapAt(wanted, tree.Pod...)[list])[1])["image"] = "z"

				patch, err := patchBetween(mine, view, pod(test.owned), wanted)
				require.NoError(t, err)
				p := Plan{Target: view.Ref, Write: Write{Patch: patch}}
				after, err := p.ApplyPatch(pod(test.live))
				require.NoError(t, err)

				found := tree.Map(tree.List(tree.MapAt(after, tree.Pod...)[list])[0])
				var want []any
				require.NoError(t, yaml.Unmarshal([]byte("["+test.want+"]"), &want))
				text, err := json.Marshal(want)
				require.NoError(t, err)
				is, err := json.Marshal(append([]any{}, tree.List(found["ports"])...))
				require.NoError(t, err)
				require.JSONEq(t, string(text), string(is))
				require.Equal(t, "z", tree.Map(tree.List(tree.MapAt(after, tree.Pod...)[list])[1])["image"])
			})
		}
	}
}
