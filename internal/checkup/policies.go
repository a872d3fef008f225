// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// checkPolicies checks whether the objects for admission injection exist: the CustomResourceDefinition of OverlaySets, the
// policy that guards them, and a policy for each kind. It returns nothing if the API server does not inject.
func (d *Diagnosis) checkPolicies(ctx context.Context, installation *source.Installation) []Result {
	const check = "admission policies for injection"
	if !installation.Injects {
		return nil
	}
	const help = "upgrade the installation; helm template needs --kube-version of the cluster, 1.36 or later"
	switch err := isServed(ctx, d.liveClient(), "OverlaySet", metav1.NamespaceAll); {
	case isAbsent(err):
		return []Result{{check, Failed, "the CustomResourceDefinition of OverlaySets is not installed: the operator injects instead of the API server", help}}
	case err != nil:
		return []Result{{check, Unknown, err.Error(), "ask someone with permission to list OverlaySets"}}
	}
	prefix := installation.Namespace + "." + installation.Name + "."
	guard := client.ObjectKey{Name: prefix + "overlaysets"}
	missing, err := d.missingObjects(ctx, guard, &registrationv1.ValidatingAdmissionPolicy{}, &registrationv1.ValidatingAdmissionPolicyBinding{})
	state, effect := Failed, "without these objects, users who may write OverlaySets can change containers of any workload of the namespace"
	if err == nil && len(missing) == 0 {
		state, effect = Warning, "without these objects, the API server does not inject the sidecar at admission; the operator injects it after a workload is written"
		for _, name := range installation.Kinds {
			kind := workload.KindByName(name)
			if kind == nil || kind.Traits.Immutable != "" || err != nil {
				continue
			}
			var missingOfKind []string
			key := client.ObjectKey{Name: prefix + kind.Resource}
			missingOfKind, err = d.missingObjects(ctx, key, &registrationv1.MutatingAdmissionPolicy{}, &registrationv1.MutatingAdmissionPolicyBinding{})
			missing = append(missing, missingOfKind...)
		}
	}
	switch {
	case err != nil:
		return []Result{{check, Unknown, err.Error(), "ask someone with permission to get admission policies and their bindings"}}
	case len(missing) > 0:
		return []Result{{check, state, fmt.Sprintf("%s: %s", effect, strings.Join(missing, ", ")), help}}
	}
	return []Result{{check, OK, "one policy for each of " + strings.Join(installation.Kinds, ", "), ""}}
}

// missingObjects returns the objects that do not exist, or that the API server does not serve. All have the same name.
func (d *Diagnosis) missingObjects(ctx context.Context, key client.ObjectKey, objects ...client.Object) ([]string, error) {
	var missing []string
	for _, object := range objects {
		kind := reflect.TypeOf(object).Elem().Name()
		switch err := d.Cluster.Get(ctx, key, object); {
		case apimeta.IsNoMatchError(err):
			missing = append(missing, kind+" "+key.Name+" (not served by the API server)")
		case apierrors.IsNotFound(err):
			missing = append(missing, kind+" "+key.Name+" is missing")
		case err != nil:
			return nil, fmt.Errorf("reading %s %s: %w", kind, key.Name, err)
		}
	}
	return missing, nil
}
