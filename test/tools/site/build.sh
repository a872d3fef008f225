#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

# Builds the documentation site in bin/docs/site: make docs. If a program is missing or a registry cannot be reached, it
# prints SKIPPED and succeeds. A broken link, and a download that does not have its hash, are errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
tool=test/tools/site
out=bin/docs

skip() {
  echo "SKIPPED: the documentation site is not built: $1"
  exit
}

rm -rf "$out/pages" "$out/theme" "$out/site"
mkdir -p "$out"

python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || skip 'it needs Python 3.11 or later, with venv'
if ! cmp -s "$tool/requirements.txt" "$out/venv/requirements.txt"; then
  echo "installing the generator of the documentation site"
  rm -rf "$out/venv"
  python3 -m venv "$out/venv"
  if ! "$out/venv/bin/pip" install --quiet --retries 2 --timeout 60 --require-hashes --only-binary :all: -r "$tool/requirements.txt" 2>"$out/pip.log"; then
    cat "$out/pip.log"
    if grep -q "DO NOT MATCH THE HASHES" "$out/pip.log"; then exit 1; fi
    skip 'pip cannot install the generator'
  fi
  cp "$tool/requirements.txt" "$out/venv/"
fi

mermaid=$(awk '{print $2}' "$tool/mermaid.sha512")
if [ ! -e "$out/$mermaid" ]; then
  command -v npm >/dev/null || skip 'it needs npm'
  package=${mermaid%.tgz}
  (cd "$out" && npm pack --silent --fetch-retries=1 --fetch-timeout=60000 "${package/-/@}" >/dev/null) || skip 'npm cannot download Mermaid'
fi
if ! (cd "$out" && sha512sum --check --quiet) <"$tool/mermaid.sha512"; then
  rm "$out/$mermaid"
  exit 1
fi

go run ./test/site "$out"
cp -R "$tool/theme" "$out/theme"
mkdir -p "$out/pages/assets"
tar -xzf "$out/$mermaid" -C "$out/pages/assets" --strip-components=2 package/dist/mermaid.min.js
tar -xzOf "$out/$mermaid" package/LICENSE >"$out/pages/assets/mermaid.LICENSE.txt"
(cd "$out" && NO_COLOR=1 venv/bin/zensical build --strict --clean)
