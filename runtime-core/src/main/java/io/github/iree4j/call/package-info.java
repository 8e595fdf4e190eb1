/**
 * Calls of a program: their arguments, place in line, steps, results, and their end when the program is closed.
 *
 * <p>Start at {@link io.github.iree4j.call.ProgramCalls}, created once for each program, and
 * {@link io.github.iree4j.call.FunctionCalls}, created once for each function of a program. The states of a call are in
 * {@code CallState}.
 */
@NullMarked
package io.github.iree4j.call;

import org.jspecify.annotations.NullMarked;
