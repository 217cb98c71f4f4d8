package config

import "strings"

// rabbitMQKeys are keys of RabbitMQ's that have no effect here. A key that ends in a dot stands for all that start with it.
var rabbitMQKeys = strings.Fields(`
	amqp1_0. auth_cache. auth_http. auth_ldap. auth_oauth2. aws.
	background_gc_enabled background_gc_target_interval backing_queue_module
	channel_operation_timeout channel_tick_interval classic_queue. cluster_formation. cluster_keepalive_interval
	cluster_name cluster_partition_handling cluster_partition_handling. cluster_tags. collect_statistics
	collect_statistics_interval consumer_disconnected_timeout
	credentials_obfuscation_fallback_secret
	default_consumer_prefetch default_policies. default_limits. default_users.
	definitions. deprecated_features. disk_free_limit. disk_monitor_failure_retries disk_monitor_failure_retry_interval distribution.
	erlang. exchange_types. federation. fhc_read_buffering fhc_write_buffering file_handles_high_watermark
	handshake_timeout_. hipe_compile initial_frame_max internal_user_default. kernel. lager. lazy_queue_explicit_gc_run_operation_threshold
	limits. log. management. management_agent. max_message_size_. memory_monitor_interval message_interceptors.
	message_store_shutdown_timeout metadata_store. mirroring_flow_control mirroring_sync_batch_size mirroring_sync_max_throughput mnesia.
	mqtt. msg_store_credit_disc_bound. msg_store_file_size_limit msg_store_index_module msg_store_shutdown_timeout net_ticktime node_tags.
	num_acceptors. oauth2. password_hashing_module peer_discovery. persistent_queue. prevent_startup_if_node_was_reset
	prometheus. queue_explicit_gc_run_operation_threshold queue_index_embed_msgs_below queue_leader_locator
	queue_master_locator quorum_cluster_size quorum_commands_soft_limit quorum_membership_reconciliation_enabled quorum_queue.
	quorum_relaxed_checks_on_redeclaration quorum_tick_interval raft. reverse_dns_lookups runtime. secrets. session_max_per_connection
	link_max_per_session shovel. ssl_allow_poodle_attack
	ssl_options. stomp. stream. sysmon_handler. syslog. tcp_listen_options. topic_trie. total_memory_available_override_value
	tracing. trace_vhosts. vhost_restart_strategy vm_memory_calculation_strategy
	vm_memory_high_watermark_paging_ratio web_amqp. web_mqtt. web_stomp.
	listeners.quic. management_db_cache_multiplier
`)

// isRabbitMQKey reports whether RabbitMQ knows the key.
func isRabbitMQKey(key string) bool {
	for _, known := range rabbitMQKeys {
		if key == known || strings.HasSuffix(known, ".") && strings.HasPrefix(key, known) {
			return true
		}
	}
	return false
}

// nearest returns the known key that takes the fewest changes to get to.
func nearest(key string) string {
	best, distance := "", len(key)+64
	consider := func(known string) {
		if d := edits(key, known); d < distance {
			best, distance = known, d
		}
	}
	for _, s := range settings {
		if s.family() {
			_, member, _ := cutLast(key, ".")
			consider(s.key + member)
		} else {
			consider(s.key)
		}
	}
	for _, known := range rabbitMQKeys {
		if !strings.HasSuffix(known, ".") {
			consider(known)
		}
	}
	return best
}

// edits is the Levenshtein distance: how many bytes must be put in, taken out or replaced to get from a to b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
