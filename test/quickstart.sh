#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

# Shows the kubectl plugin on the samples. It needs no cluster. A command that ends in another way than shown here fails.
set -euo pipefail
cd "$(dirname "$0")/.."

plugin=bin/kubectl-vectorsidecar
files='-f docs/samples/app/deployment.yaml --sidecar docs/samples/02-logs.yaml'
step=0

# show TITLE TEXT COMMAND [EXIT CODE]
show() {
  local code=0
  step=$((step + 1))
  printf '\n%d. %s\n   %s\n\n   $ %s\n' "$step" "$1" "$2" "$3"
  bash -c "$3" 2>&1 | sed 's/^/   /' || code=$?
  if [ "$code" != "${4:-0}" ]; then
    echo "quickstart: the command ended with $code instead of ${4:-0}" >&2
    exit 1
  fi
}

echo 'The kubectl plugin on the sample application shop/cart, without a cluster.'
show 'Explain why the application has no sidecar' \
  'The VectorSidecar selects Deployments by label, and cart does not have that label.' \
  "$plugin explain cart $files"
show 'Add the label' \
  'Only the label changes the result. --label adds it for this command.' \
  "$plugin explain cart $files --label logs=vector"
show 'See the change of the Deployment' \
  'Vector mounts the log volume of the application. Without grep, you see every line.' \
  "$plugin diff $files --label logs=vector | grep -E '^(# |\\+.*(image|mountPath|injected):)'"
show 'Plan the rollout' \
  'The plan lists the changes in their order, the restarts, and the resources that they need.' \
  "$plugin plan $files --label logs=vector"
show 'Find a typo' \
  'lint checks values, templates, VectorSidecars and Vector configurations. It exits with 1 if it finds something.' \
  "sed 's/path:/pth:/' docs/samples/02-logs.yaml | $plugin lint -" 1
show 'Find the origin of a value' \
  'Values come from layers: built-in defaults, the environment, the installation, the namespace, the VectorSidecar, and the workload.' \
  "$plugin render $files --label logs=vector --environment production --explain-values | grep -E '^sidecar.(logLevel|logs.path|name|resources)' | tr -s ' '"

cat <<'E2'

Try next:
   make demo                                     the operator on a control plane of its own; builds Kubernetes first, 10 to 15 minutes
   bin/kubectl-vectorsidecar lint YOUR-FILE      check your own Vector configuration or VectorSidecar
   docs/README.md                                all pages by task; README.md, Install: your own cluster
   docs/tutorials/kind.md                        a cluster of kind in Docker or Podman
E2
