// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/rest"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
)

// asTable requests the table that kubectl prints. It has some hundred bytes per node, whereas a node object has ten to
// fifty thousand.
const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// Nodes reads the nodes of a cluster. NewNodes creates it.
type Nodes struct{ client rest.Interface }

// NewNodes returns the Nodes of a cluster.
func NewNodes(config *rest.Config) (*Nodes, error) {
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/api", &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for nodes: %w", err)
	}
	return &Nodes{client}, nil
}

// OldestKubelet lists the nodes from the API server's cache and returns the oldest kubelet. If several are equally
// old, it returns the first by the node's name. It returns the zero value if no node reports a version.
func (n *Nodes) OldestKubelet(ctx context.Context) (desired.Kubelet, error) {
	table := &metav1.Table{}
	request := n.client.Get().Resource("nodes").SetHeader("Accept", asTable).Param("includeObject", "None").Param("resourceVersion", "0")
	if err := request.Do(ctx).Into(table); err != nil {
		return desired.Kubelet{}, fmt.Errorf("listing nodes: %w", err)
	}
	return oldestKubelet(table)
}

// oldestKubelet returns the kubelet with the lowest version in a table of nodes. Among equal versions, the node with
// the first name counts. Nodes without a version are ignored.
func oldestKubelet(table *metav1.Table) (oldest desired.Kubelet, err error) {
	column := func(name string) int {
		return slices.IndexFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool { return c.Name == name })
	}
	name, kubelet := column("Name"), column("Version")
	if name < 0 || kubelet < 0 {
		return desired.Kubelet{}, errors.New("listing nodes: the API server's table of nodes has no columns Name and Version")
	}
	var oldestVersion *version.Version
	for _, row := range table.Rows {
		if len(row.Cells) <= max(name, kubelet) {
			continue
		}
		candidate := desired.Kubelet{Version: fmt.Sprint(row.Cells[kubelet]), Node: fmt.Sprint(row.Cells[name])}
		parsed, err := version.ParseGeneric(candidate.Version)
		if err != nil {
			continue // The node has not reported a version yet.
		}
		if isOlder := oldestVersion == nil || parsed.LessThan(oldestVersion); isOlder || parsed.EqualTo(oldestVersion) && candidate.Node < oldest.Node {
			oldestVersion, oldest = parsed, candidate
		}
	}
	return oldest, nil
}
