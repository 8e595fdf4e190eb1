/**
 * Cooperative processes and their workers.
 *
 * <p>Start at {@link io.github.iree4j.task.TaskProcess}, a unit of cooperative work, and
 * {@link io.github.iree4j.task.ProcessExecutor}, the owner of the workers. There are no task types and no coordinator:
 * the thread that makes a process runnable puts the process where workers look, and wakes workers.
 * {@link io.github.iree4j.task.Topology} describes the processors for workers. All classes are safe from any thread
 * unless documented otherwise.
 */
@NullMarked
package io.github.iree4j.task;

import org.jspecify.annotations.NullMarked;
