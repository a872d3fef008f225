// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// clusterOf returns an in-memory API server with some objects.
func clusterOf(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.VectorSidecar{}).Build()
}

// The check fails for a Kubernetes version that is too old, and warns about one without native sidecars.
func TestCheckVersion_ChecksSupportedKubernetesVersions(t *testing.T) {
	for version, state := range map[string]State{
		"v1.24.17": Failed, "v1.25.0": Warning, "v1.28.9": Warning, "v1.29.0": OK, "v1.36.0": OK, "v1.36.0-gke.1": OK, "one": Unknown,
	} {
		t.Run(version, func(t *testing.T) {
			require.Equal(t, state, (&Diagnosis{KubeVersion: version}).checkVersion().State)
		})
	}
}

// The check names the node with the oldest kubelet, and warns if that kubelet does not support native sidecars.
func TestCheckKubelets_ChecksOldestKubelet(t *testing.T) {
	reads, blind := &source.Installation{ReadsNodes: true}, &source.Installation{}
	for name, test := range map[string]struct {
		server       string
		oldest       desired.Kubelet
		err          error
		installation *source.Installation
		state        State
		says         string
	}{
		"new enough":            {"v1.36.0", desired.Kubelet{Version: "v1.34.1", Node: "a"}, nil, blind, OK, "v1.34.1, of node a"},
		"an old pool":           {"v1.36.0", desired.Kubelet{Version: "v1.28.5", Node: "a"}, nil, reads, Warning, "stay in Init"},
		"nobody tells":          {"v1.30.0", desired.Kubelet{Version: "v1.30.0", Node: "a"}, nil, blind, OK, "assumes kubelets of version v1.27.0"},
		"nobody tells, no need": {"v1.33.0", desired.Kubelet{Version: "v1.33.0", Node: "a"}, nil, blind, OK, "v1.33.0, of node a"},
		"the operator reads it": {"v1.30.0", desired.Kubelet{Version: "v1.30.0", Node: "a"}, nil, reads, OK, "v1.30.0, of node a"},
		"no nodes":              {"v1.36.0", desired.Kubelet{}, nil, nil, OK, "no node"},
		"no permission":         {"v1.36.0", desired.Kubelet{}, errors.New("nodes is forbidden"), nil, Unknown, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Diagnosis{KubeVersion: test.server, OldestKubelet: func(context.Context) (desired.Kubelet, error) { return test.oldest, test.err }}
			found := d.checkKubelets(t.Context(), test.installation)
			require.Equal(t, test.state, found.State)
			require.Contains(t, found.Message, test.says)
		})
	}
}

// The result names the operators in the cluster that the check did not examine.
func TestFindInstallation_NamesOtherOperators(t *testing.T) {
	operator := func(namespace string) client.Object {
		one := objects.NewDeployment("vso", namespace).Labeled("app.kubernetes.io/component", "operator").Pod(func(pod *corev1.PodSpec) {
			pod.Containers[0].Args = []string{"--environments-configmap=values"}
		}).Build()
		one.Status.AvailableReplicas = 1
		return one
	}
	cluster := clusterOf(t, operator("a-system"), operator("b-system"))
	_, found := (&Diagnosis{Cluster: cluster}).findInstallation(t.Context())
	require.Equal(t, OK, found.State)
	require.Contains(t, found.Message, "Deployment a-system/vso, ")
	require.Contains(t, found.Message, "; others are not checked without --operator-namespace: b-system/vso")
	_, found = (&Diagnosis{Cluster: cluster, OperatorNamespace: "b-system"}).findInstallation(t.Context())
	require.NotContains(t, found.Message, "others")
}

