// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// tokenSeconds is the lifetime of a ServiceAccount's token, which is longer than a demo runs.
const tokenSeconds = 24 * 60 * 60

// KubeconfigFor writes a kubeconfig that acts as an existing ServiceAccount, in
// its namespace, and returns its path. It asks the API server for the token, as a
// kubelet would; the token lasts a day.
func (c *ControlPlane) KubeconfigFor(ctx context.Context, namespace, serviceAccount string) (string, error) {
	client, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return "", fmt.Errorf("making the administrator's client: %w", err)
	}
	seconds := int64(tokenSeconds)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, serviceAccount, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("requesting a token for ServiceAccount \"%s/%s\": %w", namespace, serviceAccount, err)
	}
	config := rest.AnonymousClientConfig(c.config)
	config.BearerToken = token.Status.Token
	return c.writeKubeconfig(namespace+"."+serviceAccount, namespace, config)
}

// ComponentKubeconfig writes the kubeconfig of one of the cluster's programs, with its usual user name, so that its
// requests can be distinguished. It returns its path.
func (c *ControlPlane) ComponentKubeconfig(name string) (string, error) {
	user, err := c.base.AddUser(envtest.User{Name: "system:" + name, Groups: []string{"system:masters"}}, &rest.Config{})
	if err != nil {
		return "", fmt.Errorf("making user \"system:%s\": %w", name, err)
	}
	return c.writeKubeconfig(name, "default", user.Config())
}

func (c *ControlPlane) writeKubeconfig(name, namespace string, config *rest.Config) (string, error) {
	const cluster = "control-plane"
	path := filepath.Join(c.dir, "kubeconfigs", name+".yaml")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			cluster: {Server: config.Host, CertificateAuthorityData: config.CAData},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			name: {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken},
		},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: cluster, AuthInfo: name, Namespace: namespace}},
		CurrentContext: name,
	}, path)
	if err != nil {
		return "", fmt.Errorf("writing kubeconfig %q: %w", name, err)
	}
	return path, nil
}
