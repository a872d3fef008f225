// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"crypto/tls"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

type policy = rbacv1.PolicyRule

func rule(group, resource string, verbs ...string) policy {
	return policy{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// workRules are the permissions that reconciles need in a namespace.
func workRules() []policy {
	return []policy{
		rule("apps", "deployments", "get", "list", "watch", "patch"),
		rule("apps", "replicasets", "list"),
		rule("", "configmaps", "get", "list", "watch", "create", "update", "delete"),
		rule("observability.kontroloop.ai", "vectorsidecars", "get", "list", "watch", "patch"),
		rule("observability.kontroloop.ai", "vectorsidecars/status", "get", "patch"),
		rule("observability.kontroloop.ai", "vectorsidecars/finalizers", "update"),
		rule("events.k8s.io", "events", "create", "patch"),
	}
}

// grants are the permissions of a ServiceAccount, in the cluster and by namespace.
type grants struct {
	cluster []policy
	rules   map[string][]policy
}

// serviceAccount creates a ServiceAccount with permissions and returns its name.
func serviceAccount(t *testing.T, namespace string, granted grants) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "account-"}}
	world.Create(t, account)
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: account.Name}}
	if len(granted.cluster) > 0 {
		named := metav1.ObjectMeta{Name: account.Name}
		world.Create(t, &rbacv1.ClusterRole{ObjectMeta: named, Rules: granted.cluster},
			&rbacv1.ClusterRoleBinding{ObjectMeta: named, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: account.Name}})
	}
	for in, rules := range granted.rules {
		named := metav1.ObjectMeta{Namespace: in, Name: account.Name}
		world.Create(t, &rbacv1.Role{ObjectMeta: named, Rules: rules},
			&rbacv1.RoleBinding{ObjectMeta: named, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account.Name}})
	}
	return account.Name
}

// token requests a token of a ServiceAccount.
func token(t *testing.T, namespace, account string) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(world.Config)
	require.NoError(t, err)
	issued, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	return issued.Status.Token
}

// get returns the HTTP status of a probe, or 0 if the connection fails.
func get(t *testing.T, address, path string) int {
	t.Helper()
	client := &http.Client{Timeout: 5 * time.Second}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	require.NoError(t, err)
	response, err := client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

// scraped is the answer to a scrape.
type scraped struct {
	status int
	text   string
	// certificate is the serial number of the server's certificate.
	certificate string
}

// scrape requests metrics, without a token if it is empty. The status is 0 if the connection fails.
func scrape(t *testing.T, address, token string) scraped {
	t.Helper()
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/metrics", nil)
	require.NoError(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return scraped{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return scraped{response.StatusCode, string(text), response.TLS.PeerCertificates[0].SerialNumber.String()}
}
