// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"fmt"
	"io"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// resource is the full resource name of VectorSidecars, which is unique.
var resource = "vectorsidecars." + v1alpha1.GroupVersion.Group

// isUninstalling reports whether the Job of this process was created because the release is being uninstalled.
// If the Job came with applied manifests, it writes a description of the skipped action to the progress output.
// The error contains the commands for a manual uninstall.
func isUninstalling(ctx context.Context, live *livelist.Client, options Options, progress io.Writer) (bool, error) {
	var job batchv1.Job
	name := types.NamespacedName{Namespace: options.Operator.Namespace, Name: options.Job}
	if err := live.Get(ctx, name, &job); err != nil {
		return false, fmt.Errorf("not uninstalling: reading who created Job %s: %w; to uninstall by hand: %s", name, err, manualSteps(&options))
	}
	jobCause, makers := findCause(&job, options.Clients)
	creators := quoteManagers(makers)
	switch jobCause {
	case uninstalling:
		return true, nil
	case applied:
		sidecars, err := listRemaining(ctx, live, &options.Operator)
		if err != nil {
			return false, err
		}
		printLine(progress, "Job %s changes nothing, because %s created it with applied manifests: helm uninstall was not run.", name, creators)
		printLine(progress, "When a release is uninstalled, the Job would %s (uninstall.policy=%s). To omit the Job from manifests, set uninstall.hook=false.", describePolicy(options.Policy, sidecars), options.Policy)
		return false, nil
	default:
		return false, fmt.Errorf("not uninstalling: Job %s was created by %s, which is not a known Helm client; nothing is changed. If it is a Helm client, add it to uninstall.clients. To uninstall by hand: %s", name, creators, manualSteps(&options))
	}
}

// quoteManagers returns the managers that created a Job, for a message.
func quoteManagers(makers []string) string {
	if len(makers) == 0 {
		return "a client that is not in its managedFields"
	}
	return `"` + strings.Join(makers, `" and "`) + `"`
}

// describePolicy describes the action of a policy on the existing VectorSidecars.
func describePolicy(policy Policy, sidecars []metav1.PartialObjectMetadata) string {
	switch {
	case len(sidecars) == 0:
		return "find no VectorSidecars and do nothing"
	case policy == Block:
		return "fail, because there still are " + describeSidecars(sidecars)
	case policy == Orphan:
		return "delete " + describeSidecars(sidecars) + ", and keep their sidecars"
	}
	return "delete " + describeSidecars(sidecars) + ", and remove their sidecars"
}

// manualSteps returns the commands with the effect of the policy.
func manualSteps(options *Options) string {
	const end = ", then uninstall without hooks"
	scopes := []string{"-A"}
	if namespaces := options.Operator.WatchNamespaces; len(namespaces) > 0 {
		scopes = nil
		for _, namespace := range namespaces {
			scopes = append(scopes, "-n "+namespace)
		}
	}
	var getCommands, remove []string
	if options.Operator.ValuesConfigMap != "" && options.Policy != Block {
		remove = append(remove, fmt.Sprintf("kubectl annotate configmap %s -n %s %s=true", options.Operator.ValuesConfigMap, options.Operator.Namespace, meta.AnnotationUninstalling))
	}
	for _, scope := range scopes {
		getCommands = append(getCommands, fmt.Sprintf("kubectl get %s %s", resource, scope))
		remove = append(remove, fmt.Sprintf("kubectl delete %s --all %s", resource, scope))
	}
	deleteCommands := strings.Join(remove, " && ")
	switch options.Policy {
	case Block:
		return "check that no VectorSidecars exist: " + strings.Join(getCommands, " && ") + end
	case Orphan:
		return fmt.Sprintf(`while the operator runs, kubectl patch %s NAME -n NAMESPACE --type=merge -p '{"spec":{"deletionPolicy":"Orphan"}}' for each, and %s`, resource, deleteCommands) + end
	}
	return "while the operator runs, " + deleteCommands + end
}