// The check warns about mutating webhooks of other products that change workloads.
func TestCheckInjectors_NamesWebhooksThatChangeWorkloads(t *testing.T) {
	injector := func(name, group, resource string) *admissionregistrationv1.MutatingWebhookConfiguration {
		configuration := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
		configuration.Webhooks = []admissionregistrationv1.MutatingWebhook{{Rules: []admissionregistrationv1.RuleWithOperations{{
			Rule: admissionregistrationv1.Rule{APIGroups: []string{group}, Resources: []string{resource}},
		}}}}
		return configuration
	}
	for name, test := range map[string]struct {
		cluster client.Client
		state   State
		says    string
	}{
		"none":                 {clusterOf(t), OK, "none"},
		"one of pods":          {clusterOf(t, injector("mesh", "", "pods")), OK, "webhooks mesh change pods; no webhook changes workloads"},
		"one of Deployments":   {clusterOf(t, injector("mesh", "", "pods"), injector("rules", "apps", "deployments")), Warning, "these webhooks change workloads: rules"},
		"one of all there is":  {clusterOf(t, injector("all", "*", "*")), Warning, "all"},
		"one of something":     {clusterOf(t, injector("dns", "", "services")), OK, "none"},
		"one of what they own": {clusterOf(t, injector("scale", "apps", "deployments/scale")), OK, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			found := (&Diagnosis{Cluster: test.cluster}).checkInjectors(t.Context())
			require.Equal(t, test.state, found.State)
			require.Contains(t, found.Message, test.says)
		})
	}
}

func TestCheckSidecars_CountsSidecarsWithErrors(t *testing.T) {
	sidecar := func(name string, status metav1.ConditionStatus) *v1alpha1.VectorSidecar {
		one := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		one.Status.Conditions = []metav1.Condition{{Type: meta.ConditionError, Status: status, Reason: "Conflict"}}
		return one
	}
	d := &Diagnosis{Cluster: clusterOf(t, sidecar("a", metav1.ConditionFalse))}
	require.Equal(t, Result{"VectorSidecars", OK, "none of 1 VectorSidecars has an error", ""}, d.checkSidecars(t.Context()))

	d = &Diagnosis{Cluster: clusterOf(t, sidecar("a", metav1.ConditionFalse), sidecar("b", metav1.ConditionTrue))}
	found := d.checkSidecars(t.Context())
	require.Equal(t, Warning, found.State)
	require.Equal(t, "1 of 2 VectorSidecars have errors: shop/b (Conflict)", found.Message)
}

// A template set can be loaded, but its rendering fails for some VectorSidecars. The check reports the file and line of
// the error.
func TestCheckSidecars_ReportsTemplateErrorsWithLine(t *testing.T) {
	const place = "vector-sidecar/templates/_container.tpl:12:3"
	conditions := func(reason string) []metav1.Condition {
		return []metav1.Condition{
			{Type: meta.ConditionError, Status: metav1.ConditionTrue, Reason: reason},
			{Type: meta.ConditionConfigValid, Status: metav1.ConditionFalse, Reason: reason, Message: strings.Repeat("set sidecar.image. ", 30) + "(" + place + ")"},
		}
	}
	bad := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "bad"}}
	bad.Status.Conditions = conditions(meta.ReasonInvalidTemplate)
	other := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other"}}
	other.Status.Conditions = conditions(meta.ReasonInvalidSelector)
	all := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	all.Status.Conditions = conditions(meta.ReasonInvalidSidecar)

	found := (&Diagnosis{Cluster: clusterOf(t, bad, other, all)}).checkSidecars(t.Context())

	require.Equal(t, Warning, found.State)
	require.Contains(t, found.Message, "3 of 3 VectorSidecars have errors: clustervectorsidecar/all (InvalidSidecar), shop/bad (InvalidTemplate), shop/other (InvalidSelector); clustervectorsidecar/all: "+place)
	require.Contains(t, found.Message, "; shop/bad: "+place+": set sidecar.image. ")
	require.NotContains(t, found.Message, "shop/other: ")
	require.Less(t, len(found.Message), 900)
}

