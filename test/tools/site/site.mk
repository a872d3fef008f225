# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

SITE := $(MODULES)/site

# Debian's name of the browser, and names on other systems.
BROWSER ?= $(firstword $(foreach name,chromium-headless-shell chromium chromium-browser google-chrome,$(shell command -v $(name))))

##@ Documentation site

.PHONY: docs test-site docs-requirements
docs: ## Build the documentation site in bin/docs/site, with Python, npm and their registries. SKIPPED if one of them is missing.
	@$(SITE)/build.sh

test-site: docs ## Read the documentation site with a headless Chromium, the program that BROWSER names: links, search, diagrams, and requests to other hosts. Writes a picture of the start page to bin/docs/site.png.
	@if [ ! -e $(BIN)/docs/site/index.html ]; then echo 'SKIPPED: the documentation site is not tested, because it is not built'; \
	elif [ -z '$(BROWSER)' ]; then echo 'SKIPPED: the documentation site is not tested, because there is no Chromium here: name the program in BROWSER, or put it into PATH'; \
	else cd $(SITE) && BROWSER='$(BROWSER)' go test -count=1 -v .; fi

docs-requirements: ## Pin the generator of the documentation site, and the packages that it needs, by hash.
	python3 -m venv $(BIN)/docs/uv
	$(BIN)/docs/uv/bin/pip install --quiet uv
	cd $(SITE) && $(CURDIR)/$(BIN)/docs/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	  --custom-compile-command 'make docs-requirements' requirements.in -o requirements.txt
