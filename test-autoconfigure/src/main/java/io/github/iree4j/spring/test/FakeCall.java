package io.github.iree4j.spring.test;

/**
 * A recorded call of a scripted function.
 *
 * @param function the program's name, a dot, the function's name
 * @param start the start of the call, in nanoseconds of the virtual clock
 * @param end the end of the call's work; -1 until then
 */
public record FakeCall(String function, long start, long end) {}
