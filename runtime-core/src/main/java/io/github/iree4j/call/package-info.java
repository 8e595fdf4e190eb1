/**
 * Calls of a program: their arguments, place in line, steps, results, and their end when the program is closed.
 *
 * <p>Start at {@link io.github.iree4j.call.ProgramCalls}, of which each program has one, and {@link io.github.iree4j.call.FunctionCalls}, of
 * which each of its functions has one.
 */
@NullMarked
package io.github.iree4j.call;

import org.jspecify.annotations.NullMarked;
