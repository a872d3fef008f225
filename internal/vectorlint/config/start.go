// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// checkStart finds options that Vector reads, and rejects when it starts a sink or creates a transform.
func (c *checker) checkStart(one *component) {
	if one.kind != sink {
		if one.is("reduce") {
			c.checkStrategies(one)
		}
		return
	}
	c.checkHeaders(one)
	c.checkStages(one)
	switch {
	case one.is("loki"):
		c.checkLabels(one)
	case one.is("socket"):
		c.checkPort(one)
	}
}

// checkStages requires that each stage of a buffer except the last overflows into the next one.
func (c *checker) checkStages(one *component) {
	stages := buffers(one, "disk", "memory", "")
	if all := len(one.options.get("buffer").items); all > 0 && all != len(stages) {
		return // One of them is not known.
	}
	for i, stage := range stages {
		full := stage.get("when_full")
		isKnown := full.form == null && !c.hasOpenKey(stage) || full.form == text && !c.isDynamic(full.scalar)
		isLast, overflows := i == len(stages)-1, full.scalar == "overflow"
		switch path := one.path + ".buffer.when_full"; {
		case isKnown && isLast && overflows:
			c.add(noSuchValue, full.at, path, c.isTabled, "the last stage of the buffer cannot overflow, because no stage follows", help("write block or drop_newest, or add a stage"))
		case isKnown && !isLast && !overflows:
			c.add(noSuchValue, stage.at, path, c.isTabled, "a stage of the buffer that does not overflow is not the last", help("write when_full: overflow, or leave out the stages behind it"))
		}
	}
}

// labelName matches a label that Loki accepts. With a * at its end, it is the start of several labels.
var labelName = regexp.MustCompile(`^(?:\*|[A-Za-z_][A-Za-z0-9_]*\*?)$`)

// checkLabels requires at least one label, and names that Loki accepts.
func (c *checker) checkLabels(one *component) {
	labels := one.options.get("labels")
	if labels.form == table && len(labels.entries) == 0 {
		c.add(missingOption, labels.at, one.path+".labels", c.isTabled, "a Loki sink needs at least one label", help("add a label, such as app: NAME"))
	}
	for _, e := range labels.entries {
		if name := strings.TrimSpace(e.key); !c.isOpen(name) && !strings.Contains(name, "%") && !labelName.MatchString(name) {
			c.add(noSuchValue, e.at, join(one.path+".labels", e.key), c.isTabled, "%q is not a valid label name in Loki", e.key, help("use letters, digits and _, and do not start with a digit; structured_metadata accepts other names"))
		}
	}
}

// checkPort requires a port in the address that a socket connects to.
func (c *checker) checkPort(one *component) {
	address, mode := one.options.get("address"), one.options.get("mode").scalar
	if address.form != text || c.isOpen(address.scalar) || mode != "tcp" && mode != "udp" {
		return
	}
	if wrong := wrongHostAndPort(address.scalar); wrong != "" {
		c.add(noSuchValue, address.at, one.path+".address", c.isTabled, "%s.address is %q: %s", one.path, address.scalar, wrong, help("write HOST:PORT"))
	}
}

// indexed matches a path with an index of a list, which reduce does not merge.
var indexed = regexp.MustCompile(`^(?:[^"\[]|` + pathQuoted + `)*\[`)

// checkStrategies requires paths of fields in the strategies of reduce.
func (c *checker) checkStrategies(one *component) {
	for _, e := range one.options.get("merge_strategies").entries {
		wrong := wrongTargetPath(e.key)
		if wrong == "" && indexed.MatchString(e.key) {
			wrong = "no part of a list is merged"
		}
		if wrong != "" && !c.isDynamic(e.key) {
			c.add(noSuchValue, e.at, join(one.path+".merge_strategies", e.key), c.isTabled && c.version.minor == vectoroptions.Schema, "%q: %s", e.key, wrong)
		}
	}
}
