// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// harmless are the names of options, of any component, with texts that cannot be addresses. If the policy
// restricts hosts, all other texts must be allowed addresses. An option that is new in a release of Vector
// therefore counts as an address until this list contains the option.
var harmless = wordSet(`
	access_key access_key_id access_keys account_id account_name action alpn_protocols api_key app_name assume_role
	audience auto_offset_reset azure_client_id azure_client_secret azure_resource_id azure_tenant_id backend_type
	base base_dir billing_account_id blob_prefix blob_time_format body bucket ca_file ca_path cache_control
	certificate_password certificate_path channels charset client_assertion_client_id client_assertion_tenant_id
	client_id client_metadata_key client_secret codec command common_attributes compression condition
	condition_pattern connection_name consistency consumer consumer_name container_id container_image
	container_image_id container_name content_encoding content_type credentials_file credentials_path crt_file
	crt_path customer_id data_dir database dataset dbname dcr_immutable_id dead_letter_topic default_api_key
	default_app default_env default_namespace default_token delimiter desc_file device_event_class_id
	device_product device_vendor device_version doc_type endpoint_tag ends_when event_query event_type
	except_fields exchange exchange_key exclude exclude_containers exclude_databases exclude_fields
	exclude_paths_glob_patterns exclude_units excludes external_id extra_args extra_field_selector
	extra_label_selector extra_namespace_label_selector facility fallback_log_type field fields file_key
	filename_extension filename_time_format flush_when folder_id format forward_when framing grant_full_control
	grant_read grant_read_acp grant_write_acp group_by group_id group_name grpc_compression handler headers_field
	headers_key healthcheck_topic host_key host_tag id_key ignore include include_containers include_databases
	include_fields include_images include_labels include_paths_glob_patterns include_units includes index
	indexed_fields ingestion_timestamp_field init initial_message inputs instance_tag journal_directory
	journal_namespace journalctl_path key key_field key_file key_pass key_path key_prefix kms_key kube_config_file
	label_prefix labels_key license_key line_delimiter lines locale log_id log_type mac match measurement mechanism
	message message_deduplication_id message_group_id message_id message_id_path message_key
	message_start_indicator message_type metadata_key method mode msg_id multicast_groups multicast_interface name
	namespace namespace_labels nkey no_proxy node_labels offset_key only_fields org org_id organization_id
	partial_event_marker_field partition_key partition_key_field password path path_key pattern payload_prefix
	payload_suffix permit_origin pid_key ping_message pipeline pipeline_name pipeline_version pod_annotations
	pod_ip pod_ips pod_labels pod_name pod_namespace pod_node_name pod_owner pod_uid pong_message port_key prefix
	priority proc_id process producer_name profile project project_id properties_key push_api_key query_parameters
	queue rate_field ratio_field redis_key region replacement retention_policy_name root routing_key
	routing_key_field runtime sample_rate_key schema schema_file scope score search_dirs secret_access_key
	secret_id seed self_node_name sentinel_service server_name service session_name session_token severity
	severity_key shared_key shutdown socket_path source source_key source_type_key sourcetype ssekms_key_id
	start_pattern starts_when storage_account storage_class strategy stream stream_name subject subject_key_field
	subscription subscription_name supported_subprotocols table table_name tags target template_fallback_index
	tenant_id time_generated_key timestamp_field timestamp_format timestamp_key timestamp_nanos_key timezone token
	token_file_path token_scope topic topic_arn topic_key topics ttl_field type user user_agent
	user_assigned_managed_identity_id username valid_tokens value values version when_full working_directory`)

// harmlessOf are the options with texts that cannot be addresses only in the named components.
var harmlessOf = wordSet(`
	sinks.gcp_cloud_storage.metadata.* sinks.gcp_stackdriver_logs.resource.* sinks.gcp_stackdriver_metrics.resource.* sinks.mezmo.hostname sinks.mezmo.ip
	sources.http_server.headers sources.opentelemetry.http.headers transforms.lua.hooks.process global.api.address
	enrichment_tables.*.schema.*`)

// harmlessBelow are the names of maps with free keys, and of lists, with texts that cannot be addresses.
var harmlessBelow = wordSet(`
	tags labels extensions headers fields mappings route routes structured_metadata query graph
	include_matches exclude_matches extra_headers extra_params`)

// isLocal are the types of components that do not connect to other hosts: they make no connections, or connect
// only to the node.
var isLocal = wordSet(`
	sinks.blackhole sinks.console sinks.file sinks.prometheus_exporter sinks.websocket_server
	sources.demo_logs sources.docker_logs sources.dnstap sources.exec sources.file sources.file_descriptor
	sources.host_metrics sources.internal_logs sources.internal_metrics sources.journald sources.kubernetes_logs
	sources.stdin sources.static_metrics sources.windows_event_log`)

// wordSet returns the set of the words in a text.
func wordSet(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		words[word] = true
	}
	return words
}

// mayBeAddress reports whether the text of an option may be an address to which Vector connects.
func (w *permittedChecker) mayBeAddress(loc optionLocation) bool {
	name := loc.steps[len(loc.steps)-1]
	if strings.EqualFold(name, "host") {
		return true // In the headers of a request, it names the host behind a proxy.
	}
	if harmless[name] || slices.ContainsFunc(loc.steps[:len(loc.steps)-1], func(step string) bool { return harmlessBelow[step] }) {
		return false
	}
	path := strings.Join(loc.steps, ".")
	if loc.section == "global" {
		return !harmlessOf["global."+path]
	}
	current := loc.names[len(loc.names)-1]
	parent := strings.Join(append(slices.Clone(loc.steps[:len(loc.steps)-1]), "*"), ".")
	for _, name := range []string{current, "*"} {
		if harmlessOf[loc.section+"."+name+"."+path] || harmlessOf[loc.section+"."+name+"."+parent] {
			return false
		}
	}
	return !w.isListening(loc.section, current, path)
}

