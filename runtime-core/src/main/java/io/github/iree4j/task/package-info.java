/**
 * Cooperative processes and the workers that drain them.
 *
 * <p>Start at {@link io.github.iree4j.task.TaskProcess}, a unit of cooperative work, and {@link io.github.iree4j.task.ProcessExecutor},
 * which has the workers. There are no task types and no coordinator: the thread that makes a process runnable puts it where workers look
 * and wakes them. {@link io.github.iree4j.task.Topology} describes the processors that workers run on. Everything is safe from any thread
 * unless it says otherwise.
 */
@NullMarked
package io.github.iree4j.task;

import org.jspecify.annotations.NullMarked;
