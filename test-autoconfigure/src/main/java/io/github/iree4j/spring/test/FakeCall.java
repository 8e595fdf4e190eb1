package io.github.iree4j.spring.test;

/**
 * A recorded call of a scripted function.
 *
 * @param function the program's name, a dot, the function's name
 * @param start when it was made, in nanoseconds of the virtual clock
 * @param end when its work was done; -1 while it is not
 */
public record FakeCall(String function, long start, long end) {}