// The message names ten leftover sidecars at most, and the number of the others.
func TestDescribeLeftovers_TruncatesListOfLeftovers(t *testing.T) {
	var found []companion.Leftover
	for range 12 {
		found = append(found, companion.Leftover{Sidecar: "logs", Reason: "why"})
	}
	require.Contains(t, describeLeftovers(found), "has a leftover sidecar of VectorSidecar logs, which does not exist: why; and 2 more")
	require.NotContains(t, describeLeftovers(found[:10]), "more")
}

// issued returns a certificate for a webhook's Service, valid for an hour from a time, and
// the same as a CA.
func issued(t *testing.T, service string, from time.Time) (*tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: from.Add(time.Hour), DNSNames: []string{service},
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(signed)
	require.NoError(t, err)
	return &tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key, Leaf: leaf}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
}

// A certificate is accepted if the API server would accept it: it is valid now, signed by the CA and for the name of
// the Service.
func TestCheckCertificateAccepted_VerifiesAsAPIServer(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	service := &admissionregistrationv1.ServiceReference{Namespace: "vector-system", Name: "vso"}
	good, bundle := issued(t, "vso.vector-system.svc", now)
	other, otherBundle := issued(t, "else.vector-system.svc", now)
	for name, test := range map[string]struct {
		served *tls.Certificate
		bundle []byte
		at     time.Time
		says   string
	}{
		"as it should be":      {good, bundle, now, ""},
		"of another authority": {good, otherBundle, now, "certificate is not signed by a CA in the caBundle"},
		"of another Service":   {other, otherBundle, now, "vso.vector-system.svc"},
		"too old":              {good, bundle, now.Add(2 * time.Hour), "certificate expired on 2026-11-22"},
		"too new":              {good, bundle, now.Add(-time.Hour), "certificate is not valid before 2026-11-22"},
		"trusted by nobody":    {good, nil, now, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Diagnosis{Now: func() time.Time { return test.at }}
			requireSays(t, test.says, d.checkCertificateAccepted(&caller{service: service, bundle: test.bundle}, test.served))
		})
	}
}

// The values of an environment are checked with the schema of its template set, which may be invalid itself.
func TestCheckValues_ChecksSchemasOfTemplateSets(t *testing.T) {
	files, err := render.ReadFiles(vectorsidecar.FS)
	require.NoError(t, err)
	set := func(name, schema string) corev1.ConfigMap {
		return corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "vector-system", Name: "vso-templates-" + name, Labels: map[string]string{meta.LabelTemplateSet: name}},
			Data:       map[string]string{"values.schema.json": schema},
		}
	}
	anything, broken := set("any", `{"type": "object"}`), set("broken", `{`)
	const team, ofAny = "sidecar: {team: x}\n", "templateSet: any\n"
	for name, test := range map[string]struct {
		values map[string]string
		sets   []corev1.ConfigMap
		state  State
		says   string
	}{
		"of the built-in set":              {map[string]string{"qa.yaml": "sidecar: {logLevel: warn}\n"}, nil, OK, "environments development, production, qa, staging, default qa"},
		"unknown to the built-in set":      {map[string]string{"qa.yaml": team}, nil, Failed, "ConfigMap vector-system/vso-environments qa.yaml:1: sidecar.team: unknown key"},
		"of a set that an environment has": {map[string]string{"qa.yaml": ofAny + team}, []corev1.ConfigMap{anything}, OK, "default qa"},
		"of one that another one has":      {map[string]string{"qa.yaml": team, "other.yaml": ofAny}, []corev1.ConfigMap{anything}, Failed, "qa.yaml:1: sidecar.team: unknown key"},
		"of a set in place of the default": {map[string]string{"qa.yaml": team}, []corev1.ConfigMap{set("default", `{"type": "object"}`)}, OK, "default qa"},
		"for a set that there is not":      {map[string]string{"qa.yaml": ofAny}, nil, Failed, `environment "qa": template set "any" does not exist`},
		"for a set that cannot be loaded":  {map[string]string{"qa.yaml": "templateSet: broken\n"}, []corev1.ConfigMap{broken}, Failed, `template set "broken", ConfigMap vector-system/vso-templates-broken: `},
		"with a policy that is none":       {map[string]string{"policy": "overides: {}\n"}, nil, Failed, "ConfigMap vector-system/vso-environments policy:1: overides: unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			catalog, err := desired.NewCatalog(files)
			require.NoError(t, err)
			installation := &source.Installation{Namespace: "vector-system", ValuesFrom: "vso-environments", Environment: "qa", Values: test.values, TemplateSets: test.sets}
			found := (&Diagnosis{Catalog: catalog}).checkValues(installation)
			require.Equal(t, test.state, found.State, found.Message)
			require.Equal(t, 1, strings.Count(found.Message, test.says), found.Message)
		})
	}
}

