package io.github.iree4j.spring.test;

/**
 * A call of a scripted function, as it went.
 *
 * @param function the program's name, a dot, the function's name
 * @param start when it was made, nanoseconds of the virtual clock
 * @param end when its work was done; -1 while it is not
 */
public record FakeCall(String function, long start, long end) {}
