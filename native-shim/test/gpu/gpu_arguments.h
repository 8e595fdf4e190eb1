// What a function passes on that stands in front of an entry point of
// gpu_symbols.inc or collective_symbols.inc: the names of its arguments. Generated functions call
// table.NAME ARGUMENTS_NAME, so one that is missing here does not compile.
#ifndef IREE4J_GPU_ARGUMENTS_H_
#define IREE4J_GPU_ARGUMENTS_H_

#define ARGUMENTS_init (flags)
#define ARGUMENTS_driver_version (out_version)
#define ARGUMENTS_device_count (out_count)
#define ARGUMENTS_device_get (out_device, index)
#define ARGUMENTS_device_name (out_name, capacity, device)
#define ARGUMENTS_device_uuid (out_uuid, device)
#define ARGUMENTS_device_attribute (out_value, attribute, device)
#define ARGUMENTS_device_memory (out_bytes, device)
#define ARGUMENTS_context_retain (out_context, device)
#define ARGUMENTS_context_release (device)
#define ARGUMENTS_context_push (context)
#define ARGUMENTS_context_pop (out_context)
#define ARGUMENTS_stream_create (out_stream, flags)
#define ARGUMENTS_stream_destroy (stream)
#define ARGUMENTS_stream_wait_event (stream, event, flags)
#define ARGUMENTS_stream_begin_capture (stream, mode)
#define ARGUMENTS_stream_end_capture (stream, out_graph)
#define ARGUMENTS_event_create (out_event, flags)
#define ARGUMENTS_event_destroy (event)
#define ARGUMENTS_event_record (event, stream)
#define ARGUMENTS_event_query (event)
#define ARGUMENTS_event_synchronize (event)
#define ARGUMENTS_memory_allocate (out_address, size)
#define ARGUMENTS_memory_free (address)
#define ARGUMENTS_host_allocate (out_address, size, flags)
#define ARGUMENTS_host_free (address)
#define ARGUMENTS_host_register (address, size, flags)
#define ARGUMENTS_host_unregister (address)
#define ARGUMENTS_host_address (out_address, host, flags)
#define ARGUMENTS_fill_8 (address, value, count, stream)
#define ARGUMENTS_fill_16 (address, value, count, stream)
#define ARGUMENTS_fill_32 (address, value, count, stream)
#define ARGUMENTS_copy_cuda (target, source, size, stream)
#define ARGUMENTS_copy_hip (target, source, size, kind, stream)
#define ARGUMENTS_module_load \
  (out_module, image, option_count, options, option_values)
#define ARGUMENTS_module_unload (module)
#define ARGUMENTS_module_function (out_function, module, name)
#define ARGUMENTS_function_attribute (out_value, attribute, function)
#define ARGUMENTS_function_set_attribute (function, attribute, value)
#define ARGUMENTS_launch                                                   \
  (function, grid_x, grid_y, grid_z, block_x, block_y, block_z,            \
   shared_bytes, stream, params, extra)
#define ARGUMENTS_graph_instantiate (out_exec, graph, flags)
#define ARGUMENTS_graph_update (exec, graph, out_node, out_result)
#define ARGUMENTS_graph_launch (exec, stream)
#define ARGUMENTS_graph_destroy (graph)
#define ARGUMENTS_graph_exec_destroy (exec)

#define ARGUMENTS_comm_version (out_version)
#define ARGUMENTS_comm_unique_id (out_id)
#define ARGUMENTS_comm_join (out_comm, count, id, rank, config)
#define ARGUMENTS_comm_error (comm, out_code)
#define ARGUMENTS_comm_finalize (comm)
#define ARGUMENTS_comm_destroy (comm)
#define ARGUMENTS_comm_abort (comm)
#define ARGUMENTS_group_start ()
#define ARGUMENTS_group_end ()
#define ARGUMENTS_all_gather (source, target, count, type, comm, stream)
#define ARGUMENTS_all_reduce \
  (source, target, count, type, reduction, comm, stream)
#define ARGUMENTS_reduce_scatter \
  (source, target, count, type, reduction, comm, stream)
#define ARGUMENTS_broadcast (source, target, count, type, root, comm, stream)
#define ARGUMENTS_reduce \
  (source, target, count, type, reduction, root, comm, stream)
#define ARGUMENTS_send (source, count, type, peer, comm, stream)
#define ARGUMENTS_receive (target, count, type, peer, comm, stream)

#endif  // IREE4J_GPU_ARGUMENTS_H_
