// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// checkStart reports valid options with values that Vector rejects when it starts a sink or creates a
// transform.
func (c *checker) checkStart(comp *component) {
	if comp.kind != sink {
		if comp.hasType("reduce") {
			c.checkStrategies(comp)
		}
		return
	}
	c.checkHeaders(comp)
	c.checkStages(comp)
	switch {
	case comp.hasType("loki"):
		c.checkLabels(comp)
	case comp.hasType("socket"):
		c.checkPort(comp)
	}
}

// checkStages reports a buffer stage that is not the last one and does not overflow into the next stage, and a
// last stage that overflows.
func (c *checker) checkStages(comp *component) {
	stages := buffersOfType(comp, "disk", "memory", "")
	if total := len(comp.options.get("buffer").items); total > 0 && total != len(stages) {
		return // One of them is not known.
	}
	for i, stage := range stages {
		full := stage.get("when_full")
		isKnown := full.form == null && !c.hasOpenKey(stage) || full.form == text && !c.isDynamic(full.scalar)
		isLast, overflows := i == len(stages)-1, full.scalar == "overflow"
		switch path := comp.path + ".buffer.when_full"; {
		case isKnown && isLast && overflows:
			c.add(noSuchValue, full.pos, path, c.hasOptionTable, "the last stage of the buffer cannot overflow, because no stage follows", help("write block or drop_newest, or add a stage"))
		case isKnown && !isLast && !overflows:
			c.add(noSuchValue, stage.pos, path, c.hasOptionTable, "a stage of the buffer that does not overflow is not the last", help("write when_full: overflow, or remove the stages after it"))
		}
	}
}

// labelName matches a label name that Loki accepts. A name with a * at the end is the prefix of several labels.
var labelName = regexp.MustCompile(`^(?:\*|[A-Za-z_][A-Za-z0-9_]*\*?)$`)

// checkLabels reports a Loki sink without labels, and label names that Loki does not accept.
func (c *checker) checkLabels(comp *component) {
	labels := comp.options.get("labels")
	if labels.form == table && len(labels.entries) == 0 {
		c.add(missingOption, labels.pos, comp.path+".labels", c.hasOptionTable, "a Loki sink needs at least one label", help("add a label, such as app: NAME"))
	}
	for _, e := range labels.entries {
		if name := strings.TrimSpace(e.key); !c.isOpenText(name) && !strings.Contains(name, "%") && !labelName.MatchString(name) {
			c.add(noSuchValue, e.pos, joinPath(comp.path+".labels", e.key), c.hasOptionTable, "%q is not a valid label name in Loki", e.key, help("use letters, digits and _, and do not start with a digit; structured_metadata accepts other names"))
		}
	}
}

// checkPort reports a socket sink with an address that does not contain a port.
func (c *checker) checkPort(comp *component) {
	address, mode := comp.options.get("address"), comp.options.get("mode").scalar
	if address.form != text || c.isOpenText(address.scalar) || mode != "tcp" && mode != "udp" {
		return
	}
	if wrong := wrongHostAndPort(address.scalar); wrong != "" {
		c.add(noSuchValue, address.pos, comp.path+".address", c.hasOptionTable, "%s.address is %q: %s", comp.path, address.scalar, wrong, help("write HOST:PORT"))
	}
}

// indexed matches a field path with a list index. The transform reduce does not merge such paths.
var indexed = regexp.MustCompile(`^(?:[^"\[]|` + pathQuoted + `)*\[`)

// checkStrategies reports invalid field paths in merge_strategies of a reduce transform.
func (c *checker) checkStrategies(comp *component) {
	for _, e := range comp.options.get("merge_strategies").entries {
		wrong := wrongTargetPath(e.key)
		if wrong == "" && indexed.MatchString(e.key) {
			wrong = "no part of a list is merged"
		}
		if wrong != "" && !c.isDynamic(e.key) {
			c.add(noSuchValue, e.pos, joinPath(comp.path+".merge_strategies", e.key), c.hasOptionTable && c.version.minor == vectoroptions.Schema, "%q: %s", e.key, wrong)
		}
	}
}
