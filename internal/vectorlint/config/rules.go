// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

// Rule is a rule of the checks, with its documentation.
type Rule struct {
	Code  Code
	Level Level
	// Title describes the fault. Help explains how to fix it.
	Title, Help string
}

// The first digit of a code is its group: 1 reading, 2 graph, 3 components, 4 versions and texts, 5 sidecars, 6
// the platform's policy, 7 Vector's own result. The code of a removed rule is not used again.
const (
	unreadable   Code = "VSC101"
	badExtension Code = "VSC102"
	repeatedKey  Code = "VSC103"
	definedTwice Code = "VSC104"
	tooLarge     Code = "VSC105"
	wrongForm    Code = "VSC106"

	unknownKey      Code = "VSC201"
	besideProvider  Code = "VSC202"
	dotInID         Code = "VSC203"
	noComponents    Code = "VSC204"
	idOfSeveral     Code = "VSC205"
	noInputs        Code = "VSC206"
	repeatedInput   Code = "VSC207"
	claimedTwice    Code = "VSC208"
	reservedOutput  Code = "VSC209"
	outOfRange      Code = "VSC210"
	unknownInput    Code = "VSC211"
	ambiguousInput  Code = "VSC212"
	eventsDoNotMeet Code = "VSC213"
	cycle           Code = "VSC214"
	notConsumed     Code = "VSC215"
	notAcknowledged Code = "VSC216"

	noType         Code = "VSC301"
	unknownType    Code = "VSC302"
	missingOption  Code = "VSC303"
	misplacedKey   Code = "VSC304"
	unknownCodec   Code = "VSC305"
	smallBuffer    Code = "VSC306"
	deprecatedType Code = "VSC307"
	unknownOption  Code = "VSC308"
	noSuchValue    Code = "VSC309"
	wrongProgram   Code = "VSC310"
	noSuchFunction Code = "VSC311"
	noSuchVariable Code = "VSC312"
	unhandledError Code = "VSC313"

	versionUnknown   Code = "VSC401"
	newerThanImage   Code = "VSC402"
	removedFromImage Code = "VSC403"
	otherVersion     Code = "VSC404"
	unconfined       Code = "VSC405"
	literalVariable  Code = "VSC406"
	unsetVariable    Code = "VSC407"
	unknownSecret    Code = "VSC408"
	badVariable      Code = "VSC409"
	unknownFlag      Code = "VSC410"
	badFlagValue     Code = "VSC411"
	absentFile       Code = "VSC412"

	nodeOnly          Code = "VSC501"
	outsideMounts     Code = "VSC502"
	dataNotWritable   Code = "VSC503"
	dataNotKept       Code = "VSC504"
	portInUse         Code = "VSC505"
	loopbackProbe     Code = "VSC506"
	unansweredProbe   Code = "VSC507"
	bufferAboveVolume Code = "VSC508"
	shutdownTooLong   Code = "VSC509"
	plainSecret       Code = "VSC510"
	openAPI           Code = "VSC511"
	bufferAboveMemory Code = "VSC512"
	otherFamilyProbe  Code = "VSC513"

	typeForbidden   Code = "VSC601"
	optionForbidden Code = "VSC602"
	hostForbidden   Code = "VSC603"
	notLiteral      Code = "VSC604"
	notVisible      Code = "VSC605"

	vectorRefuses Code = "VSC701"
	testFails     Code = "VSC702"
)