// With preflight, the operator has permission to create pods. The check requires an admission policy that denies these
// creates unless they are dry runs.
func TestCheckPreflight_RequiresPolicyAgainstPodCreates(t *testing.T) {
	installation := &source.Installation{Namespace: "vector-system", Name: "vso", Preflight: true}
	policy := func(fails admissionregistrationv1.FailurePolicyType) client.Object {
		return &admissionregistrationv1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "vector-system.vso.preflight"},
			Spec:       admissionregistrationv1.ValidatingAdmissionPolicySpec{FailurePolicy: &fails},
		}
	}
	binding := func(action admissionregistrationv1.ValidationAction) client.Object {
		return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "vector-system.vso.preflight"},
			Spec:       admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{ValidationActions: []admissionregistrationv1.ValidationAction{action}},
		}
	}
	for name, test := range map[string]struct {
		objects []client.Object
		want    State
	}{
		"as installed":           {[]client.Object{policy(admissionregistrationv1.Fail), binding(admissionregistrationv1.Deny)}, OK},
		"no policy":              {nil, Failed},
		"no binding":             {[]client.Object{policy(admissionregistrationv1.Fail)}, Failed},
		"one that only warns":    {[]client.Object{policy(admissionregistrationv1.Fail), binding(admissionregistrationv1.Warn)}, Failed},
		"one that may be fooled": {[]client.Object{policy(admissionregistrationv1.Ignore), binding(admissionregistrationv1.Deny)}, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			d := Diagnosis{Cluster: clusterOf(t, test.objects...)}
			results := d.checkPreflight(t.Context(), installation)
			require.Len(t, results, 1)
			require.Equal(t, test.want, results[0].State)
		})
	}
	d := Diagnosis{Cluster: clusterOf(t)}
	require.Empty(t, d.checkPreflight(t.Context(), &source.Installation{}))
}

// The values list a template set, but its ConfigMap does not exist. The check reports this as a fault after one minute.
func TestDiagnosis_ReportsMissingTemplateSets(t *testing.T) {
	written := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	installation := &source.Installation{
		Namespace: "vector-system", ValuesFrom: "vso-environments", Environment: "development", Values: map[string]string{"development.yaml": "{}"},
		Annotations: map[string]string{meta.AnnotationTemplateSets: `{"vso-templates-gateway": "0123456789abcdef"}`},
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "helm", Time: &metav1.Time{Time: written},
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + meta.AnnotationTemplateSets + `":{}}}}`),
		}},
	}
	for after, state := range map[time.Duration]State{59 * time.Second: OK, time.Minute: Failed} {
		files, err := render.ReadFiles(vectorsidecar.FS)
		require.NoError(t, err)
		catalog, err := desired.NewCatalog(files)
		require.NoError(t, err)
		d := &Diagnosis{Catalog: catalog, Now: func() time.Time { return written.Add(after) }}
		result := d.checkValues(installation)
		require.Equal(t, state, result.State)
		if state == Failed {
			require.Contains(t, result.Message, "ConfigMap vector-system/vso-templates-gateway does not exist")
		}
	}
}
