// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"io"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// declaredChange is the change of one VectorSidecar or ClusterVectorSidecar that the installation's values declare.
type declaredChange struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Action is Create, Update or Delete, or "" if the object does not change.
	Action  string `json:"action,omitempty"`
	State   string `json:"state"`
	Message string `json:"message"`

	title string
}

// planDeclared returns the changes of the VectorSidecars that the values on the command line declare, compared with the
// values in the cluster. It returns nil without values on the command line or without a cluster.
func (s *session) planDeclared(ctx context.Context) ([]declaredChange, error) {
	if s.values == nil || s.cluster == nil {
		return nil, nil
	}
	installation := cmp.Or(s.installation, &source.Installation{})
	sidecars, err := installation.DeclaredSidecars(ctx, s.cluster, s.values.Files(), s.taker.Platform.Stop.IsActive(), s.inputs.app.builtin.rejectionReason)
	if err != nil {
		return nil, err
	}
	var changes []declaredChange
	for _, sidecar := range sidecars {
		if sidecar.State != declared.Applied && (s.namespace == "" || s.namespace == sidecar.Key.Namespace) {
			changes = append(changes, declaredChange{sidecar.Key.Namespace, sidecar.Key.Name, string(sidecar.Action), string(sidecar.State), sidecar.Message, declared.Title(sidecar.Key)})
		}
	}
	return changes, nil
}

// printDeclared prints one line for each declared object that changes, or that is not applied.
func printDeclared(w io.Writer, changes []declaredChange) error {
	for _, change := range changes {
		if err := humanize.Fprintf(w, "%s %s: %s\n", cmp.Or(change.Action, change.State), change.title, change.Message); err != nil {
			return err
		}
	}
	return nil
}

// readDeclared returns the state of each object that the installation's values declare in a namespace, or in all
// namespaces for "". isCluster selects ClusterVectorSidecars. It prints a note with the reason for each object that the
// operator has not applied. It returns nil if the values declare no objects, or if the user may not read the
// installation.
func (o *getOptions) readDeclared(ctx context.Context, cluster client.Reader, namespace string, isCluster bool) map[types.NamespacedName]string {
	installation, err := source.FindInstallation(ctx, cluster, "", namespace)
	if installation == nil || err != nil {
		return nil
	}
	isStopped := desired.FindStop(installation.ConfigMaps().Installation).IsActive()
	sidecars, err := installation.DeclaredSidecars(ctx, cluster, installation.Values, isStopped, o.app.builtin.rejectionReason)
	if err != nil {
		o.app.printNote("VectorSidecars of the installation's values: %v", err)
	}
	var states map[types.NamespacedName]string
	for _, sidecar := range sidecars {
		if isCluster != (sidecar.Key.Namespace == "") || namespace != "" && namespace != sidecar.Key.Namespace {
			continue
		}
		if states == nil {
			states = map[types.NamespacedName]string{}
		}
		if states[sidecar.Key] = string(sidecar.State); sidecar.State != declared.Applied {
			o.app.printNote("%s, declared in the installation's values, is %s: %s", declared.Title(sidecar.Key), sidecar.State, sidecar.Message)
		}
	}
	return states
}
