// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Write is the n-th writing request of its kind, counted from 1.
type Write struct {
	// Kind has the verb, content type and resource, such as "apply deployments", "create configmaps" or "merge patch
	// vectorsidecars/status".
	Kind string
	N    int
}

// String describes the write, such as "apply deployments, number 2".
func (w Write) String() string { return fmt.Sprintf("%s, number %d", w.Kind, w.N) }

// uncounted are resources whose writes are not counted.
var uncounted = []string{"leases", "events"}

// patches has names for the content types of patches.
var patches = map[string]string{
	string(types.ApplyYAMLPatchType):      "apply",
	string(types.ApplyCBORPatchType):      "apply",
	string(types.StrategicMergePatchType): "strategic merge patch",
	string(types.MergePatchType):          "merge patch",
	string(types.JSONPatchType):           "JSON patch",
}

// verbs has the verbs of the writing methods.
var verbs = map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodDelete: "delete"}

// ofCluster is the only cluster-scoped resource whose writes are counted.
const ofCluster = "clustervectorsidecars"

// KindOf returns the kind of a request, if it writes a namespaced object or a ClusterVectorSidecar.
func KindOf(request *http.Request) (kind string, counts bool) {
	verb := verbs[request.Method]
	if request.Method == http.MethodPatch {
		verb = patches[request.Header.Get("Content-Type")]
	}
	resource := resourceOf(request.URL.Path)
	if verb == "" || resource == "" || slices.Contains(uncounted, resource) {
		return "", false
	}
	kind = verb + " " + resource
	query := request.URL.Query()
	if query.Get("force") == "true" {
		kind += " by force"
	}
	if query.Has("dryRun") {
		kind += ", dry run"
	}
	return kind, true
}

// resourceOf returns RESOURCE or RESOURCE/SUBRESOURCE of a path, if it is namespaced or of a ClusterVectorSidecar.
func resourceOf(path string) string {
	_, below, found := strings.Cut(path, "/namespaces/")
	if at := strings.Index(path, "/"+ofCluster); !found && at >= 0 {
		below, found = path[at:], true
	}
	parts := strings.Split(below, "/") // The namespace, its resource, a name, a subresource.
	switch {
	case !found || len(parts) < 2:
		return ""
	case len(parts) > 3:
		return parts[1] + "/" + parts[3]
	default:
		return parts[1]
	}
}

// isWatch returns whether a request is a watch.
func isWatch(request *http.Request) bool {
	watch := request.URL.Query().Get("watch")
	return request.Method == http.MethodGet && watch != "" && watch != "0" && watch != "false"
}