var rules = []Rule{
	{unreadable, Error, "The file is not YAML, TOML or JSON", "fix the syntax at this place"},
	{badExtension, Error, "The extension does not name a format", "name the file .yaml, .yml, .json or .toml"},
	{repeatedKey, Error, "A duplicate key", "remove one of the two"},
	{definedTwice, Error, "Two files define the same thing", "define it in one of the files"},
	{tooLarge, Error, "The file, or the effort to check it, is too large", "split it, nest it less, and use fewer aliases and patterns"},
	{wrongForm, Error, "A value of the wrong form", "see the component's page at vector.dev/docs/reference/configuration"},

	{unknownKey, Error, "A top-level key that Vector does not know", "remove the key; options of a component go below its id"},
	{besideProvider, Error, "Components in addition to a provider", "remove sources, transforms and sinks, or the provider"},
	{dotInID, Error, "The id of a component contains a dot", "use a dash or an underscore, because a dot separates the id from the name of an output"},
	{noComponents, Error, "No source or no sink", "Vector starts with at least one source and one sink"},
	{idOfSeveral, Error, "One id for components of several kinds", "give each component a unique id"},
	{noInputs, Error, "A transform or sink without a list of inputs", "write inputs: [ID] with at least one source or transform"},
	{repeatedInput, Error, "An input is repeated after patterns are expanded", "remove one, or make the pattern narrower"},
	{claimedTwice, Error, "Two components use one address, file descriptor or disk buffer", "set another one for one of the components"},
	{reservedOutput, Error, "The name of an output is reserved or already used", "choose another name for the route"},
	{outOfRange, Error, "A global option is out of range", "choose a value within the range, or leave the option out"},
	{unknownInput, Error, "An input, of a component or a unit test, is not the name of a source, transform or output", "name the id of a source or transform, or ID.OUTPUT"},
	{ambiguousInput, Error, "Two outputs have the name that an input names", "rename one of the components"},
	{eventsDoNotMeet, Error, "An input sends no events that the component accepts", "put a transform between them, such as log_to_metric or metric_to_log, or choose another sink"},
	{cycle, Error, "Components form a cycle that reaches a sink", "remove one of the inputs"},
	{notConsumed, Warning, "The events of an output are not used", "add it to the inputs of a component, or remove it"},
	{notAcknowledged, Warning, "A sink requires acknowledgements of a source that does not support them", "expect losses from this source, or disable acknowledgements"},

	{noType, Error, "A component has no type", "add type: NAME"},
	{unknownType, Error, "Unknown type of component", "see vector.dev/components"},
	{missingOption, Error, "A required option is missing", "add the option"},
	{misplacedKey, Error, "An option that components of this kind do not have", "remove the option"},
	{unknownCodec, Error, "Unknown codec", "see the component's page at vector.dev/docs/reference/configuration"},
	{smallBuffer, Error, "A disk buffer is smaller than Vector allows", "set buffer.max_size to at least 268435488"},
	{deprecatedType, Warning, "The type is deprecated", "use the new name"},
	{unknownOption, Error, "An option that the component does not have", "remove the option, or see the component's page at vector.dev/docs/reference/configuration"},
	{noSuchValue, Error, "A value that the option cannot have", "write one of the values"},
	{wrongProgram, Error, "A VRL program with a syntax error", "see vector.dev/docs/reference/vrl/expressions"},
	{noSuchFunction, Error, "A function that VRL does not have, or not with these arguments", "see vector.dev/docs/reference/vrl/functions"},
	{noSuchVariable, Error, "A VRL variable that has no value", "assign a value to the variable first, in the same block or an enclosing one"},
	{unhandledError, Error, "A VRL error that is not handled, or a value of the wrong kind", "see vector.dev/docs/reference/vrl/errors"},

	{versionUnknown, Warning, "Vector's version is unknown", "use an image with a tag such as 0.57.0-distroless-static, before its digest too"},
	{newerThanImage, Error, "The component is newer than the image", "use a newer image of Vector"},
	{removedFromImage, Error, "The component was removed from Vector", "use its replacement"},
	{otherVersion, Error, "The option belongs to another version of Vector", "remove the option, or use another image"},
	{unconfined, Error, "A sink's template starts with a field", "put literal text before the first {{ }}, or set dangerously_allow_unconfined_template_resolution: true"},
	{literalVariable, Warning, "A variable is not replaced", "read it in VRL with get_env_var!, use a secret backend, or set VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION=true in sidecar.env"},
	{unsetVariable, Error, "A variable that the container does not have", "add it to sidecar.env, or give a default: ${NAME:-default}"},
	{unknownSecret, Error, "A secret of a backend that is not defined", "define the backend below the top-level key secret"},
	{badVariable, Error, "A variable with a value that Vector does not insert", "set a value without line breaks in sidecar.env, and one that is not empty where the configuration requires it"},
	{unknownFlag, Error, "A flag that Vector does not have", "remove it from sidecar.args, or use an image of a release that has it"},
	{badFlagValue, Error, "A flag or variable that prevents Vector from starting", "correct it in sidecar.args or sidecar.env"},
	{absentFile, Error, "A configuration file that does not exist", "mount the file, or name one that is mounted: sidecar.args, sidecar.volumeMounts"},

	{nodeOnly, Warning, "A source that reads the node", "collect this with an agent on each node, not in a sidecar"},
	{outsideMounts, Warning, "Files outside of every mount", "mount the volume that the application logs to, such as with sidecar.logs.path"},
	{dataNotWritable, Error, "Vector cannot write to data_dir", "use a directory on a writable volume, such as /var/lib/vector"},
	{dataNotKept, Warning, "data_dir is not on a volume", "use a directory on a volume, such as /var/lib/vector: data outside of volumes is lost when the container restarts"},
	{portInUse, Warning, "Another container of the pod uses the port", "listen on another port: containers of a pod share their addresses"},
	{loopbackProbe, Error, "A probe requests a port that listens on localhost only", "probe Vector's metrics instead, which every client may read (sidecar.health.probe: Metrics), or set it to Never; the API stays on localhost"},
	{unansweredProbe, Error, "Nothing answers the probe", "add a source internal_metrics and a sink prometheus_exporter on 0.0.0.0:9598, and set sidecar.health.probe: Metrics; or set it to Never"},
	{bufferAboveVolume, Warning, "Disk buffers are larger than their volume", "raise sidecar.data.sizeLimit, or lower buffer.max_size: a pod above the limit is evicted"},
	{shutdownTooLong, Warning, "Draining may take longer than the pod's grace period", "lower sidecar.shutdown, or raise the workload's terminationGracePeriodSeconds"},
	{plainSecret, Warning, "A credential in plain text", "use SECRET[backend.key] with a mounted Secret"},
	{openAPI, Warning, "Vector's API listens on more than localhost", "set api.address: 127.0.0.1:8686, where kubectl port-forward reaches it; for a liveness probe, set sidecar.health.probe: Metrics"},
	{bufferAboveMemory, Warning, "Memory buffers are larger than the container's memory", "raise sidecar.resources.limits.memory, lower buffer.max_size, or use a disk buffer: a container above the limit is killed, and the content of its buffers is lost"},
	{otherFamilyProbe, Warning, "A probe requests an address of an IP family without a listener", "listen on [::] and the port, which accepts both families, or set global.ipFamily to the family of the pods"},

	{typeForbidden, Error, "The platform's policy does not allow the type of a component", "use a type that the policy allows, or ask the platform team: policy.vector.types"},
	{optionForbidden, Error, "The platform's policy does not allow an option", "leave the option out, or ask the platform team: policy.vector.options"},
	{hostForbidden, Error, "The platform's policy does not allow a host that Vector would connect to", "name a host that the policy allows, or ask the platform team: policy.vector.hosts"},
	{notLiteral, Error, "The platform's policy restricts a value that is not literal", "write the value itself: no variable, no SECRET[…], no {{ }}"},
	{notVisible, Error, "The platform's policy cannot check a part that the operator does not read", "write the whole configuration where the operator reads it: docs/how-to/operate/policy.md lists the ways"},

	{vectorRefuses, Error, "Vector rejects the configuration", "fix the reported fault; Vector reports one kind of fault at a time"},
	{testFails, Error, "A unit test of the configuration fails in Vector", "fix the transforms or the test: vector.dev/docs/reference/configuration/unit-tests"},
}

// Rules returns all rules, in the order of their codes.
func Rules() []Rule { return append([]Rule(nil), rules...) }

// ruleFor returns the rule with a code. An unknown code is a rule of level Error without texts.
func ruleFor(code Code) Rule {
	for _, rule := range rules {
		if rule.Code == code {
			return rule
		}
	}
	return Rule{Code: code, Level: Error}
}