// isListening reports whether an option of a component's type is an address on which Vector listens.
func (w *permittedChecker) isListening(section, name, option string) bool {
	profile := w.checker.tables.profiles[kind(strings.TrimSuffix(section, "s"))][name]
	return profile != nil && slices.ContainsFunc(profile.listens, func(l listening) bool { return l.option == option })
}

// callers are the VRL functions that connect to an address in the program.
var callers = []string{"http_request", "dns_lookup"}

// checkHost reports addresses in a text to which the policy does not allow connections.
func (w *permittedChecker) checkHost(loc optionLocation, v *value) {
	if w.permitted.Hosts.isEmpty() {
		return
	}
	for _, function := range callers {
		if strings.Contains(v.scalar, function) {
			w.reportForbidden(hostForbidden, v.pos, loc.path, "the VRL program calls %s, which connects to a host that the policy cannot check", function)
		}
	}
	if loc.section == "transforms" && (loc.steps[0] == "file" || loc.steps[0] == "files") {
		w.reportForbidden(notVisible, v.pos, loc.path, "the VRL program in the file may connect to a host that the policy cannot check: write it as source")
		return
	}
	if v.form == number || !w.mayBeAddress(loc) || w.isChoice(loc, v) {
		return
	}
	if w.checker.isOpenText(v.scalar) || w.checker.isReplaced(v.pos) {
		w.reportForbidden(notLiteral, v.pos, loc.path, "hosts are restricted, and the value is not literal")
		return
	}
	if reason := w.patterns.textRejectionReason(v.scalar); reason != "" {
		w.reportForbidden(hostForbidden, v.pos, loc.path, "%s", reason)
	}
}

// isChoice reports whether a text is one of the predefined values of its option. A predefined value is never an
// address.
func (w *permittedChecker) isChoice(loc optionLocation, v *value) bool {
	object := vectoroptions.Globals()
	if loc.section != "global" {
		object = w.componentOptions(loc.section, loc.names[0])
	}
	for i, step := range loc.steps {
		if object == nil {
			return false
		}
		option := object.Option(step)
		if option == nil {
			return false
		}
		object = nil
		for _, form := range option.Forms {
			if i == len(loc.steps)-1 && form.Kind == "string" && len(form.Values()) > 0 && form.Allows(v.scalar) {
				return true
			}
			if nested := form.Object(); nested != nil {
				object = nested
			}
		}
	}
	return false
}

// componentOptions returns the options of a component's type, or nil if the options are unknown.
func (w *permittedChecker) componentOptions(section, name string) *vectoroptions.Object {
	comp := &component{kind: kind(strings.TrimSuffix(section, "s")), typeName: name}
	if comp.profile = w.checker.tables.profiles[comp.kind][name]; comp.profile == nil {
		return nil
	}
	return w.checker.findObject(comp, w.checker.version.minor)
}

// requireNamedHost reports a component that does not set an address if hosts are restricted. Such a component
// connects to the default address of its service.
func (w *permittedChecker) requireNamedHost(section, name string, e *entry) {
	if w.permitted.Hosts.isEmpty() || !slices.Contains([]string{"sources", "sinks"}, section) && name != "aws_ec2_metadata" || isLocal[section+"."+name] {
		return
	}
	if profile := w.checker.tables.profiles[kind(strings.TrimSuffix(section, "s"))][name]; profile != nil && len(profile.listens) > 0 && section == "sources" {
		return
	}
	if mode := e.value.get("mode").scalar; mode == "unix" || strings.HasPrefix(mode, "unix_") {
		return
	}
	for _, option := range e.value.entries {
		if w.isAddressOption(section, name, nil, option) {
			return
		}
	}
	w.reportForbidden(hostForbidden, e.pos, joinPath(section, e.key), "the component connects to the default address of the service, which the policy cannot check: name the host, or use another type")
}

// isAddressOption reports whether an option, or an option inside its value, may set the address to which a component
// connects. The parents are the keys above the option.
func (w *permittedChecker) isAddressOption(section, name string, parents []string, e entry) bool {
	steps := append(slices.Clone(parents), e.key)
	if e.key == "proxy" || e.key == "healthcheck" || e.key == "auth" || e.key == "tls" || e.key == "request" || e.key == "encoding" {
		return false // It configures the connection, not its address.
	}
	switch e.value.form {
	case table:
		return slices.ContainsFunc(e.value.entries, func(nested entry) bool { return w.isAddressOption(section, name, steps, nested) })
	case list:
		return len(e.value.items) > 0 && w.mayBeAddress(optionLocation{section: section, names: []string{name}, steps: steps})
	case text:
		return w.mayBeAddress(optionLocation{section: section, names: []string{name}, steps: steps})
	}
	return false
}

// IsAnyHost reports whether the policy allows connections to every host.
func IsAnyHost(permitted *Policy) bool { return permitted.Hosts.isEmpty() }

// RefusesHost returns the reason why the policy forbids connections to the addresses in a text, or "" if it
// allows them.
func RefusesHost(permitted *Policy, text string) string {
	return newHostRules(permitted.Hosts).textRejectionReason(text)
}
