package io.github.iree4j.monitor;

import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.Topology;

/**
 * The workers of a runtime, shared by devices and by asynchronous calls.
 *
 * @param executor the workers; borrowed, closed with the runtime after the last call
 * @param topology the places of the workers: as given to the runtime's builder, or else the places of this machine
 * @param affinity whether each worker stays on the processors of its group of the topology
 */
public record Workers(ProcessExecutor executor, Topology topology, boolean affinity) {}
