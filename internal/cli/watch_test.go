// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// shown passes on what is written.
type shown chan string

func (s shown) Write(text []byte) (int, error) {
	s <- string(text)
	return len(text), nil
}

// until waits until a text was written.
func (s shown) until(t *testing.T, text string) {
	t.Helper()
	var all strings.Builder
	for !strings.Contains(all.String(), text) {
		select {
		case more := <-s:
			all.WriteString(more)
		case <-time.After(30 * time.Second):
			require.FailNow(t, "nobody has written it", "%q is not in %q", text, all.String())
		}
	}
}

func kindsOf(all ...watched) (kinds []string) {
	for _, of := range all {
		kinds = append(kinds, fmt.Sprintf("%T in %q", of.list, of.namespace))
	}
	return kinds
}

// The flag --watch watches only the kinds that the command shows, because the user may have no permission for others.
func TestWatch_ShowsChangesOfListedKinds(t *testing.T) {
	everywhere := func(name string) client.Object {
		one := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: name}}
		one.Spec.Selector.MatchLabels = map[string]string{"logs": "vector"}
		return one
	}
	here := func(name string) client.Object {
		return objects.NewVectorSidecar(name, "shop").Selecting("logs", "vector").Build()
	}
	for name, test := range map[string]struct {
		arguments     []string
		first, second client.Object
		watches       []string
	}{
		"get":                          {[]string{"get"}, here("first"), here("second"), kindsOf(watchSidecars("shop"))},
		"get of ClusterVectorSidecars": {[]string{"get", "clustervectorsidecars"}, everywhere("first"), everywhere("second"), kindsOf(watchClusterSidecars())},
		"tree": {[]string{"tree", "--kube-version", "v1.36.0"}, here("first"), everywhere("second"),
			kindsOf(append(watchWorkloads("shop"), watchSidecars("shop"), watchClusterSidecars())...)},
	} {
		t.Run(name, func(t *testing.T) {
			var watches []string
			out, ended := make(shown, 100), make(chan int, 1)
			a := (&cluster{objects: []client.Object{test.first}}).app(t, &bytes.Buffer{}, &bytes.Buffer{})
			a.Out = humanize.NewWriter(out)
			live := a.cluster
			a.cluster = interceptor.NewClient(live, interceptor.Funcs{
				Watch: func(ctx context.Context, live client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
					of := (&client.ListOptions{}).ApplyOptions(options)
					watches = append(watches, kindsOf(watched{list: list, namespace: of.Namespace})...)
					return live.Watch(ctx, list, options...)
				},
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { ended <- a.run(ctx, append(test.arguments, "-w", "-n", "shop")) }()

			out.until(t, "first")
			require.NoError(t, live.Create(ctx, test.second))
			out.until(t, "second")
			cancel()
			require.Zero(t, <-ended)
			require.Equal(t, test.watches, watches)
		})
	}
}

// If each watch ends at once, for example because of a proxy, the command pauses before it starts the next one.
func TestWatch_PausesBeforeRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		begun := 0
		live := interceptor.NewClient(nil, interceptor.Funcs{
			Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
				if begun++; begun > 100 {
					cancel()
				}
				ended := watch.NewFake()
				ended.Stop()
				return ended, nil
			},
		})
		a := &app{IOStreams: genericiooptions.NewTestIOStreamsDiscard()}
		require.NoError(t, a.watch(ctx, live, func() ([]byte, error) { return nil, nil }, watchSidecars("shop")))
		require.Greater(t, begun, 10)
		require.Less(t, begun, 50)
	})
}
