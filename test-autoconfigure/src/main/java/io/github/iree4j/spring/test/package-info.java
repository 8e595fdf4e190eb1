/**
 * Tests of applications with scripted programs on a device with a virtual clock: no native code, no GPU, deterministic
 * order.
 *
 * <p>Start at {@link io.github.iree4j.spring.test.IreeTest}, which injects {@link
 * io.github.iree4j.spring.test.FakePrograms}.
 */
@NullMarked
package io.github.iree4j.spring.test;

import org.jspecify.annotations.NullMarked;
