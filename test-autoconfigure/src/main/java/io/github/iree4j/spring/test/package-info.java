/**
 * Tests of applications whose programs are scripted, on a device with a virtual clock: no native code, no GPU, the same order each time.
 *
 * <p>Start at {@link io.github.iree4j.spring.test.IreeTest}, which injects {@link io.github.iree4j.spring.test.FakePrograms}.
 */
@NullMarked
package io.github.iree4j.spring.test;

import org.jspecify.annotations.NullMarked;
