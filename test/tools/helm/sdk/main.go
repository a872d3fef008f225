// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command helm-sdk uninstalls a release by Helm's SDK, as a program does that has the
// SDK built in: what it makes in the cluster, the SDK writes under the program's name.
package main

import (
	"fmt"
	"os"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/cli"
)

// patience is as long as that of helm.
const patience = 5 * time.Minute

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: helm-sdk NAMESPACE RELEASE")
		os.Exit(2)
	}
	if err := uninstall(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func uninstall(namespace, release string) error {
	settings := cli.New() // The cluster is that of KUBECONFIG.
	settings.SetNamespace(namespace)
	configuration := &action.Configuration{}
	quietly := func(string, ...any) {}
	if err := configuration.Init(settings.RESTClientGetter(), namespace, "", quietly); err != nil {
		return fmt.Errorf("reaching the cluster: %w", err)
	}
	uninstall := action.NewUninstall(configuration)
	uninstall.Timeout = patience
	if _, err := uninstall.Run(release); err != nil {
		return fmt.Errorf("uninstalling release %s/%s: %w", namespace, release, err)
	}
	return nil
}
