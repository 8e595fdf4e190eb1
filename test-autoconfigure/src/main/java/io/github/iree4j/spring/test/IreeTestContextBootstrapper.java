package io.github.iree4j.spring.test;

import org.springframework.boot.test.autoconfigure.TestSliceTestContextBootstrapper;

/** Bootstrapper of {@link IreeTest}. */
final class IreeTestContextBootstrapper extends TestSliceTestContextBootstrapper<IreeTest> {
    /** For Spring. */
    IreeTestContextBootstrapper() {}
}
