// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "slices"

// checkTests reports outputs in unit tests that do not exist. Vector checks them whenever it reads a
// configuration, and not only when it runs the tests.
func (c *checker) checkTests() {
	for i, test := range c.root.get("tests").items {
		path := "tests[" + itoa(i) + "]"
		noOutputs := c.checkTargets(path+".no_outputs_from", test.get("no_outputs_from"), nil)
		for j, output := range test.get("outputs").items {
			c.checkTargets(path+".outputs["+itoa(j)+"].extract_from", output.get("extract_from"), noOutputs)
		}
	}
}

// checkTargets reports names of outputs that do not exist, or that are in noOutputs. The value is a name or a list of
// names. The result contains the names of a list, because no_outputs_from is a list.
func (c *checker) checkTargets(path string, v *value, noOutputs []string) (names []string) {
	if v.form == text {
		c.checkTarget(path, v, noOutputs)
		return nil
	}
	for i, item := range v.items {
		if item.form == text {
			c.checkTarget(path+"["+itoa(i)+"]", item, noOutputs)
			names = append(names, item.scalar)
		}
	}
	return names
}

// checkTarget reports the name of an output in a unit test if the output does not exist, or if the name is in noOutputs.
func (c *checker) checkTarget(path string, v *value, noOutputs []string) {
	switch name := v.scalar; {
	case c.isDynamic(name):
	case slices.Contains(noOutputs, name):
		c.report(unknownInput, v.pos, path, "output %q is also in no_outputs_from", name, help("remove the name from one of the two lists"))
	case c.outputs[name] == nil && !c.hasUnknownOutputs(name):
		c.report(unknownInput, v.pos, path, "unknown source, transform or output %q", name, didYouMean(c.nearestOutput(nil, name)))
	}
}
