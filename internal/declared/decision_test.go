// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const owner = "vector-system_vso"

// newLive returns an existing VectorSidecar that the field managers own, with the spec that the values declare.
func newLive(managers ...string) *v1alpha1.VectorSidecar {
	live := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs", Labels: map[string]string{meta.LabelDeclaredBy: owner}}}
	live.Spec.Enabled = new(true)
	live.Spec.Workloads = []v1alpha1.WorkloadKind{"Deployment"}
	live.Spec.Selector.MatchLabels = map[string]string{"logs": "vector"}
	for _, manager := range append(managers, meta.DeclaredManager) {
		live.ManagedFields = append(live.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:selector":{}}}`),
		})
	}
	return live
}

// Each case has the declared spec, the existing object and the state of the installation, and the resulting action on
// the object.
func TestSituation_DecidesActionAndState(t *testing.T) {
	const item = "items: {shop/logs: {selector: {matchLabels: {logs: vector}}}}"
	other := newLive()
	other.Spec.Selector.MatchLabels["logs"] = "other"
	unlabeled, deleting := newLive(), newLive()
	unlabeled.Labels = nil
	deleting.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	for name, test := range map[string]struct {
		values string
		live   Object
		change func(*Situation)
		want   Decision
	}{
		"missing object":                {item, nil, nil, Decision{Action: Create, State: Pending}},
		"missing namespace":             {item, nil, func(s *Situation) { s.Obstacle = MissingNamespace("shop") }, Decision{State: WaitingForNamespace}},
		"missing object while stopped":  {item, nil, func(s *Situation) { s.IsStopped = true }, Decision{State: WritesStopped}},
		"same spec":                     {item, newLive(), nil, Decision{State: Applied}},
		"same spec while stopped":       {item, newLive(), func(s *Situation) { s.IsStopped = true }, Decision{State: Applied}},
		"another spec":                  {item, other, nil, Decision{Action: Update, State: Pending}},
		"another spec while stopped":    {item, other, func(s *Situation) { s.IsStopped = true }, Decision{State: WritesStopped}},
		"uninstalling":                  {item, other, func(s *Situation) { s.IsUninstalling = true }, Decision{State: Uninstalling}},
		"without the label":             {item, unlabeled, nil, Decision{State: Conflict}},
		"label of another installation": {item, newLive(), func(s *Situation) { s.Owner = "other" }, Decision{State: Conflict}},
		"unknown installation":          {item, unlabeled, func(s *Situation) { s.Owner = "" }, Decision{State: Conflict}},
		"another field manager":         {item, newLive("argocd-controller"), nil, Decision{State: Conflict}},
		"being deleted":                 {item, deleting, nil, Decision{State: WaitingForRemoval}},
		"unknown field":                 {"items: {shop/logs: {selectr: {}}}", nil, nil, Decision{State: Invalid}},
		"malformed field":               {"items: {shop/logs: {selector: []}}", newLive(), nil, Decision{State: Invalid}},
		"not declared any more":         {"items: {shop/other: {}}", newLive(), nil, Decision{Action: Delete, State: Pending}},
		"not declared, while stopped":   {"items: {shop/other: {}}", newLive(), func(s *Situation) { s.IsStopped = true }, Decision{Action: Delete, State: Pending}},
		"not declared, uninstalling":    {"items: {shop/other: {}}", newLive(), func(s *Situation) { s.IsUninstalling = true }, Decision{State: Uninstalling}},
		"not declared, another manager": {"items: {shop/other: {}}", newLive("argocd-controller"), nil, Decision{State: Conflict}},
		"not declared, being deleted":   {"items: {shop/other: {}}", deleting, nil, Decision{}},
		"not declared, not labeled":     {"items: {shop/other: {}}", unlabeled, nil, Decision{}},
		"null":                          {"items: {shop/logs: null, shop/other: {}}", newLive(), nil, Decision{Action: Delete, State: Pending}},
		"no items":                      {"items: {}", newLive(), nil, Decision{State: NotDeleted}},
		"only items of the other kind":  {"clusterItems: {all: {}}", newLive(), nil, Decision{State: NotDeleted}},
		"no items, allowed":             {"{items: {}, allowEmpty: true}", newLive(), nil, Decision{Action: Delete, State: Pending}},
	} {
		t.Run(name, func(t *testing.T) {
			sidecars, err := Parse(map[string]string{Key: test.values})
			require.NoError(t, err)
			situation := &Situation{Declared: sidecars, Key: types.NamespacedName{Namespace: "shop", Name: "logs"}, Live: test.live, Owner: owner}
			if test.change != nil {
				test.change(situation)
			}
			decision := situation.Decide()
			require.Equal(t, decision.State != "", decision.Message != "")
			decision.Message = ""
			require.Equal(t, test.want, decision)
		})
	}
}

// If the values do not declare VectorSidecars, existing objects are not changed.
func TestSituation_ChangesNothingIfDisabled(t *testing.T) {
	sidecars, err := Parse(map[string]string{"development.yaml": "{}"})
	require.NoError(t, err)
	require.Zero(t, (&Situation{Declared: sidecars, Key: types.NamespacedName{Namespace: "shop", Name: "logs"}, Live: newLive(), Owner: owner}).Decide())
}

// An installation cannot have objects of disabled kinds, or in namespaces that it does not watch.
func TestScopeObstacle_NamesTheSetting(t *testing.T) {
	for name, test := range map[string]struct {
		key        types.NamespacedName
		namespaces []string
		clusters   bool
		want       string
	}{
		"all namespaces":        {key: types.NamespacedName{Namespace: "shop", Name: "logs"}},
		"watched namespace":     {key: types.NamespacedName{Namespace: "shop", Name: "logs"}, namespaces: []string{"pay", "shop"}},
		"other namespace":       {key: types.NamespacedName{Namespace: "shop", Name: "logs"}, namespaces: []string{"pay"}, want: "watchNamespaces"},
		"enabled cluster kind":  {key: types.NamespacedName{Name: "logs"}, clusters: true},
		"disabled cluster kind": {key: types.NamespacedName{Name: "logs"}, want: "clusterVectorSidecars.enabled"},
	} {
		t.Run(name, func(t *testing.T) {
			obstacle := ScopeObstacle(test.key, test.namespaces, test.clusters)
			require.Equal(t, test.want == "", obstacle == "", obstacle)
			require.Contains(t, obstacle, test.want)
		})
	}
}

func TestParse_RejectsInvalidKeys(t *testing.T) {
	for name, text := range map[string]string{
		"no namespace":             "items: {logs: {}}",
		"upper case":               "items: {shop/Logs: {}}",
		"two slashes":              "items: {shop/logs/more: {}}",
		"namespace of a cluster":   "clusterItems: {shop/logs: {}}",
		"unknown key":              "itmes: {shop/logs: {}}",
		"list in place of the map": "items: []",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(map[string]string{Key: text})
			require.ErrorContains(t, err, Key)
		})
	}
}
